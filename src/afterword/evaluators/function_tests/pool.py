"""`JudgePool`: judges and jails put together, for any number of callers at a time.

A judge or jail that dies is replaced and its verdict is reached again from the start; none is ever invented.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

import anyio

from afterword.core.protocols import Peer, Sandbox
from afterword.core.records import Feedback, Limits, RunResult
from afterword.errors import BadTests, InputError, SandboxFault
from afterword.evaluators.function_tests import judges
from afterword.evaluators.function_tests.judges import AttemptLost, Judge, Report
from afterword.evaluators.function_tests.suite import Suite
from afterword.evaluators.function_tests.verdict import all_passed, early, feedback_of, passed_feedback

_MOST_STRETCHED = 4.0
_TRIES = 3
_LAST_WORDS_S = 0.3


class JudgePool:
    """Judges programs by suites. An async context manager; the sandbox stays the caller's.

    `seed` is that of what is random in tests (`random`, the order of sets): the same program gets the same verdict.
    Another seed than usual shows checks that pass by luck. `companions` is another sandbox, for tests that a model
    wrote; with one sandbox for both, two verdicts could wait for each other's jails.
    """

    def __init__(self, sandbox: Sandbox, *, workers: int = 2, seed: int = 0, companions: Sandbox | None = None) -> None:
        self._sandbox = sandbox
        self._companions = companions
        self._seed = seed
        self._free = anyio.Semaphore(workers)
        self._idle: list[Judge] = []
        self._all: set[Judge] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for judge in self._all:
            judge.close()
        self._all.clear()
        self._idle.clear()

    @property
    def isolation(self) -> str:
        """The level of the jails."""
        return self._sandbox.isolation

    async def judge(self, source: str, suite: Suite, limits: Limits) -> Feedback:
        """The verdict of a suite on a program.

        Its reason is ok, failed, error, timeout, memory, tampered, output_limit, syntax, missing or bad_tests;
        the last one is the fault of the tests.

        Raises:
            SandboxFault: no verdict could be reached.
        """
        if (problem := _no_source(source)) is not None:
            return early(suite.check_ids, "syntax", problem, self.isolation)
        verdict = await self._reached(source, suite, limits)
        if verdict.reason == "timeout" and (load := overload()) > 1:
            # A machine with more work than cores makes a right program late; one that hangs is late again.
            verdict = await self._reached(source, suite, stretched(limits, load))
        return verdict

    async def _reached(self, source: str, suite: Suite, limits: Limits) -> Feedback:
        """One verdict, from the start as often as a judge or a jail is lost on the way."""
        losses: list[AttemptLost] = []
        while len(losses) < _TRIES:
            try:
                return await self._attempt(source, suite, limits)
            except AttemptLost as lost:
                losses.append(lost)
        raise judges.fault(losses)

    async def judge_text(self, source: str, tests: str, entry_point: str, limits: Limits) -> Feedback:
        """As `judge`, from the text of a test file; tests that cannot be used are `bad_tests` or `no_tests`."""
        try:
            suite = Suite.from_source(tests, entry_point=entry_point)
        except BadTests as error:
            return Feedback(False, 0.0, "isolated", error.reason, str(error), isolation=self.isolation)
        return await self.judge(source, suite, limits)

    async def _attempt(self, source: str, suite: Suite, limits: Limits) -> Feedback:
        async with self._free:
            judge = self._living() or self._start()
            whole = False
            try:
                verdict = await self._judged_by(judge, source, suite, limits)
                whole = True
            finally:
                if whole:
                    self._idle.append(judge)
                else:
                    self._all.discard(judge)
                    judge.close()
        return verdict

    def _living(self) -> Judge | None:
        """A judge that waits; those that died meanwhile, perhaps all at once, are no lost attempts."""
        while self._idle:
            judge = self._idle.pop()
            if judge.is_alive:
                return judge
            self._all.discard(judge)
            judge.close()
        return None

    def _start(self) -> Judge:
        judge = Judge(self._seed)
        self._all.add(judge)
        return judge

    async def _judged_by(self, judge: Judge, source: str, suite: Suite, limits: Limits) -> Feedback:
        peer = await self._sandbox.open(source, limits)
        try:
            started = anyio.current_time()
            report = await self._reported(judge, peer, source, suite, limits)
            if all_passed(suite.check_ids, report) and peer.let_go():  # its end is of no interest to this verdict
                return passed_feedback(suite.check_ids, peer.isolation, anyio.current_time() - started)
            if report.reason == "lost":
                with anyio.move_on_after(_LAST_WORDS_S):
                    await _ended(peer)  # the jail is ending by itself: let it say how
        except BaseException:
            peer.let_go()
            raise
        with anyio.CancelScope(shield=True):
            await peer.close()
        return feedback_of(suite.check_ids, report, await _ended(peer), limits)

    async def _reported(self, judge: Judge, peer: Peer, source: str, suite: Suite, limits: Limits) -> Report:
        head: dict[str, object] = {
            "check_ids": suite.check_ids,
            "wall_s": float(limits.wall_s),
            "memory_mb": judges.RUNNER_MEMORY_MB,
            "seed": self._seed,
            "preload": sorted({*suite.imports, *(["numpy"] if "numpy" in source else [])}),
        }
        async with self._companion(suite, limits) as companions:
            jails = [one.detach() for one in (peer, *companions)]
            try:
                return await judge.order(head, suite.program.dump(), jails)
            finally:
                for jail in jails:
                    os.close(jail)

    @asynccontextmanager
    async def _companion(self, suite: Suite, limits: Limits) -> AsyncIterator[tuple[Peer, ...]]:
        """The jail of tests that are not trusted, if the suite has such."""
        if not suite.companion:
            yield ()
            return
        if self._companions is None:
            raise InputError("this suite has tests that need a jail of their own; give the pool one (companions=…)")
        peer = await self._companions.open(suite.companion, limits)
        try:
            yield (peer,)
        finally:
            with anyio.CancelScope(shield=True):
                await peer.close()
        await _ended(peer)  # if this jail broke, what its tests said is no word on the program


async def _ended(peer: Peer) -> RunResult:
    """How a jail ended. One that broke is a lost attempt: that is none of the program's doing."""
    try:
        return await peer.wait()
    except SandboxFault as fault:
        raise AttemptLost(str(fault)) from fault


def overload() -> float:
    """How many times more than two processes want each core of this machine; above 1 it is overloaded."""
    return os.getloadavg()[0] / (2 * (os.cpu_count() or 1))


def stretched(limits: Limits, load: float) -> Limits:
    """More wall time, for waiting, and no more processor time than the wall time was meant for."""
    return replace(limits, wall_s=limits.wall_s * min(load, _MOST_STRETCHED), cpu_s=limits.cpu_s or limits.wall_s)


def _no_source(source: str) -> str | None:
    """Why a text cannot be the source of a program; it is not parsed here, since parsing can crash."""
    if "\0" in source:
        return "the program holds a NUL character"
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the program holds a character that is not text (position {error.start})"
    return None

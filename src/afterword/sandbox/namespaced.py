"""The `namespaces` level: a peer or a command in a cell of one of its zygotes, followed to its end.

Separate from `zygotes.py`, which knows one process, and from `zygote_pool.py`, which says who gets which of them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from afterword.core.records import Limits, RunResult
from afterword.errors import SandboxFault
from afterword.sandbox.cgroups import ControlGroups
from afterword.sandbox.environment import DEFAULT_HASH_SEED, environment
from afterword.sandbox.jail.program import COLLECT_BYTES, COMMAND, SUBMISSION, TRIAL
from afterword.sandbox.peers import JailedPeer
from afterword.sandbox.results import Cause, Ending, anonymous_file, pack_files, unpack_collected
from afterword.sandbox.streams import Allowance, Drain
from afterword.sandbox.zygote_pool import Pool, lease
from afterword.sandbox.zygotes import HOME, View, Zygote, ZygoteLost

LEVEL = "namespaces"
_TRIES = 3
PRELOADED = ("numpy",)
"""What is worth zygotes of their own where nothing else is asked for."""
_EXTRA_ZYGOTES = 1
_REPORT_GRACE_S = 10.0
_TRIAL_LIMITS = Limits(wall_s=30.0)
"""A busy machine is slow, and would be taken for one where this level does not work."""
_COLLECT_BYTES = 2 * COLLECT_BYTES
"""More than a cell hands out, names included."""


class Cell:
    """One job in a zygote, from the main process's side."""

    def __init__(
        self, pool: Pool, zygote: Zygote, job: int, limits: Limits, outputs: Sequence[int], collected: int | None
    ) -> None:
        self._pool = pool
        self._has_turn = True
        self._zygote = zygote
        self._job = job
        self._limits = limits
        self._cause: Cause | None = None
        allowance = Allowance(limits.output_bytes)
        self._outputs = [Drain(fd, allowance, self._overflow) for fd in outputs]
        self._collected = Drain(collected, Allowance(_COLLECT_BYTES), self._overflow) if collected is not None else None
        self._over = anyio.Event()
        self._outcome: RunResult | SandboxFault = SandboxFault("the sandbox was closed while the jail ran")
        self.lost = False
        """Its zygote went away: nothing is known of the program, which can be run again in another one."""

    @property
    def drains(self) -> tuple[Drain, ...]:
        return (*self._outputs, *([self._collected] if self._collected is not None else []))

    def _overflow(self) -> None:
        self._stop("output_limit")

    def _stop(self, cause: Cause) -> None:
        if self._cause is None and not self._over.is_set():
            self._cause = cause
            self._zygote.end(self._job)

    def let_go(self) -> bool:
        """Ends it, and lets the next program begin in another zygote before this one's end is known."""
        for drain in self.drains:
            drain.catch_up()
        self._stop("closed")
        self._end_turn()
        return self._cause != "output_limit"

    def _end_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._pool.end_turn()

    async def attend(self) -> None:
        """Follows the job to its end and gives the zygote back, or throws it away if it broke."""
        whole = False
        try:
            report = await self._zygote.ended(self._job, self._limits.wall_s + _REPORT_GRACE_S)
            whole = "broken" not in report
            for drain in self.drains:
                await drain.wait()
            self._outcome = self._conclude(report)
        except ZygoteLost as lost:
            self.lost = True
            self._outcome = SandboxFault(f"the jail's zygote was lost: {lost}")
        except SandboxFault as fault:
            self._outcome = fault
        finally:
            for drain in self.drains:
                drain.stop()
            self._over.set()
            self._end_turn()
            if whole:
                self._pool.give_back(self._zygote)
            else:
                await self._pool.discard(self._zygote)

    def abandon(self) -> None:
        """Lets go of what a job holds that was never followed; its zygote is the pool's."""
        for drain in self.drains:
            drain.close()
        self._over.set()

    def _conclude(self, report: Mapping[str, object]) -> RunResult:
        if "fault" in report:
            raise SandboxFault(f"the jail could not be set up: {report['fault']}")
        status = report.get("status")
        told: dict[str, Cause] = {"deadline": "deadline", "memory": "memory", "closed": "closed"}
        # What the zygote ended a jail for came first, also where the loss of its peer made somebody close it since.
        seen = told.get(str(report["cause"]))
        ending = Ending(
            status=int(str(status)) if status is not None else None,
            cause=seen if seen in ("deadline", "memory") else self._cause or seen,
            wall_s=float(str(report["wall_s"])),
            cpu_s=float(str(report.get("cpu_s", 0.0))),
            memory_kill=bool(report.get("memory_kill")),
            stdout=self._outputs[0].content,
            stderr=self._outputs[1].content if len(self._outputs) > 1 else b"",
            files=unpack_collected(self._collected.content) if self._collected is not None else {},
        )
        return ending.result(self._limits, LEVEL)

    async def wait(self) -> RunResult:
        await self._over.wait()
        if isinstance(self._outcome, SandboxFault):
            raise self._outcome
        return self._outcome

    async def close(self) -> None:
        self._stop("closed")
        await self._over.wait()


class NamespaceSandbox:
    """Runs each program in namespaces of its own; see `docs/sandbox.md` for what that promises."""

    def __init__(
        self,
        *,
        python: Path,
        workers: int,
        readable: Sequence[Path] = (),
        extra_environment: Mapping[str, str] | None = None,
        preload: Sequence[str] = PRELOADED,
    ) -> None:
        self._variables = environment(HOME, readable, extra_environment)
        groups = ControlGroups()
        hash_seed = self._variables.get("PYTHONHASHSEED", DEFAULT_HASH_SEED)
        submissions = View(python, toolchain=False, hash_seed=hash_seed)
        self._submissions = Pool(submissions, groups, workers, extra=_EXTRA_ZYGOTES)
        self._preload = tuple(preload)
        preloaded = replace(submissions, preload=self._preload)
        self._preloaded_submissions = Pool(preloaded, groups, workers, extra=_EXTRA_ZYGOTES)
        self._commands = Pool(View(python, toolchain=True, readable=tuple(readable)), groups, workers)
        self._tasks: TaskGroup | None = None
        self._live: set[Cell] = set()

    @property
    def isolation(self) -> str:
        return LEVEL

    async def open(self, source: str, limits: Limits) -> JailedPeer:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                payload = source.encode("utf-8", "surrogatepass")
                cell = await self._begin(SUBMISSION, payload, limits, peer=theirs.fileno(), streams=1)
                return JailedPeer(cell, ours, LEVEL)
        except BaseException:
            ours.close()
            raise

    async def run(
        self, argv: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, collect: Sequence[str] = ()
    ) -> RunResult:
        tries = 0
        while True:
            tries += 1
            ours, theirs = socket.socketpair()
            with ours, theirs:
                cell = await self._begin(
                    COMMAND,
                    pack_files(files),
                    limits,
                    peer=theirs.fileno(),
                    streams=2,
                    collected=ours.detach,
                    argv=argv,
                    collect=collect,
                )
            try:
                return await cell.wait()
            except SandboxFault:
                if not cell.lost or tries == _TRIES:
                    raise
            finally:
                with anyio.CancelScope(shield=True):
                    await cell.close()

    async def try_out(self) -> None:
        """Goes the whole way once, into a cell and out again. Raises SandboxFault with the reason where it fails."""
        cell = await self._begin(TRIAL, b"", _TRIAL_LIMITS, peer=None, streams=1)
        result = await cell.wait()
        if result.exit_code != 0:
            raise SandboxFault(f"a trial run in the jail ended with {result.reason}: {result.stdout}")

    async def _begin(
        self,
        kind: str,
        payload: bytes,
        limits: Limits,
        *,
        peer: int | None,
        streams: int,
        collected: Callable[[], int] | None = None,
        argv: Sequence[str] = (),
        collect: Sequence[str] = (),
    ) -> Cell:
        if self._tasks is None:
            raise SandboxFault("the sandbox is not open: use it in `async with`")
        pool = self._pool(kind, payload)
        last: ZygoteLost | None = None
        tries = _TRIES + pool.idle  # what waited may have died meanwhile, all at once
        for _ in range(tries):
            async with lease(pool) as leased:
                with _Descriptors(payload, streams) as fds:
                    peer_fd = fds.payload if peer is None else peer
                    sent = (fds.payload, fds.writers[0], fds.writers[-1], peer_fd)
                    try:
                        job = await leased.zygote.begin(
                            kind, limits, sent, argv=argv, collect=collect, variables=self._variables
                        )
                    except ZygoteLost as lost:
                        last = lost
                        continue
                    collected_fd = collected() if collected is not None else None
                    cell = Cell(pool, leased.keep(), job, limits, fds.keep_readers(), collected_fd)
                for drain in cell.drains:
                    self._tasks.start_soon(drain.run)
                self._live.add(cell)
                self._tasks.start_soon(self._attend, cell)
                if pool.may_grow:
                    self._tasks.start_soon(pool.grow)
                return cell
        raise SandboxFault(f"no zygote took the job in {tries} tries; the last one said: {last}")

    def _pool(self, kind: str, payload: bytes) -> Pool:
        """Importing numpy takes more than ten verdicts' time: who names such a module gets a zygote that holds it."""
        if kind == COMMAND:
            return self._commands
        named = any(name.encode() in payload for name in self._preload)
        return self._preloaded_submissions if named else self._submissions

    async def _attend(self, cell: Cell) -> None:
        try:
            await cell.attend()
        finally:
            self._live.discard(cell)

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tasks is None:
            return
        tasks, self._tasks = self._tasks, None
        tasks.cancel_scope.cancel()
        try:
            # Without the error of the body, which is not the group's and is to reach the caller as it is
            await tasks.__aexit__(None, None, None)
        finally:
            for cell in self._live:  # a task that is cancelled before its first step never runs its own `finally`
                cell.abandon()
            with anyio.CancelScope(shield=True):
                await self._submissions.close()
                await self._preloaded_submissions.close()
                await self._commands.close()


class _Descriptors:
    """The payload and the output pipes of one job; what is not kept is closed on leaving."""

    def __init__(self, payload: bytes, streams: int) -> None:
        self.payload = anonymous_file(payload)
        pipes = [os.pipe() for _ in range(streams)]
        self._readers = [reader for reader, _ in pipes]
        self.writers = [writer for _, writer in pipes]

    def keep_readers(self) -> list[int]:
        kept, self._readers = self._readers, []
        return kept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self.payload, *self.writers, *self._readers):
            os.close(fd)

"""A record for the jobs of a session: what arms ask alike is asked once, and who is answered without asking is told.

Apart from `sharing`, which knows one recorder and no jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import TypeVar

from afterword.core.effects import Metered
from afterword.core.messages import Reply
from afterword.core.protocols import EffectKey, EventSink, Recorder
from afterword.core.records import FaultRecord, Outcome, StopReason
from afterword.experiments.scheduler import Job, Listener, RunRecord
from afterword.experiments.sharing import SharedCalls

T = TypeVar("T")


class PairedRecord:
    """The record of a session, with one recorder for all of its arms.

    Args:
        record: where all is kept.
        shares: whether arms are compared, so that they share what they ask alike.
        untold: the names of the arms that tell their actors nothing of earlier trials.
        answered: told where a reply came from the record or from another arm: the job's own model was not asked.
    """

    def __init__(
        self, record: RunRecord, *, shares: bool, untold: Collection[str], answered: Callable[[EffectKey], None]
    ) -> None:
        self._record = record
        self._shares = shares
        self._untold = untold
        self._answered = answered
        self._recorder: Recorder | None = None
        self._sharing: SharedCalls | None = None

    @property
    def recorder(self) -> Recorder:
        """Made when it is first asked for: then the run has begun."""
        if self._recorder is None:
            inner = self._record.recorder
            if self._shares:
                inner = self._sharing = SharedCalls(inner, self._untold)
            self._recorder = _Telling(inner, self._answered)
        return self._recorder

    def done(self, task: str, seed: int) -> None:
        """Drops what the arms shared of a task once all of them are over."""
        if self._sharing is not None:
            self._sharing.done(task, seed)

    def events(self, sink: EventSink | None = None, *, arm: str, seed: int = 0) -> EventSink:
        """A sink that keeps what is told."""
        return self._record.events(sink, arm=arm, seed=seed)

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None:
        """What a job came to in an earlier session."""
        return await self._record.outcome(task, arm=arm, seed=seed)

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        """Keeps what a job came to."""
        await self._record.finish(outcome, arm=arm, seed=seed)

    async def forget(self, task: str, *, arm: str, seed: int = 0, trial: int, why: str) -> None:
        """Sets aside what was recorded of a job from a trial on; what it shared with others stays."""
        await self._record.forget(task, arm=arm, seed=seed, trial=trial, why=why)


class _Telling:
    """A recorder that says which replies were not asked for now."""

    def __init__(self, recorder: Recorder, answered: Callable[[EffectKey], None]) -> None:
        self._recorder = recorder
        self._answered = answered

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Passes an effect on."""
        asked = False

        async def asking() -> T:
            nonlocal asked
            asked = True
            return await call()

        result = await self._recorder.effect(key, request, asking, kind)
        if not asked and isinstance(result, Reply):
            self._answered(key)
        if not asked and isinstance(result, Metered):  # what it asked within stands in its usage only
            for role, usage in result.usage.items():
                for _ in range(usage.calls):
                    self._answered(replace(key, role=f"{key.role}/{role}"))
        return result


class PairListener:
    """Hands on what happens to jobs, and says when all arms of a task and seed are over."""

    def __init__(self, listener: Listener, arms: int, over: Callable[[str, int], None]) -> None:
        self._listener = listener
        self._arms = arms
        self._over = over
        self._ended: Counter[tuple[str, int]] = Counter()

    def begun(self, job: Job) -> EventSink:
        """A job is worked on."""
        return self._listener.begun(job)

    def begun_again(self, job: Job, fault: FaultRecord) -> None:
        """A trial is taken anew."""
        self._listener.begun_again(job, fault)

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:
        """A job is over."""
        self._listener.ended(job, outcome, earlier=earlier)
        self._count(job)

    def left(self, job: Job, reason: StopReason) -> None:
        """A job is not begun any more."""
        self._listener.left(job, reason)
        self._count(job)

    def _count(self, job: Job) -> None:
        pair = (job.task.id, job.seed)
        self._ended[pair] += 1
        if self._ended[pair] == self._arms:
            del self._ended[pair]
            self._over(*pair)

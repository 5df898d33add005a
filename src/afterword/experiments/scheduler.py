"""Many tasks at once: so many at a time, in the order of their source, each with an outcome of its own.

It knows neither models nor judges: what a task needs is opened by its job, what all may do together is limited where
they do it (`limits`), and what happened is kept by a record, a journal's run as a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import anyio

from afterword.core.effects import PassThrough
from afterword.core.events import NoEvents
from afterword.core.faults import first_of_group, record_of
from afterword.core.protocols import EventSink, Recorder
from afterword.core.records import FaultRecord, Outcome, StopReason, Task
from afterword.core.reflexion import Reflexion
from afterword.errors import (
    AfterwordError,
    ComponentFault,
    Fault,
    InputError,
    JournalFault,
    RecordingMismatch,
    ReplayDiverged,
)

_MOST_STARTS = 3
"""A world that answers otherwise each time it is taken through the recorded steps will not stop doing so."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task to be worked on, in one arm and with one seed."""

    task: Task
    loop: Callable[[], AbstractAsyncContextManager[Reflexion]]
    """Opens what only this job uses and yields its loop."""
    arm: str
    seed: int = 0


class RunRecord(Protocol):
    """Where a run is kept: a journal's run, or nowhere (`Unrecorded`).

    `outcome` is asked before a job starts: what came to an outcome before is not worked on again.
    `finish` returns once the outcome is kept.
    `forget` sets aside what was recorded from a trial on, so that it is taken anew.
    They raise `JournalFault` when what happens can no longer be kept.
    """

    @property
    def recorder(self) -> Recorder: ...

    def events(self, sink: EventSink | None = None, *, arm: str, seed: int = 0) -> EventSink: ...

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None: ...

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None: ...

    async def forget(self, task: str, *, arm: str, seed: int = 0, trial: int, why: str) -> None: ...


class Unrecorded:
    """A run that is kept nowhere."""

    def __init__(self) -> None:
        self.recorder: Recorder = PassThrough()

    def events(self, sink: EventSink | None = None, *, arm: str, seed: int = 0) -> EventSink:  # noqa: ARG002
        """The sink itself."""
        return NoEvents() if sink is None else sink

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None:  # noqa: ARG002
        """Nothing was before."""
        return None

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        """Keeps nothing."""

    async def forget(self, task: str, *, arm: str, seed: int = 0, trial: int, why: str) -> None:
        """There is nothing to forget."""


class Listener(Protocol):
    """Told what happens to jobs, for display. It must be quick and must not raise."""

    def begun(self, job: Job) -> EventSink:
        """A job is worked on; what happens in it goes to the sink."""
        ...

    def begun_again(self, job: Job, fault: FaultRecord) -> None:
        """A world answered otherwise than it was recorded: the trial is taken anew."""
        ...

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:
        """A job has come to its outcome, or had come to it in an earlier session."""
        ...

    def left(self, job: Job, reason: StopReason) -> None:
        """A job is not begun any more, and why."""
        ...


async def run_jobs(
    jobs: Iterable[Job],
    *,
    at_once: int,
    record: RunRecord,
    listener: Listener,
    stopped: Callable[[], StopReason | None] = lambda: None,
    is_final: Callable[[Job, Outcome], bool] = lambda _job, _outcome: True,
    failed: Callable[[Job, Exception], Outcome] | None = None,
) -> None:
    """Works on jobs, `at_once` at a time, begun in their order; a job is made when there is room for it.

    What goes wrong with one job is its outcome (`faulted`) and stops no other. An outcome that is not final is told
    and not kept: a resumed run works on that job again.

    Args:
        jobs: taken one by one.
        at_once: how many are worked on at a time.
        record: where outcomes and effects are kept.
        listener: told what happens.
        stopped: asked before each job; once it gives a reason, the rest is left.
        is_final: says of an outcome whether it is kept.
        failed: what is told of a job that raised instead of coming to an outcome, `without_outcome` as a rule; it may
            raise, which ends the others.

    Raises:
        JournalFault: what happens can no longer be kept; all jobs are cancelled.
    """
    if at_once < 1:
        raise InputError(f"expected at least 1 job at a time, found {at_once}")
    source = iter(jobs)
    work = _Work(record, listener, is_final, failed or without_outcome)

    async def worker() -> None:
        for job in source:
            if (reason := stopped()) is None:
                await work.on(job)
            else:
                listener.left(job, reason)

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(worker)


class _Work:
    """What is done with one job."""

    def __init__(
        self,
        record: RunRecord,
        listener: Listener,
        is_final: Callable[[Job, Outcome], bool],
        failed: Callable[[Job, Exception], Outcome],
    ) -> None:
        self._record = record
        self._listener = listener
        self._is_final = is_final
        self._failed = failed

    async def on(self, job: Job) -> None:
        earlier = await self._record.outcome(job.task.id, arm=job.arm, seed=job.seed)
        if earlier is not None and earlier.status != "faulted":  # nothing was concluded about those: try again
            self._listener.ended(job, earlier, earlier=True)
            return
        outcome, kept = await self._outcome(job, self._listener.begun(job))
        if kept and self._is_final(job, outcome):
            await self._record.finish(outcome, arm=job.arm, seed=job.seed)
        self._listener.ended(job, outcome, earlier=False)

    async def _outcome(self, job: Job, sink: EventSink) -> tuple[Outcome, bool]:
        """The outcome, and whether the loop has reached it."""
        starts = 1
        while True:
            try:
                outcome = await self._run(job, sink)
            except JournalFault:
                raise
            except Exception as error:  # noqa: BLE001 - kept as this job's outcome; the others go on
                failed = self._failed(job, error)
                if not isinstance(error, RecordingMismatch):  # which is about the record, and not about the task
                    await self._record.finish(failed, arm=job.arm, seed=job.seed)
                return failed, False
            fault = outcome.fault
            if fault is None or fault.kind != ReplayDiverged.__name__ or starts == _MOST_STARTS:
                return outcome, True
            starts += 1
            self._listener.begun_again(job, fault)
            await self._record.forget(
                job.task.id, arm=job.arm, seed=job.seed, trial=fault.trial, why="its world answered otherwise"
            )

    async def _run(self, job: Job, sink: EventSink) -> Outcome:
        try:
            async with job.loop() as loop:
                events = self._record.events(sink, arm=job.arm, seed=job.seed)
                return await loop.run(
                    job.task, arm=job.arm, seed=job.seed, recorder=self._record.recorder, events=events
                )
        except BaseExceptionGroup as group:
            raise first_of_group(group) from group


def without_outcome(job: Job, error: Exception) -> Outcome:
    """What is told of a job that could not be put together, or whose input showed to be wrong on the way."""
    fault = record_of(error if isinstance(error, Fault) else ComponentFault("task", error), 0)
    if isinstance(error, AfterwordError):
        fault = FaultRecord(type(error).__name__, str(error), 0)
    return Outcome(job.task.id, "faulted", None, None, (), None, {}, fault)

"""`Kept`: the run of a journal that a session is kept in, or none.

Apart from the session, which need not know whether a run is new, taken up again or kept nowhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import anyio

from afterword.core.protocols import EventSink, Recorder
from afterword.core.records import Outcome
from afterword.experiments.scheduler import RunRecord, Unrecorded

if TYPE_CHECKING:
    from afterword.journal import Run


class Kept:
    """The run that a session is kept in; a new one is begun with its first task, so that a refusal leaves none."""

    def __init__(
        self,
        run: Run | None,
        start: Callable[[], Awaitable[Run]] | None = None,
        reopened: Mapping[str, Callable[[], Awaitable[None]]] | None = None,
    ) -> None:
        self.run = run
        self._start = start
        self._begun = False
        self._reopened = dict(reopened or {})
        """Tasks whose outcome no longer holds, and what is written down about that once their loop has opened."""
        self._turn = anyio.Lock()
        self._none = Unrecorded()

    async def begin(self, task: str) -> None:
        """Begins a task, and the run with it if it is to be kept and has not begun."""
        async with self._turn:
            if self.run is None and self._start is not None:
                self.run = await self._start()
            elif self.run is not None and not self._begun:
                await self.run.reopen()
            self._begun = True
            if (reopen := self._reopened.pop(task, None)) is not None:
                await reopen()

    @property
    def _record(self) -> RunRecord:
        return self._none if self.run is None else self.run

    @property
    def recorder(self) -> Recorder:
        return self._record.recorder

    def events(self, sink: EventSink | None = None, *, arm: str, seed: int = 0) -> EventSink:
        """A sink that keeps what is told, and hands it on."""
        return self._record.events(sink, arm=arm, seed=seed)

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None:
        """What a task came to in an earlier session."""
        if task in self._reopened:
            return None
        return await self._record.outcome(task, arm=arm, seed=seed)

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        """Keeps what a task came to, also one of several that could not begin."""
        if not self._begun:
            await self.begin(outcome.task_id)
        await self._record.finish(outcome, arm=arm, seed=seed)

    async def forget(self, task: str, *, arm: str, seed: int = 0, trial: int, why: str) -> None:
        """Sets aside what was recorded of a task from a trial on."""
        await self._record.forget(task, arm=arm, seed=seed, trial=trial, why=why)

    def let_go(self, task: str, arm: str, seed: int) -> None:
        """Drops what is kept in memory for a task that nobody asks about any more."""
        if self.run is not None:
            self.run.let_go(task, arm=arm, seed=seed)

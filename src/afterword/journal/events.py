"""Trials as they are judged, put into the journal by listening to the events of the loop.

Nobody waits for these rows: all that stands in them comes again when the recorded effects are replayed. They are for
who looks at a run that goes on, or was given up.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from afterword.core.events import Evaluated, Event, Reflected, TrialStarted
from afterword.core.protocols import EventSink
from afterword.core.records import Reflection, Trajectory, Trial
from afterword.journal.unit import Unit

if TYPE_CHECKING:
    from afterword.journal.run import Run


class JournalEvents:
    """Notes trials and hands every event on."""

    def __init__(self, run: Run, arm: str, seed: int, sink: EventSink | None) -> None:
        self._run = run
        self._arm = arm
        self._seed = seed
        self._sink = sink
        self._judged: dict[str, _Judged] = {}
        self._shown: dict[str, tuple[int, ...]] = {}

    def emit(self, event: Event) -> None:
        """Notes what an event says about a trial."""
        match event:
            case TrialStarted():
                self._shown[event.task] = event.lessons
            case Evaluated():
                unit = self._run.unit(event.task, self._arm, self._seed)
                unit.judged_at[event.trial] = unit.last_asked
                judged = _Judged(unit, event, self._shown.pop(event.task, ()))
                self._judged[event.task] = judged
                self._run.draft(unit, event.trial, judged.trial)
            case Reflected():
                if (known := self._judged.pop(event.task, None)) is not None:
                    self._run.draft(known.unit, event.trial, partial(known.trial, event.reflection))
            case _:
                pass
        if self._sink is not None:
            self._sink.emit(event)


class _Judged(NamedTuple):
    """What becomes a trial if its draft is written at all: as a rule the task has ended before."""

    unit: Unit
    event: Evaluated
    shown: tuple[int, ...]

    def trial(self, reflection: Reflection | None = None) -> Trial:
        return Trial(self.event.trial, Trajectory(""), self.event.feedback, reflection, self.shown)

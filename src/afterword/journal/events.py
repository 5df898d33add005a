"""Trials as they are judged, put into the journal by listening to the events of the loop.

Nobody waits for these rows: all that stands in them comes again when the recorded effects are replayed. They are for
who looks at a run that goes on, or was given up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from afterword.core.events import Evaluated, Event, Reflected, TrialStarted
from afterword.core.protocols import EventSink
from afterword.core.records import Trajectory, Trial
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
        self._judged: dict[str, Trial] = {}
        self._shown: dict[str, tuple[int, ...]] = {}

    def emit(self, event: Event) -> None:
        """Notes what an event says about a trial."""
        match event:
            case TrialStarted():
                self._shown[event.task] = event.lessons
            case Evaluated():
                trial = Trial(event.trial, Trajectory(""), event.feedback, None, self._shown.pop(event.task, ()))
                self._judged[event.task] = trial
                unit = self._unit(event.task)
                unit.judged_at[event.trial] = unit.last_asked
                self._run.draft(unit, trial)
            case Reflected():
                if (judged := self._judged.pop(event.task, None)) is not None:
                    trial = replace(judged, reflection=event.reflection)
                    self._run.draft(self._unit(event.task), trial)
            case _:
                pass
        if self._sink is not None:
            self._sink.emit(event)

    def _unit(self, task: str) -> Unit:
        return self._run.unit(task, self._arm, self._seed)

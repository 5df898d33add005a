"""Trials as they are judged, put into the journal by listening to the events of the loop.

Nobody waits for these rows: all that stands in them comes again when the recorded effects are replayed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from afterword.core.events import Evaluated, Event, Reflected, TrialStarted
from afterword.core.protocols import EventSink
from afterword.core.records import Feedback, Reflection
from afterword.journal.encoding import encode
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
        self._judged: dict[str, dict[str, object]] = {}

    def emit(self, event: Event) -> None:
        """Notes what an event says about a trial."""
        match event:
            case TrialStarted():
                self._unit(event.task).lessons_shown[event.trial] = event.lessons
            case Evaluated():
                self._evaluated(event)
            case Reflected():
                if (row := self._judged.get(event.task)) is not None:
                    row = {**row, "reflection": self._clean(event.reflection, Reflection)}
                    self._run.writer.ride(self._run.statements.reflected, row)
            case _:
                pass
        if self._sink is not None:
            self._sink.emit(event)

    def _evaluated(self, event: Evaluated) -> None:
        unit = self._unit(event.task)
        row: dict[str, object] = {
            "run": self._run.number,
            "unit": unit.number,
            "number": event.trial,
            "passed": event.feedback.passed,
            "score": event.feedback.score,
            "judged_at": unit.last_asked,
            "feedback": self._clean(event.feedback, Feedback),
            "lessons_shown": json.dumps(unit.lessons_shown.pop(event.trial, ())),
        }
        self._judged[event.task] = row
        self._run.writer.ride(self._run.statements.judged, row)

    def _clean(self, value: Feedback | Reflection, kind: type[Feedback | Reflection]) -> str:
        return self._run.secrets.struck_out(encode(value, kind)[0])

    def _unit(self, task: str) -> Unit:
        return self._run.unit(task, self._arm, self._seed)

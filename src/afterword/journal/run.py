"""One run of a journal that this process holds: its recorder, its events, and what becomes of its tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, delete, update

from afterword.core.protocols import EventSink, Recorder
from afterword.core.records import Outcome, Trial
from afterword.errors import InputError, RunChanged
from afterword.journal import reading, tables
from afterword.journal.encoding import encode, plain_text
from afterword.journal.events import JournalEvents
from afterword.journal.recorder import JournalRecorder
from afterword.journal.records import ForkPoint, Note, RunSpec
from afterword.journal.secrets import Secrets
from afterword.journal.statements import Row, Statements
from afterword.journal.unit import Unit, UnitKey, read_stored
from afterword.journal.writer import Writer

UNFINISHED: Mapping[str, bool | None] = {"finished": False, "ended": None}
"""The columns of a run that is worked on."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a run begins with."""

    number: int
    id: str
    spec: RunSpec
    fork: ForkPoint | None
    units: dict[UnitKey, int]
    notes: tuple[Note, ...]
    resumed: bool


class Run:
    """A run that is being worked on; `Journal` makes it."""

    def __init__(self, opened: Opened, writer: Writer, statements: Statements, secrets: Secrets) -> None:
        self.id = opened.id
        self.number = opened.number
        self.spec = opened.spec
        self.fork = opened.fork
        """Where it was forked off, if it was."""
        self.resumed = opened.resumed
        """It was worked on before, or holds what it was forked with."""
        self.writer = writer
        self.statements = statements
        self.secrets = secrets
        self.recorder: Recorder = JournalRecorder(self)
        """Records every task, arm and seed of the run."""
        self._known = opened.units
        self._at_work: dict[UnitKey, Unit] = {}
        self._next_unit = max(opened.units.values(), default=-1) + 1
        self._fingerprints = dict(opened.spec.fingerprints)
        self._notes = list(opened.notes)

    def check(self, fingerprints: Mapping[str, str]) -> None:
        """Compares with what the run was started with. Names that are new are noted, and compared from now on.

        Raises:
            RunChanged: some differ.
        """
        changed = tuple(name for name, now in fingerprints.items() if self._fingerprints.get(name, now) != now)
        if changed:
            raise RunChanged(self.id, changed)
        for name, value in fingerprints.items():
            if name not in self._fingerprints:
                self._fingerprints[name] = value
                self.writer.ride(self.statements.fingerprint, (self.number, name, value))

    def events(self, sink: EventSink | None = None, *, arm: str, seed: int = 0) -> EventSink:
        """A sink that notes the trials of an arm and seed as they are judged, and hands all events on."""
        return JournalEvents(self, arm, seed, sink)

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None:
        """What a task came to, if it was finished before."""
        number = self._known.get(UnitKey(task, arm, seed))
        if number is None:
            return None
        return await self.writer.do(lambda connection: reading.outcome(connection, self.number, number))

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        """Writes down what a task came to, and drops what was kept in memory for it."""
        unit = self.unit(outcome.task_id, arm, seed)
        if not unit.loaded:
            await self.load(unit)
        for trial in outcome.trials:
            self.writer.drop_draft((self.number, unit.number, trial.number))
            self.writer.ride(self.statements.trial, self._trial_row(unit, trial, complete=True))
        await self.writer.write(self.statements.outcome, self._outcome_row(unit, outcome))
        self._known[unit.key] = unit.number
        self._at_work.pop(unit.key, None)

    async def forget(
        self, task: str, *, arm: str, seed: int = 0, trial: int, why: str, notes: Sequence[Note] = ()
    ) -> None:
        """Takes back a task's effects from a trial on, so that the trial starts again.

        They are kept and marked, and a note says why; `notes` are what the new trial rests on. All of it or nothing
        is written.
        """
        key = UnitKey(task, arm, seed)
        number = self.unit(*key).number
        forgotten = Note("forgotten", task, f"from trial {trial} on: {why}", time.time())
        rows = [self._new_note(note) for note in (*notes, forgotten)]
        noted = len(self._notes)
        columns = tables.effects.c

        def work(connection: Connection) -> None:
            here = (columns.run == self.number, columns.unit == number, columns.trial >= trial, columns.superseded == 0)
            connection.execute(update(tables.effects).where(*here).values(superseded=noted))
            for table in (tables.outcomes, tables.trials):
                mine = [table.c.run == self.number, table.c.unit == number]
                if table is tables.trials:
                    mine.append(table.c.number >= trial)
                connection.execute(delete(table).where(*mine))
            self.statements.note.insert(connection, rows)

        if (unit := self._at_work.get(key)) is not None:
            for judged in unit.judged_at:
                self.writer.drop_draft((self.number, number, judged))
        await self.writer.do(work)
        self._known[key] = number
        self._at_work.pop(key, None)

    def let_go(self, task: str, *, arm: str, seed: int = 0) -> None:
        """Drops what is kept in memory for a task that comes to no outcome, e.g. for what arms shared."""
        key = UnitKey(task, arm, seed)
        if (unit := self._at_work.pop(key, None)) is not None:
            self._known[key] = unit.number

    async def note(self, kind: str, task: str, text: str) -> None:
        """Keeps a note, e.g. that the held-out checks of a task were shown and are burned."""
        await self.writer.write(self.statements.note, self._new_note(Note(kind, task, text, time.time())))

    @property
    def notes(self) -> tuple[Note, ...]:
        """All notes so far, oldest first."""
        return tuple(self._notes)

    async def reopen(self) -> None:
        """Marks the run as unfinished: something of it is worked on again."""
        rows = tables.runs

        def work(connection: Connection) -> None:
            connection.execute(update(rows).where(rows.c.run == self.number).values(**UNFINISHED))

        await self.writer.do(work)

    async def end(self) -> None:
        """Marks the run as finished: there is nothing left to resume."""
        rows = tables.runs

        def work(connection: Connection) -> None:
            connection.execute(update(rows).where(rows.c.run == self.number).values(finished=True, ended=time.time()))

        await self.writer.do(work)

    def unit(self, task: str, arm: str, seed: int) -> Unit:
        """A task at work; one that is new is put into the journal along with its first effect."""
        key = UnitKey(task, arm, seed)
        if (unit := self._at_work.get(key)) is not None:
            return unit
        if (number := self._known.get(key)) is not None:
            unit = Unit(key, number, loaded=False)
        else:
            if plain_text(task) != task:
                raise InputError(f"the task {task!r} has a name that cannot be kept in a journal; give it another id")
            unit = Unit(key, self._next_unit, loaded=True)
            self._next_unit += 1
            self.writer.ride(self.statements.task, (self.number, unit.number, *key, time.time()))
        self._at_work[key] = unit
        return unit

    async def load(self, unit: Unit) -> None:
        """Reads the effects of an earlier process."""
        async with unit.loading:
            if not unit.loaded:
                unit.stored, unit.next_seq = await self.writer.do(
                    lambda connection: read_stored(connection, self.number, unit.number)
                )
                unit.loaded = True

    def _new_note(self, note: Note) -> Row:
        self._notes.append(note)
        text = plain_text(self.secrets.struck_out_addresses(note.text))
        return self.number, len(self._notes), note.at, note.kind, note.task, text

    def draft(self, unit: Unit, number: int, trial: Callable[[], Trial]) -> None:
        """Keeps what is known of a trial whose task goes on, if it goes on for long."""
        place = (self.number, unit.number, number)
        self.writer.draft(place, self.statements.trial, lambda: self._trial_row(unit, trial(), complete=False))

    def _trial_row(self, unit: Unit, trial: Trial, *, complete: bool) -> Row:
        values = {
            "run": self.number,
            "unit": unit.number,
            "number": trial.number,
            "complete": complete,
            "end": trial.trajectory.end,
            "passed": trial.feedback.passed,
            "score": trial.feedback.score,
            "reason": plain_text(self.secrets.struck_out(trial.feedback.reason)),
            "judged_at": unit.judged_at.get(trial.number, -1),
            "trial": self.secrets.struck_out(encode(trial, Trial)[0]),
        }
        return self.statements.trial.row(values)

    def _outcome_row(self, unit: Unit, outcome: Outcome) -> Row:
        rest = replace(outcome, best=None, trials=())  # those have rows of their own
        values = {
            "run": self.number,
            "unit": unit.number,
            "status": outcome.status,
            "stop_reason": None if outcome.stop_reason is None else str(outcome.stop_reason),
            "best": None if outcome.best is None else outcome.best.number,
            "at": time.time(),
            "accepted": None if outcome.acceptance is None else outcome.acceptance.passed,
            "outcome": self.secrets.struck_out_addresses(encode(rest, Outcome)[0]),
        }
        return self.statements.outcome.row(values)

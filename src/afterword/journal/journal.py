"""The journal: starts runs, takes them up again, forks them, and looks back at them.

async with open_journal("runs.sqlite") as journal:
    run = await journal.start(RunSpec(settings={...}))
    outcome = await loop.run(task, recorder=run.recorder, events=run.events(arm="reflexion"))
    await run.finish(outcome, arm="reflexion")
    await run.end()
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import anyio
from sqlalchemy import Connection, Update, insert, select, update

from afterword._version import __version__
from afterword.core.records import Outcome
from afterword.errors import JournalFault, RunBusy
from afterword.journal import forking, lease, maintenance, reading, tables
from afterword.journal.database import Database, open_database
from afterword.journal.ids import new_id
from afterword.journal.lease import Holder, holder_of, myself
from afterword.journal.maintenance import Findings
from afterword.journal.records import EffectRow, ForkPoint, ModelUse, Note, RunSpec, RunSummary, TaskSummary, TrialRow
from afterword.journal.run import UNFINISHED, Opened, Run
from afterword.journal.secrets import Secrets, secrets_of_environment
from afterword.journal.statements import Statements
from afterword.journal.writer import Stall, Writer


@asynccontextmanager
async def open_journal(
    where: str | Path | None = None,
    *,
    fsync: bool = False,
    create: bool = True,
    secrets: Iterable[str] = (),
) -> AsyncIterator[Journal]:
    """Opens a journal, and on leaving writes what is left and lets go of its runs.

    Args:
        where: a path, `sqlite:///PATH`, `postgresql://HOST/NAME`, or `:memory:`; None is `default_place()`.
        fsync: whether what is recorded also survives a power loss; SQLite then waits for the disk at each commit.
        create: whether a journal is made where there is none.
        secrets: values that must not be kept, besides the keys in the environment.

    Raises:
        InputError: it cannot be opened, is something else, or has another format.
    """
    database = await anyio.to_thread.run_sync(partial(open_database, where, fsync=fsync, create=create))
    journal = Journal(database, secrets_of_environment(secrets))
    try:
        yield journal
    finally:
        with anyio.CancelScope(shield=True):
            await journal.close()


class Journal:
    """An opened journal; `open_journal` makes it."""

    def __init__(self, database: Database, secrets: Secrets) -> None:
        self.where = database.where
        """As it is shown: without a password."""
        self._database = database
        self._secrets = secrets
        self._statements = Statements.of(database)
        self._holder = myself()
        self._held: set[int] = set()
        self._writer = Writer(database)
        self._writer.start()

    @property
    def stall(self) -> Stall | None:
        """What a write is being held up by; None while all goes well."""
        return self._writer.stall

    async def start(self, spec: RunSpec) -> Run:
        """Begins a run."""
        return await self._open(await self._writer.do(lambda connection: self._insert_run(connection, spec, None)))

    async def resume(self, run: str | None = None, *, reopen: bool = True) -> Run:
        """Takes a run up again: by its name, the beginning of it or its last word; else the latest unfinished.

        What it is resumed with is compared by `Run.check`. Without `reopen` one that is finished stays so until
        `Run.reopen`, for whoever may still refuse it.

        Raises:
            InputError: there is no such run, or more than one.
            RunBusy: another process is at work on it.
        """
        number = await self._writer.do(lambda connection: reading.find_run(connection, run, self.where))
        await self._take(number, reopen=reopen)
        return await self._open(number, resumed=True)

    async def fork(
        self,
        run: str | None,
        at: tuple[str, int],
        lesson: str | None = None,
        *,
        arm: str | None = None,
        seed: int | None = None,
        spec: RunSpec | None = None,
    ) -> Run:
        """Begins a run with what another one did on a task up to the verdict on a trial; 0 is before the first.

        From there the task goes on by itself: the lesson of that trial is drawn anew, or is the given one, which
        `Run.fork` carries. Other tasks are no part of the new run, and where arms were compared, one of them and one
        seed can be taken alone. `spec` is what it goes on with; None: what the other run was started with.

        Raises:
            InputError: there is no such run, task or trial.
        """
        task, trial = at

        def work(connection: Connection) -> int:
            parent = reading.find_run(connection, run, self.where)
            name, before, _ = reading.spec_of(connection, parent)
            point = ForkPoint(name, task, trial, lesson, arm, seed)
            forking.refuse_missing(connection, parent, point)
            number = self._insert_run(connection, spec or before, point)
            forking.copy_effects(connection, parent, number, point)
            return number

        return await self._open(await self._writer.do(work), resumed=True)

    async def let_go(self, run: Run) -> None:
        """Ends the work on a run here, so that it can be taken up elsewhere. `close` does so with all of them."""

        def work(connection: Connection) -> None:
            self._held.discard(run.number)
            columns = tables.runs.c
            mine = (columns.run == run.number, columns.holder == self._holder.text())
            connection.execute(update(tables.runs).where(*mine).values(holder=None))

        await self._writer.do(work)

    async def runs(self) -> list[RunSummary]:
        """All runs, the latest first."""
        return await self._writer.do(reading.summaries)

    async def summary(self, run: str | None) -> RunSummary:
        """One run."""
        number = await self._find(run)
        return await self._writer.do(lambda connection: reading.summary(connection, number))

    async def spec(self, run: str | None) -> RunSpec:
        """What a run was started with."""
        number = await self._find(run)
        return await self._writer.do(lambda connection: reading.spec_of(connection, number)[1])

    async def models(self, run: str | None) -> tuple[ModelUse, ...]:
        """Which models were asked in which roles, and what was paid for them."""
        number = await self._find(run)
        return await self._writer.do(lambda connection: reading.model_uses(connection, number))

    async def notes(self, run: str | None) -> tuple[Note, ...]:
        """The notes of a run, oldest first."""
        number = await self._find(run)
        return await self._writer.do(lambda connection: reading.notes_of(connection, number))

    async def tasks(self, run: str | None, *, task: str | None = None) -> AsyncIterator[TaskSummary]:
        """The tasks of a run, or its arms and seeds of one task, in the order in which they were begun."""
        number = await self._find(run)
        after = -1
        while piece := await self._writer.do(partial(reading.task_summaries, run=number, after=after, task=task)):
            for place, found in piece:
                yield found
                after = place

    async def trials(self, run: str | None, *, task: str | None = None) -> AsyncIterator[TrialRow]:
        """The trials of a run, or of one of its tasks, task by task."""
        number = await self._find(run)
        after = (-1, -1)
        while piece := await self._writer.do(partial(reading.trial_rows, run=number, after=after, task=task)):
            for place, trial in piece:
                yield trial
                after = place

    async def effects(self, run: str | None, *, task: str | None = None) -> AsyncIterator[EffectRow]:
        """The effects of a run, or of one of its tasks, in the order in which they were recorded within a task."""
        number = await self._find(run)
        units: list[int | None] = [None]
        if task is not None:
            known = await self._writer.do(lambda connection: reading.units_of(connection, number))
            units = [unit for key, unit in known.items() if key.task == task]
        for unit in units:
            after = (-1, -1)
            read = partial(reading.effect_rows, run=number, unit=unit)
            while piece := await self._writer.do(partial(read, after=after)):
                for place, effect in piece:
                    yield effect
                    after = place

    async def outcomes(self, run: str | None, *, task: str | None = None) -> AsyncIterator[tuple[TaskSummary, Outcome]]:
        """What the finished tasks of a run, or its arms and seeds of one task, came to."""
        number = await self._find(run)
        after = -1
        while piece := await self._writer.do(partial(reading.task_summaries, run=number, after=after, task=task)):
            units = [unit for unit, _ in piece]
            after = units[-1]
            came_to = await self._writer.do(partial(reading.outcomes, run=number, units=units))
            for unit, summary in piece:
                if unit in came_to:
                    yield summary, came_to[unit]

    async def check(self) -> Findings:
        """Reads all of the journal and says what is wrong in it."""
        remote = self._database.remote
        runs, problems = await self._writer.do(lambda connection: maintenance.look_over(connection, remote))
        effects = 0
        after = (-1, -1, -1)
        while piece := await self._writer.do(partial(maintenance.look_over_effects, after=after)):
            effects += len(piece)
            problems += [problem for _, problem in piece if problem is not None]
            after = piece[-1][0]
        return Findings(runs, effects, tuple(problems))

    async def close(self) -> None:
        """Writes what is left, lets go of the runs and closes the database."""
        await anyio.to_thread.run_sync(self._writer.close, self._release)
        self._database.engine.dispose()

    async def _find(self, run: str | None) -> int:
        return await self._writer.do(lambda connection: reading.find_run(connection, run, self.where))

    def _insert_run(self, connection: Connection, spec: RunSpec, fork: ForkPoint | None) -> int:
        clean = self._secrets.struck_out_addresses
        columns = tables.runs.c
        now = time.time()
        name = new_id(now)
        while connection.execute(select(columns.run).where(columns.id == name)).first() is not None:
            name = new_id(now)
        made = connection.execute(
            insert(tables.runs)
            .values(
                id=name,
                started=now,
                finished=False,
                seed=spec.seed,
                version=__version__,
                holder=self._holder.text(),
                beat=0,
                fork=None if fork is None else json.dumps(asdict(fork)),
                command=clean(json.dumps(spec.command)),
                settings=clean(json.dumps(dict(spec.settings), sort_keys=True)),
            )
            .returning(columns.run)
        )
        number: int = made.scalar_one()
        rows = [{"run": number, "name": name, "value": value} for name, value in spec.fingerprints.items()]
        if rows:
            connection.execute(insert(tables.fingerprints), rows)
        return number

    async def _open(self, number: int, *, resumed: bool = False) -> Run:
        self._held.add(number)
        self._writer.beat(lease.BEAT_S, self._beat)

        def read(connection: Connection) -> Opened:
            name, spec, fork = reading.spec_of(connection, number)
            units = reading.units_of(connection, number) if resumed else {}
            notes = reading.notes_of(connection, number) if resumed else ()
            return Opened(number, name, spec, fork, units, notes, resumed)

        return Run(await self._writer.do(read), self._writer, self._statements, self._secrets)

    async def _take(self, number: int, *, reopen: bool) -> None:
        """Takes the lease of a run.

        Raises:
            RunBusy: it is held by a process that is alive.
        """
        columns = tables.runs.c
        query = select(columns.id, columns.holder, columns.beat).where(columns.run == number)
        watched_until: float | None = None
        first_beat: int | None = None
        while True:
            name, text, beat = await self._writer.do(lambda connection: connection.execute(query).one())
            if text is not None:
                holder = holder_of(text)
                if holder.here and holder.alive:
                    raise RunBusy(name, _shown(holder))
                if not holder.here:
                    if first_beat is None or watched_until is None:
                        first_beat, watched_until = beat, time.monotonic() + lease.SILENCE_S
                    if beat != first_beat:
                        raise RunBusy(name, _shown(holder))
                    if time.monotonic() < watched_until:
                        await anyio.sleep(lease.BEAT_S / 3)
                        continue
            unchanged = columns.holder.is_(None) if text is None else columns.holder == text
            change = (
                update(tables.runs)
                .where(columns.run == number, columns.beat == beat, unchanged)
                .values(holder=self._holder.text(), beat=beat + 1, **(UNFINISHED if reopen else {}))
            )
            if await self._writer.do(partial(_changed, change=change)):
                return

    def _beat(self, connection: Connection) -> None:
        """Says that the runs are still worked on, in the writer's thread.

        Raises:
            JournalFault: another process has taken one of them over.
        """
        columns = tables.runs.c
        mine = (columns.run.in_(self._held), columns.holder == self._holder.text())
        change = update(tables.runs).where(*mine).values(beat=columns.beat + 1)
        if connection.execute(change).rowcount != len(self._held):
            raise JournalFault(
                f"a run in {self.where} was taken over by another process while this one stood still; "
                "what was recorded is kept, and the other process goes on with it"
            )

    def _release(self, connection: Connection) -> None:
        columns = tables.runs.c
        change = update(tables.runs).where(columns.run.in_(self._held), columns.holder == self._holder.text())
        connection.execute(change.values(holder=None))


def _changed(connection: Connection, change: Update) -> bool:
    return connection.execute(change).rowcount > 0


def _shown(holder: Holder) -> str:
    return "this process" if holder.token and holder.pid == myself().pid and holder.here else str(holder)

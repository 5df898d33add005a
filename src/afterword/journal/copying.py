"""Copies a run into another journal: from one machine to another, or from SQLite to PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import SQLAlchemyError

from afterword.errors import InputError, RunBusy
from afterword.journal import tables
from afterword.journal.database import Database, open_database
from afterword.journal.lease import holder_of
from afterword.journal.reading import PIECE, find_run

_PARTS = (tables.fingerprints, tables.tasks, tables.effects, tables.trials, tables.outcomes, tables.notes)


def copy_run(where: str | Path | None, run: str, to: str | Path) -> str:
    """Copies all that is recorded of a run, as one transaction; returns its name, which stays what it was.

    The copy can be looked at, compared, exported and resumed like the run itself. The other journal is made if need be.

    Raises:
        InputError: there is no such journal or run, or the other journal holds the run already.
        RunBusy: a process is at work on the run.
        JournalFault: it cannot be written, e.g. since the disk is full; the other journal is left as it was.
    """
    with ExitStack() as stack:
        source = open_database(where, fsync=False, create=False)
        stack.callback(source.engine.dispose)
        try:
            with source.engine.connect() as reader, reader.begin():
                number = find_run(reader, run, source.where)
            target = open_database(to, fsync=False, create=True)
            stack.callback(target.engine.dispose)
            if target.where == source.where:
                raise InputError(f"{target.where} is the journal of the run itself; give another one")
            with source.engine.connect() as reader, reader.begin():
                return _copy(reader, number, target)
        except SQLAlchemyError as error:
            raise source.fault(error) from None


def _copy(reader: Connection, number: int, target: Database) -> str:
    columns = tables.runs.c
    run = dict(reader.execute(select(tables.runs).where(columns.run == number)).mappings().one())
    name = str(run["id"])
    holder = None if run["holder"] is None else holder_of(run["holder"])
    if holder is not None and holder.here and holder.alive:
        raise RunBusy(name, str(holder))
    try:
        with target.engine.connect() as writer, writer.begin():
            if writer.execute(select(columns.run).where(columns.id == name)).first() is not None:
                raise InputError(f"the journal {target.where} holds the run {name} already; give another one")
            del run["run"]
            made = writer.execute(insert(tables.runs).values({**run, "holder": None}).returning(columns.run))
            copied = made.scalar_one()
            for table in _PARTS:
                rows = reader.execute(select(table).where(table.c.run == number).execution_options(yield_per=PIECE))
                for piece in rows.mappings().partitions():
                    writer.execute(insert(table), [{**row, "run": copied} for row in piece])
    except SQLAlchemyError as error:
        raise target.fault(error) from None
    return name

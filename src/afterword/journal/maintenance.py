"""Looks a journal over for damage, and gives back the room that it no longer needs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, func, select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from afterword.journal import tables
from afterword.journal.database import Database, open_database
from afterword.journal.reading import PIECE
from afterword.journal.secrets import MARK

EffectPlace = tuple[int, int, int]
"""Run, unit and number of an effect."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look at a journal came to."""

    runs: int
    effects: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a journal, before and after."""

    before: int
    after: int


def look_over(connection: Connection, remote: bool) -> tuple[int, list[str]]:
    """The number of runs, and what is wrong with the database and with rows that belong to nothing."""
    problems = []
    if not remote:
        found = [row[0] for row in connection.exec_driver_sql("PRAGMA quick_check(20)")]
        problems += [f"SQLite: {line}" for line in found if line != "ok"]
    for table in (tables.tasks, tables.fingerprints, tables.notes):
        problems += _loose(connection, table, tables.runs, "run")
    for table in (tables.effects, tables.trials, tables.outcomes):
        problems += _loose(connection, table, tables.tasks, "run", "unit")
    trials, outcomes = tables.trials.c, tables.outcomes.c
    missing = connection.execute(
        select(func.count())
        .select_from(tables.outcomes)
        .outerjoin(
            tables.trials,
            (trials.run == outcomes.run) & (trials.unit == outcomes.unit) & (trials.number == outcomes.best),
        )
        .where(outcomes.best.is_not(None), trials.number.is_(None))
    ).scalar_one()
    if missing:
        problems.append(f"outcomes: the best trial of {missing} is not there")
    return connection.execute(select(func.count()).select_from(tables.runs)).scalar_one(), problems


def _loose(connection: Connection, table: Table, owner: Table, *key: str) -> list[str]:
    joined = owner.c[key[0]] == table.c[key[0]]
    for name in key[1:]:
        joined &= owner.c[name] == table.c[name]
    query = select(func.count()).select_from(table).outerjoin(owner, joined).where(owner.c[key[0]].is_(None))
    count = connection.execute(query).scalar_one()
    return [f"{table.name}: {count} rows belong to no {'run' if owner is tables.runs else 'task'}"] if count else []


def look_over_effects(connection: Connection, after: EffectPlace) -> list[tuple[EffectPlace, str | None]]:
    """The next effects, each with what is wrong with it."""
    columns = tables.effects.c
    place = (columns.run, columns.unit, columns.seq)
    query = (
        select(*place, columns.role, columns.trial, columns.fingerprint, columns.result, columns.request)
        .where(tuple_(*place) > after)
        .order_by(*place)
        .limit(PIECE)
    )
    found: list[tuple[EffectPlace, str | None]] = []
    for run, unit, seq, role, trial, fingerprint, result, request in connection.execute(query):
        problem = _problem(fingerprint, result, request)
        told = f"effect {run}.{unit}.{seq} ({role}, trial {trial}): {problem}" if problem else None
        found.append(((run, unit, seq), told))
    return found


def _problem(fingerprint: str, result: str, request: str | None) -> str | None:
    try:
        json.loads(result)
    except ValueError:
        return "its result is no JSON"
    if request is None or MARK in request:
        return None
    if hashlib.sha256(f"[{request}]".encode()).hexdigest() != fingerprint:
        return "its request does not have the fingerprint beside it, so it was changed"
    return None


def compact_journal(where: str | Path | None) -> Sizes:
    """Gives back unused room, while nobody writes.

    Raises:
        InputError: there is no journal.
        JournalFault: it is at work, or there is no room to do it.
    """
    database = open_database(where, fsync=False, create=False)
    try:
        before = _size(database)
        connection = database.engine.raw_connection()
        try:
            if database.remote:
                connection.driver_connection.autocommit = True  # type: ignore[union-attr]  # psycopg's own
            cursor = connection.cursor()
            for statement in _COMPACT_POSTGRES if database.remote else _COMPACT_SQLITE:
                cursor.execute(statement)
        except Exception as error:
            raise database.fault(error) from error
        finally:
            connection.close()
        return Sizes(before, _size(database))
    except SQLAlchemyError as error:
        raise database.fault(error) from None
    finally:
        database.engine.dispose()


_COMPACT_SQLITE = ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
_COMPACT_POSTGRES = tuple(f"VACUUM (FULL, ANALYZE) {table.name}" for table in tables.metadata.sorted_tables)
_SIZE_POSTGRES = " + ".join(f"pg_total_relation_size('{table.name}')" for table in tables.metadata.sorted_tables)


def _size(database: Database) -> int:
    if database.remote:
        with database.engine.connect() as connection:
            return int(connection.exec_driver_sql(f"SELECT {_SIZE_POSTGRES}").scalar_one())
    files = [Path(database.where + suffix) for suffix in ("", "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())

"""The inserts of a journal, put into the database's own words once: the writer groups rows by them.

Building and checking a statement anew costs as much as carrying it out, and these are carried out all the time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Self

from sqlalchemy import Connection, Table

from afterword.journal import tables
from afterword.journal.database import Database

Row = tuple[object, ...]
"""Values in the order of the table's columns: rows are handed over as they are bound."""

_SIZES = (64, 16, 4, 2, 1)
"""With at most 20 columns, well below the number of values that SQLite takes; it keeps 128 statements prepared."""


class Statement:
    """An insert that may be repeated: a row that is there already is left, or some columns of it are renewed."""

    def __init__(self, database: Database, table: Table, updated: tuple[str, ...] = ()) -> None:
        self.table = table
        insert = database.upsert(table, *updated).values(dict.fromkeys(column.name for column in table.c))
        compiled = insert.compile(dialect=database.engine.dialect)
        self._text = str(compiled)
        self._columns = tuple(table.c.keys())
        self._in_order = itemgetter(*self._columns)
        self._named = compiled.positiontup is None
        if not self._named and tuple(compiled.positiontup or ()) != self._columns:
            raise TypeError(f"expected the values of {table.name} in the order of its columns")
        self._several = {} if database.remote else _for_several(self._text)

    def row(self, values: Mapping[str, object]) -> Row:
        """A row of values that are named."""
        ordered: Row = self._in_order(values)
        return ordered

    def insert(self, connection: Connection, rows: list[Row]) -> None:
        """Inserts rows."""
        if self._named:
            connection.exec_driver_sql(self._text, [dict(zip(self._columns, row, strict=True)) for row in rows])
        else:
            connection.exec_driver_sql(self._text, rows)

    def insert_at_once(self, connection: sqlite3.Connection, rows: list[Row]) -> None:
        """Inserts rows into SQLite, many with each step: between two steps the event loop's thread may take over.

        Where it is busy, this thread gets its turn back only after a while, so that the steps are what counts.
        """
        start = 0
        for size, text in self._several.items():
            while len(rows) - start >= size:
                connection.execute(text, list(chain.from_iterable(rows[start : start + size])))
                start += size


def _for_several(text: str) -> dict[int, str]:
    """An insert of one row as inserts of more, the most first."""
    head, values, rest = text.partition(" VALUES ")
    row, bracket, rest = rest.partition(")")
    return {size: f"{head}{values}{', '.join([row + bracket] * size)}{rest}" for size in _SIZES}


_TRIAL = ("complete", "end", "passed", "score", "reason", "judged_at", "trial")
_OUTCOME = ("status", "stop_reason", "best", "at", "accepted", "outcome")


@dataclass(frozen=True, slots=True)
class Statements:
    """One insert for each kind of row."""

    effect: Statement
    task: Statement
    fingerprint: Statement
    trial: Statement
    """A trial as far as it is known."""
    outcome: Statement
    note: Statement

    @classmethod
    def of(cls, database: Database) -> Self:
        """The inserts in the words of this database."""
        return cls(
            effect=Statement(database, tables.effects),
            task=Statement(database, tables.tasks),
            fingerprint=Statement(database, tables.fingerprints),
            trial=Statement(database, tables.trials, _TRIAL),
            outcome=Statement(database, tables.outcomes, _OUTCOME),
            note=Statement(database, tables.notes),
        )

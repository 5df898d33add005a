"""The inserts of a journal, put into the database's own words once: the writer groups rows by them.

Building and checking a statement anew costs as much as carrying it out, and these are carried out all the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Self

from sqlalchemy import Connection, Table

from afterword.journal import tables
from afterword.journal.database import Database

Row = Mapping[str, object]


class Statement:
    """An insert that may be repeated: a row that is there already is left, or some columns of it are renewed."""

    def __init__(self, database: Database, table: Table, updated: tuple[str, ...] = ()) -> None:
        self.table = table
        insert = database.upsert(table, *updated).values(dict.fromkeys(column.name for column in table.c))
        compiled = insert.compile(dialect=database.engine.dialect)
        self._text = str(compiled)
        self._in_order = itemgetter(*compiled.positiontup) if compiled.positiontup is not None else None

    def insert(self, connection: Connection, rows: list[Row]) -> None:
        """Inserts rows."""
        if self._in_order is None:
            connection.exec_driver_sql(self._text, [dict(row) for row in rows])
        else:
            connection.exec_driver_sql(self._text, [self._in_order(row) for row in rows])


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

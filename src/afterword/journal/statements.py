"""The inserts of a journal, built once for each database: the writer groups rows by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sqlalchemy import Executable

from afterword.journal import tables
from afterword.journal.database import Database


@dataclass(frozen=True, slots=True)
class Statements:
    """One insert for each table; all of them may be repeated."""

    effect: Executable
    task: Executable
    fingerprint: Executable
    judged: Executable
    """A trial as far as it is known when it is judged."""
    reflected: Executable
    trial: Executable
    """A trial, complete."""
    outcome: Executable
    note: Executable

    @classmethod
    def of(cls, database: Database) -> Self:
        upsert = database.upsert
        judged = ("passed", "score", "feedback", "lessons_shown", "judged_at")
        return cls(
            effect=upsert(tables.effects),
            task=upsert(tables.tasks),
            fingerprint=upsert(tables.fingerprints),
            judged=upsert(tables.trials, *judged),
            reflected=upsert(tables.trials, *judged, "reflection"),
            trial=upsert(
                tables.trials,
                "end",
                "passed",
                "score",
                "feedback",
                "reflection",
                "lessons_shown",
                "usage",
                "trajectory",
            ),
            outcome=upsert(tables.outcomes, "status", "stop_reason", "best", "at", "acceptance", "usage", "fault"),
            note=upsert(tables.notes),
        )

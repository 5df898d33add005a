"""What is known of one task in one arm and with one seed while it is being worked on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import anyio
from sqlalchemy import Connection, select

from afterword.journal import tables
from afterword.journal.texts import Texts


class Place(NamedTuple):
    """Where an effect stands within its unit."""

    trial: int
    role: str
    n: int


class Stored(NamedTuple):
    """An effect that was recorded by an earlier process and not asked for again yet."""

    seq: int
    fingerprint: str
    result: str


class UnitKey(NamedTuple):
    """A task in one arm and with one seed."""

    task: str
    arm: str
    seed: int


@dataclass(slots=True)
class Unit:
    """The effects that wait to be asked for again, and where the next one goes."""

    key: UnitKey
    number: int
    loaded: bool
    """False while the effects of an earlier process are still to be read."""
    stored: dict[Place, Stored] = field(default_factory=dict)
    next_seq: int = 0
    last_asked: int = -1
    """The latest effect that the loop has seen."""
    judged_at: dict[int, int] = field(default_factory=dict)
    """For each trial, the effect that was the last word of its verdict."""
    texts: Texts = field(default_factory=Texts)
    """Of what was asked."""
    loading: anyio.Lock = field(default_factory=anyio.Lock)

    def take_seq(self) -> int:
        """The number of a new effect."""
        seq, self.next_seq = self.next_seq, self.next_seq + 1
        self.last_asked = max(self.last_asked, seq)
        return seq


def read_stored(connection: Connection, run: int, unit: int) -> tuple[dict[Place, Stored], int]:
    """The recorded effects of a unit that still count, and the number of the next one."""
    columns = tables.effects.c
    query = (
        select(
            columns.seq, columns.trial, columns.role, columns.n, columns.fingerprint, columns.result, columns.superseded
        )
        .where(columns.run == run, columns.unit == unit)
        .order_by(columns.seq)
    )
    stored: dict[Place, Stored] = {}
    next_seq = 0
    for seq, trial, role, n, fingerprint, result, superseded in connection.execute(query):
        next_seq = seq + 1
        if not superseded:
            stored[Place(trial, role, n)] = Stored(seq, fingerprint, result)
    return stored, next_seq

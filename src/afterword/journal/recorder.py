"""The journal as the loop sees it: a stored result is given back, a new one is on the disk before it is used."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection, select

from afterword.core.effects import CLOCK
from afterword.core.messages import Reply
from afterword.core.protocols import EffectKey
from afterword.errors import ReplayMismatch
from afterword.journal import tables
from afterword.journal.difference import first_difference
from afterword.journal.encoding import decode, encode, name_of, plain_text
from afterword.journal.unit import Place, Stored, Unit

if TYPE_CHECKING:
    from afterword.journal.run import Run

T = TypeVar("T")

_LARGEST_REQUEST = 1 << 16
"""Of what is not a model call, a longer request is known by its fingerprint only."""


class JournalRecorder:
    """Records all tasks of a run. The lookup is strict: what is asked must be what was asked before."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Gives back what is stored, or makes the call and stores its result.

        Raises:
            ReplayMismatch: something else was asked at this place before.
            JournalFault: the result could not be stored; it is not used either.
        """
        unit = self._run.unit(key.task, key.arm, key.seed)
        if not unit.loaded:
            await self._run.load(unit)
        asked = unit.texts.of(request)
        fingerprint = hashlib.sha256(f"[{asked}]".encode()).hexdigest()
        place = Place(key.trial, key.role, key.n)
        if (stored := unit.stored.pop(place, None)) is not None:
            if stored.fingerprint != fingerprint:
                raise await self._mismatch(unit, place, stored, asked)
            unit.last_asked = max(unit.last_asked, stored.seq)
            return decode(stored.result, kind)
        result = await call()
        text, kept = encode(result, kind)
        clean = self._run.secrets.struck_out(text)
        if clean != text:  # the loop goes on with what is kept, or a resumed run would differ
            text, kept = clean, decode(clean, kind)
        row = (  # in the order of the columns
            self._run.number,
            unit.number,
            unit.take_seq(),
            key.trial,
            key.role,
            key.n,
            0,
            time.time(),
            *(_usage(kept) if isinstance(kept, Reply) else _NO_USAGE),
            name_of(kind),
            fingerprint,
            text,
            self._kept_request(asked, kind),
        )
        if key.role.rpartition("/")[2] == CLOCK:  # nothing was paid for it; no later effect is kept without it
            self._run.writer.ride(self._run.statements.effect, row)
        else:
            await self._run.writer.write(self._run.statements.effect, row)
        return kept

    def _kept_request(self, asked: str, kind: type[object]) -> str | None:
        if kind is not Reply and len(asked) > _LARGEST_REQUEST:
            return None
        return self._run.secrets.struck_out(asked)

    async def _mismatch(self, unit: Unit, place: Place, stored: Stored, asked: str) -> ReplayMismatch:
        columns = tables.effects.c

        def read(connection: Connection) -> str | None:
            where = (columns.run == self._run.number, columns.unit == unit.number, columns.seq == stored.seq)
            found: str | None = connection.execute(select(columns.request).where(*where)).scalar_one()
            return found

        recorded = await self._run.writer.do(read)
        if recorded is None:
            difference = "its fingerprint differs"
        else:
            difference = first_difference(json.loads(recorded), json.loads(asked))
        return ReplayMismatch(unit.key.task, place.trial, place.role, place.n, difference)


def _usage(reply: Reply) -> tuple[object, ...]:
    usage = reply.usage
    return (
        plain_text(reply.model),
        usage.tokens_in,
        usage.tokens_out,
        usage.tokens_cached,
        usage.tokens_reasoning,
        usage.cost_usd,
        usage.seconds,
        reply.tries,
    )


_NO_USAGE = (None,) * 8

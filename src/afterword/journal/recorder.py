"""The journal as the loop sees it: a stored result is given back, a new one is on the disk before it is used."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection, select

from afterword.core.effects import CLOCK, canonical
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
        asked, fingerprint = _NOTHING_ASKED if request == () else _asked(request)
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
        row: dict[str, object] = {
            "run": self._run.number,
            "unit": unit.number,
            "seq": unit.take_seq(),
            "trial": key.trial,
            "role": key.role,
            "n": key.n,
            "superseded": 0,
            "at": time.time(),
            "kind": name_of(kind),
            "fingerprint": fingerprint,
            "result": text,
            "request": self._kept_request(asked, kind),
            **_usage_columns(kept),
        }
        if key.role.rpartition("/")[2] == CLOCK:  # nothing was paid for it; no later effect is kept without it
            self._run.writer.ride(self._run.statements.effect, row)
        else:
            await self._run.writer.write(self._run.statements.effect, row)
        return kept

    def _kept_request(self, asked: str, kind: type[object]) -> str | None:
        if kind is not Reply and len(asked) > _LARGEST_REQUEST:
            return None
        return self._run.secrets.struck_out(asked[1:-1])

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
            difference = first_difference(json.loads(recorded), json.loads(asked)[0])
        return ReplayMismatch(unit.key.task, place.trial, place.role, place.n, difference)


def _asked(request: object) -> tuple[str, str]:
    """The text of a request, and its fingerprint."""
    asked = canonical(request)
    return asked, hashlib.sha256(asked.encode()).hexdigest()


_NOTHING_ASKED = _asked(())


_NO_USAGE: Mapping[str, object] = dict.fromkeys(
    ("model", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost_usd", "seconds", "tries")
)


def _usage_columns(result: object) -> Mapping[str, object]:
    if not isinstance(result, Reply):
        return _NO_USAGE
    usage = result.usage
    return {
        "model": plain_text(result.model),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "tokens_cached": usage.tokens_cached,
        "tokens_reasoning": usage.tokens_reasoning,
        "cost_usd": usage.cost_usd,
        "seconds": usage.seconds,
        "tries": result.tries,
    }

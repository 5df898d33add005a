"""A recorder that gives back the n-th result of each role, whatever is asked: for the logs of others.

Nothing is checked but the order, since a foreign log holds no fingerprints of our requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from afterword.core.effects import CLOCK
from afterword.core.protocols import EffectKey
from afterword.errors import RecordingMismatch
from afterword.journal.encoding import as_kind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One result of a log. The rows of a task, trial and role are given back in their order."""

    task: str
    trial: int
    role: str
    result: object
    """A record of the kind that will be asked for, e.g. a `Reply`."""


class PositionalRecorder:
    """Answers from rows; roles in `live` (clock readings, as a rule) are called and not looked up."""

    def __init__(self, rows: Iterable[RecordedRow], *, live: Iterable[str] = (CLOCK,)) -> None:
        self._rows: dict[tuple[str, int, str], list[object]] = {}
        for row in rows:
            self._rows.setdefault((row.task, row.trial, row.role), []).append(row.result)
        self._live = frozenset(live)

    async def effect(
        self,
        key: EffectKey,
        request: object,  # noqa: ARG002
        call: Callable[[], Awaitable[T]],
        kind: type[T],
    ) -> T:
        """The n-th result of the role in this trial of the task.

        Raises:
            RecordingMismatch: the log has no more of them, or another kind of result.
        """
        if key.role.rpartition("/")[2] in self._live or key.role in self._live:
            return await call()
        results = self._rows.get((key.task, key.trial, key.role), [])
        if key.n >= len(results):
            raise RecordingMismatch(
                f"task {key.task!r}, trial {key.trial}: the log holds {len(results)} of {key.role}, and one more was "
                "asked for"
            )
        return as_kind(results[key.n], kind)

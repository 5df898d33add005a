"""Says that the journal keeps a run waiting, at once, and again when it goes on; without it a person sees nothing move.

It writes lines to stderr, which a live line on the terminal lets through, whichever command opened the journal.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from afterword.cli.text import plain
from afterword.core.faults import first_of_group

if TYPE_CHECKING:
    from afterword.journal import Journal, Stall

_LOOK_EVERY_S = 0.5


@asynccontextmanager
async def stalls_told(journal: Journal) -> AsyncIterator[None]:
    """Tells stalls of a journal while the context lasts."""
    watch = _Watch(journal)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(watch.go_on)
            yield
            watch.look()  # what has ended since the last look is told too
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise first_of_group(errors) from None


class _Watch:
    """Looks at a journal every so often."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lasted_s: float | None = None

    async def go_on(self) -> None:
        while True:
            await anyio.sleep(_LOOK_EVERY_S)
            self.look()

    def look(self) -> None:
        """Tells a stall that has begun or ended since the last look."""
        stall, lasted_s, where = self._journal.stall, self._lasted_s, self._journal.where
        if stall is not None and (lasted_s is None or stall.since_s < lasted_s):
            _say(f"the journal {where} {_told(stall)}")
        elif stall is None and lasted_s is not None:
            _say(f"the journal {where} takes writes again, after {lasted_s:.0f} s; all goes on")
        self._lasted_s = None if stall is None else stall.since_s


def _told(stall: Stall) -> str:
    why = stall.why or "does not answer, or another process holds its lock"
    return f"{why}; it is waited for up to {stall.patience_s:.0f} s, and nothing that was paid for is lost"


def _say(text: str) -> None:
    sys.stderr.write(f"afterword: {' '.join(plain(text).split())}\n")
    sys.stderr.flush()

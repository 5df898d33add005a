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
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, journal)
            yield
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise first_of_group(errors) from None


async def _watch(journal: Journal) -> None:
    lasted_s: float | None = None
    while True:
        await anyio.sleep(_LOOK_EVERY_S)
        stall = journal.stall
        if stall is not None and (lasted_s is None or stall.since_s < lasted_s):
            _say(f"the journal {journal.where} {_told(stall)}")
        elif stall is None and lasted_s is not None:
            _say(f"the journal {journal.where} takes writes again, after {lasted_s:.0f} s; all goes on")
        lasted_s = None if stall is None else stall.since_s


def _told(stall: Stall) -> str:
    why = stall.why or "does not answer, or another process holds its lock"
    return f"{why}; it is waited for up to {stall.patience_s:.0f} s, and nothing that was paid for is lost"


def _say(text: str) -> None:
    sys.stderr.write(f"afterword: {' '.join(plain(text).split())}\n")
    sys.stderr.flush()

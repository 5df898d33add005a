"""`Locker`: a small world in memory, for examples and tests that need no game installed.

A key lies in one of three drawers, a locked box stands beside them, and the coin in the box has to be taken.
"""

from __future__ import annotations

import re

from afterword.core.effects import fingerprint
from afterword.core.protocols import EnvironmentStep

DRAWERS = (1, 2, 3)
_MOVE = re.compile(r"(open|take|unlock|look|inventory)\s*(.*)\Z")
NOTHING = "Nothing happens."


class Locker:
    """A world with one goal: to take the coin out of the locked box. `drawer` is where the key lies."""

    help = "open drawer N, take key, unlock box, open box, take coin, look, inventory"

    def __init__(self, drawer: int = 3, max_steps: int | None = None) -> None:
        if drawer not in DRAWERS:
            raise ValueError(f"the key lies in drawer 1, 2 or 3, found {drawer!r}")
        self._drawer = drawer
        self._max_steps = max_steps
        self._steps = 0
        self._opened: set[str] = set()
        self._held: set[str] = set()

    async def reset(self) -> str:
        """Everything is closed again."""
        self._steps, self._opened, self._held = 0, set(), set()
        return "You are in a changing room. You see drawer 1, drawer 2, drawer 3 and a box. The box is locked."

    async def step(self, action: str) -> EnvironmentStep:
        """Takes one action."""
        self._steps += 1
        found = _MOVE.match(" ".join(action.lower().split()).removesuffix("."))
        observation = NOTHING if found is None else self._do(found[1], found[2])
        won = "coin" in self._held
        return EnvironmentStep(observation, won or self._steps == self._max_steps, won, float(won))

    async def fingerprint(self) -> str:
        """What is open, and what is held."""
        return fingerprint(self._drawer, self._opened, self._held)

    async def close(self) -> None:
        """There is nothing to close."""

    def _do(self, verb: str, what: str) -> str:
        if verb == "look":
            return "You see drawer 1, drawer 2, drawer 3 and a box."
        if verb == "inventory":
            return f"You have {', '.join(sorted(self._held)) or 'nothing'}."
        if verb == "open":
            return self._open(what)
        if verb == "take":
            return self._take(what)
        if what == "box" and "key" in self._held:
            self._opened.add("lock")
            return "You unlock the box with the key."
        return NOTHING

    def _open(self, what: str) -> str:
        if what == "box":
            if "lock" not in self._opened:
                return "The box is locked."
            self._opened.add("box")
            return "You open the box. In it, you see a coin."
        if what in {f"drawer {number}" for number in DRAWERS}:
            self._opened.add(what)
            key = what == f"drawer {self._drawer}" and "key" not in self._held
            return f"You open {what}. In it, you see {'a key' if key else 'nothing'}."
        return NOTHING

    def _take(self, what: str) -> str:
        place = {"key": f"drawer {self._drawer}", "coin": "box"}.get(what)
        if place is None or place not in self._opened or what in self._held:
            return NOTHING
        self._held.add(what)
        return f"You take the {what}."

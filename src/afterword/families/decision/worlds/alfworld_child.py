"""The program of an ALFWorld game: one game file, played as its library plays it."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable, Mapping
from typing import Protocol

from afterword.families.decision.worlds.serving import serve


class _State(Protocol):
    """What the library tells after each command."""

    feedback: str
    won: bool
    facts: Iterable[object]


class _Game(Protocol):
    def reset(self) -> _State: ...

    def step(self, command: str) -> tuple[_State, float, bool]: ...


class Alfworld:
    """A game, with its state hashed from the facts that hold in it."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        textworld = importlib.import_module("textworld")  # it has no type information
        library = importlib.import_module("alfworld.agents.environment.alfred_tw_env")
        infos = textworld.EnvInfos(won=True, facts=True)
        self._game: _Game = textworld.start(str(settings["file"]), infos, wrappers=[library.AlfredDemangler])
        self._state: _State | None = None

    def reset(self) -> str:
        """Starts the game anew."""
        self._state = self._game.reset()
        return self._state.feedback

    def step(self, action: str) -> tuple[str, bool, bool, float]:
        """Plays one command; a game that is won is over, and nothing else ends it."""
        self._state, _, done = self._game.step(action)
        won = bool(self._state.won)
        return self._state.feedback, bool(done), won, float(won)

    def fingerprint(self) -> str:
        """A hash of the facts that hold, whatever their order."""
        facts = sorted(str(fact) for fact in self._state.facts) if self._state is not None else []
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()


if __name__ == "__main__":
    serve(Alfworld)

"""The program of a TextWorld Express game: its Python door and, behind that, its Java machine."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from typing import Protocol, TypedDict

from afterword.families.decision.worlds.serving import serve

_ENDLESS = 1_000_000
"""The library ends an episode after so many steps; how many a trial has is the actor's to count."""


class _Infos(TypedDict):
    look: str
    inventory: str
    validActions: list[str]
    score: float
    tasksuccess: bool
    taskfailure: bool


class _Library(Protocol):
    def reset(self, *, seed: int, gameFold: str, gameName: str, gameParams: str) -> tuple[str, _Infos]: ...  # noqa: N803

    def step(self, action: str) -> tuple[str, float, bool, _Infos]: ...

    def getTaskDescription(self) -> str: ...  # noqa: N802


class Express:
    """One game of one seed. `help` lists what can be done now, since each game has words of its own."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        library = importlib.import_module("textworld_express")  # it has no type information
        self._game: _Library = library.TextWorldExpressEnv(envStepLimit=_ENDLESS)
        self._settings = settings
        self._infos: _Infos | None = None

    def reset(self) -> str:
        """Makes the game of this seed anew."""
        observation, self._infos = self._game.reset(
            seed=int(str(self._settings["seed"])),
            gameFold=str(self._settings["fold"]),
            gameName=str(self._settings["game"]),
            gameParams=str(self._settings["params"]),
        )
        return f"{self._game.getTaskDescription().strip()}\n{observation.strip()}\n{self._possible()}"

    def step(self, action: str) -> tuple[str, bool, bool, float]:
        """Plays one action; case and a full stop at its end do not matter. A failed game is over and not won."""
        command = " ".join(action.lower().split()).removesuffix(".")
        if command == "help":
            return self._possible(), False, False, self._score()
        observation, _, _, self._infos = self._game.step(command)
        won, lost = bool(self._infos["tasksuccess"]), bool(self._infos["taskfailure"])
        return observation.strip(), won or lost, won, self._score()

    def fingerprint(self) -> str:
        """A hash of what there is to see, to have and to do."""
        infos = self._infos
        seen = [] if infos is None else [infos["look"], infos["inventory"], sorted(infos["validActions"])]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()

    def _score(self) -> float:
        return 0.0 if self._infos is None else min(1.0, max(0.0, float(self._infos["score"])))

    def _possible(self) -> str:
        return f"Possible actions: {', '.join(sorted(self._infos['validActions']))}." if self._infos else ""


if __name__ == "__main__":
    serve(Express)

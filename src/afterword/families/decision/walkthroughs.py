"""A game's own walkthrough, played: whether it wins here, as it should before an agent's trials mean anything."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from afterword.families.decision.worlds.alfworld import AlfworldGame, AlfworldWorld, game_process
from afterword.families.decision.worlds.child import ChildWorld


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a walkthrough."""

    won: bool
    commands: int
    message: str = ""
    """What went wrong; empty when it won."""


GAMES_OF_A_PROCESS = 25
"""The library keeps some 4 MB of every game that it has played."""


class Walkthroughs:
    """Plays walkthroughs, in as many processes as there are games at a time; each plays many games."""

    def __init__(self) -> None:
        self._idle: list[tuple[ChildWorld, int]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for host, _ in self._idle:
            await host.close()

    async def play(self, game: AlfworldGame) -> Played:
        """Plays the walkthrough of a game; it has to win at its last command, and at no other.

        Raises:
            InputError: the game file cannot be read.
            MissingExtra: the library is not installed.
            WorldFault: the game broke.
        """
        host, games = self._idle.pop() if self._idle else (game_process("a game of ALFWorld"), 0)
        try:
            played = await _play(game, game.open(host))
        except BaseException:
            await host.close()
            raise
        if games + 1 < GAMES_OF_A_PROCESS:
            self._idle.append((host, games + 1))
        else:
            await host.close()
        return played


async def _play(game: AlfworldGame, world: AlfworldWorld) -> Played:
    commands = game.walkthrough()
    if not commands:
        return Played(False, 0, "the game has no walkthrough")
    try:
        await world.reset()
        for number, command in enumerate(commands, start=1):
            answer = await world.step(command)
            if answer.won and number < len(commands):
                return Played(False, number, f"won already at command {number} of {len(commands)}: {command!r}")
            if answer.observation == "Nothing happens.":
                return Played(False, number, f"nothing happened at command {number}: {command!r}")
    finally:
        await world.close()
    return Played(answer.won, len(commands), "" if answer.won else f"not won after all {len(commands)} commands")

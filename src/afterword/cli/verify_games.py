"""`afterword verify alfworld`: every game's own walkthrough is played, and has to win."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from afterword.errors import InputError
from afterword.experiments.in_order import in_order
from afterword.families.decision.walkthroughs import Played, Walkthroughs
from afterword.families.decision.worlds.alfworld import AlfworldGame, load_alfworld

SPLIT = "valid_unseen"
"""The split of the paper's 134 tasks."""


@dataclass(slots=True)
class _Tally:
    as_json: bool
    won: int = 0
    commands: int = 0
    lost: list[dict[str, str]] = field(default_factory=list)

    def tell(self, game: AlfworldGame, played: Played) -> None:
        """Counts a game, and tells one that was not won."""
        self.won += played.won
        self.commands += played.commands
        if not played.won:
            self.lost.append({"id": game.id, "message": played.message})
            if not self.as_json:
                sys.stdout.write(f"✗ {game.id}: {played.message}\n")


def verify_alfworld(
    data: Path,
    *,
    split: str | None = None,
    language: str | None = None,
    jobs: int = 1,
    limit: int | None = None,
    ids: Sequence[str] | None = None,
    as_json: bool = False,
) -> bool:
    """Plays the walkthroughs of a split; returns whether all of them win.

    Raises:
        InputError: an option is wrong, or the folder is not one of ALFWorld games.
    """
    if limit is not None and limit < 1:
        raise InputError(f"--limit takes a number from 1, found {limit}")
    games = list(load_alfworld(data, split or SPLIT, language=language or "new"))
    if ids is not None:
        if missing := [one for one in ids if one not in {game.id for game in games}]:
            raise InputError(f"there is no game {missing[0]!r} in {split or SPLIT}")
        games = [game for game in games if game.id in ids]
    games = games[:limit]
    tally = _Tally(as_json)
    anyio.run(_play_all, games, jobs, tally)
    name = f"alfworld {split or SPLIT}, {language or 'new'} language"
    if as_json:
        counts = {"games": len(games), "won": tally.won, "commands": tally.commands}
        told = {"benchmark": name, **counts, "lost": tally.lost}
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        sys.stdout.write(f"{name}: {tally.won} of {len(games)} walkthroughs win, {tally.commands} commands\n")
    return tally.won == len(games)


async def _play_all(games: Sequence[AlfworldGame], jobs: int, tally: _Tally) -> None:
    async with Walkthroughs() as player:
        await in_order(games, jobs, player.play, tally.tell)

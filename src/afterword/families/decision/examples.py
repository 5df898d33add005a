"""The worked examples of the actor's prompts: files beside them, in the language that a game speaks."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from afterword.families.decision.play import Demonstration, read_play
from afterword.families.decision.worlds.alfworld import AlfworldGame, to_old_command

ALFWORLD_HELP = (
    "go to PLACE, open PLACE, close PLACE, take THING from PLACE, {put}, clean THING with PLACE, "
    "heat THING with PLACE, cool THING with PLACE, use THING, examine THING, look, inventory; "
    "things and places are written with their number, as in mug 2"
)
EXPRESS_HELP = "what is listed as possible; `help` lists what is possible now"
WEBSHOP_HELP = "search[WORDS] where there is a search field, and click[LABEL] for a label that stands in brackets"

_MOVED = re.compile(r"You move the (.+) to the (.+)\.")
_ARRIVED = re.compile(r"You arrive at [a-z]+ \d+\. ")


def alfworld_examples(game: AlfworldGame) -> tuple[Demonstration, ...]:
    """The two examples of the game's task type, in its language."""
    return tuple(
        Demonstration(goal, start, read_play(play if game.rules is None else _old_language(play)))
        for goal, start, play in _read("alfworld_examples.toml").get(game.task_type, ())
    )


def alfworld_help(game: AlfworldGame) -> str:
    """The forms of an action in the game's language."""
    return ALFWORLD_HELP.format(put="move THING to PLACE" if game.rules is None else "put THING in/on PLACE")


def express_examples() -> tuple[Demonstration, ...]:
    """Two examples for any game of TextWorld Express."""
    return _plain("express_examples.toml")


def webshop_examples() -> tuple[Demonstration, ...]:
    """Two examples for WebShop."""
    return _plain("webshop_examples.toml")


def _plain(file: str) -> tuple[Demonstration, ...]:
    return tuple(Demonstration(goal, start, read_play(play)) for goal, start, play in _read(file)["any"])


def _old_language(play: str) -> str:
    lines = []
    for line in play.split("\n"):
        told = _ARRIVED.sub("", _MOVED.sub(r"You put the \1 in/on the \2.", line))
        lines.append(f"> {to_old_command(line[2:])}" if line.startswith("> ") else told)
    return "\n".join(lines)


@cache
def _read(file: str) -> dict[str, list[tuple[str, str, str]]]:
    text = (resources.files("afterword.families.decision") / "prompts" / file).read_text("utf-8")
    return {
        kind: [(str(row["goal"]), str(row["start"]), str(row["play"])) for row in rows]
        for kind, rows in tomllib.loads(text).items()
    }

"""TextWorld Express: eight kinds of small games, made anew from a seed; quick enough for everyday tests.

Its engine is a Java program, so it runs in a process of its own as ALFWorld does.
"""

from __future__ import annotations

import difflib
import shutil
import subprocess
from dataclasses import dataclass

from afterword.errors import InputError
from afterword.families.decision.worlds.child import ChildWorld

GAMES = ("arithmetic", "coin", "cookingworld", "mapreader", "peckingorder", "simonsays", "sorting", "twc")
FOLDS = ("train", "dev", "test")
JAVA = 17
_CHILD = "afterword.families.decision.worlds.textworld_express_child"


def express_world(game: str, seed: int = 0, *, fold: str = "train", params: str = "") -> ChildWorld:
    """The game of a seed; nothing is started before its first reset.

    Raises:
        InputError: there is no such game or fold.
    """
    if game not in GAMES:
        close = difflib.get_close_matches(game, GAMES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(GAMES)}"
        raise InputError(f"unknown game {game!r} of TextWorld Express; {hint}")
    if fold not in FOLDS:
        raise InputError(f"--split takes {', '.join(FOLDS)} with TextWorld Express, found {fold!r}")
    settings = {"game": game, "seed": seed, "fold": fold, "params": params}
    return ChildWorld(_CHILD, settings, name=f"{game} (seed {seed})", package="textworld-express")


@dataclass(frozen=True, slots=True)
class Java:
    """The Java that is found here: its version, or why the games cannot be played with it."""

    version: str = ""
    problem: str = ""


def find_java() -> Java:
    """The Java runtime on the path, asked for its version."""
    java = shutil.which("java")
    if java is None:
        return Java(problem=f"TextWorld Express needs Java {JAVA} or newer, and there is none; install a Java runtime")
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Java(problem=f"TextWorld Express needs Java {JAVA} or newer, and {java} does not run: {error}")
    words = said.stderr.replace('"', " ").split()
    version = next((word for word in words if word[0].isdigit()), "0")
    major = int(version.split(".")[0]) if version.split(".")[0].isdecimal() else 0
    if major < JAVA:
        return Java(problem=f"TextWorld Express needs Java {JAVA} or newer, found {version}")
    return Java(version)


def java_problem() -> str:
    """Why the games cannot be played here for want of Java; empty when they can."""
    return find_java().problem

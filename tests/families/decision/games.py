"""What tests with real games need: the libraries, Java and the game files; each skips with its reason."""

from __future__ import annotations

import importlib.util

from tests.needs import missing

from afterword.families.decision.worlds.textworld_express import java_problem


def need_alfworld() -> None:
    """Skips where the library is not installed."""
    if importlib.util.find_spec("alfworld") is None:
        missing("ALFWorld (the extra `games`)")


def need_express() -> None:
    """Skips where the library or Java is missing."""
    if importlib.util.find_spec("textworld_express") is None:
        missing("TextWorld Express (the extra `games`)")
    if problem := java_problem():
        missing(f"Java ({problem})")

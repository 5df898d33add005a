"""What tests with real games need: the libraries, Java and the game files; each skips with its reason."""

from __future__ import annotations

import importlib.util

import pytest

from afterword.families.decision.worlds.textworld_express import java_problem


def need_alfworld() -> None:
    """Skips where the library is not installed."""
    if importlib.util.find_spec("alfworld") is None:
        pytest.skip("ALFWorld is not installed: pip install 'afterword[games]'")


def need_express() -> None:
    """Skips where the library or Java is missing."""
    if importlib.util.find_spec("textworld_express") is None:
        pytest.skip("TextWorld Express is not installed: pip install 'afterword[games]'")
    if problem := java_problem():
        pytest.skip(problem)

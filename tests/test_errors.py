"""The tree of exceptions is as drawn, and each says what it must."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from afterword import errors
from afterword.errors import (
    AfterwordError,
    BudgetExhausted,
    ComponentFault,
    Fault,
    InputError,
    MissingExtra,
    ModelFault,
    RateLimited,
    UnknownPrice,
)


def drawn_tree() -> dict[str, str]:
    """Each name of the drawing with the name above it."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([ │├└─]*)([A-Z]\w+)(\s{2,}|$)", line)
        if found is None:
            continue
        depth, name = len(found[1]), found[2]
        while above and above[-1][0] >= depth:
            above.pop()
        parents[name] = above[-1][1] if above else "Exception"
        above.append((depth, name))
    return parents


def test_the_tree_is_as_drawn() -> None:
    defined = {
        name: kind.__bases__[0].__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, BaseException)
    }
    assert drawn_tree() == defined


def test_running_out_is_neither_bad_input_nor_a_fault() -> None:
    assert not issubclass(BudgetExhausted, (InputError, Fault))


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        (None, None, "no check"),
        (Path("t/task.toml"), None, "t/task.toml: no check"),
        (Path("t/task.toml"), 3, "t/task.toml:3: no check"),
    ],
)
def test_bad_input_names_its_place(file: Path | None, line: int | None, text: str) -> None:
    error = InputError("no check", file=file, line=line)
    assert str(error) == text
    assert (error.message, error.file, error.line) == ("no check", file, line)


def test_a_refusal_carries_its_numbers() -> None:
    error = BudgetExhausted("cost", 0.5, 0.75)
    assert (error.limit, error.allowed, error.needed) == ("cost", 0.5, 0.75)
    assert "cost budget of 0.5" in str(error)


def test_a_model_fault_carries_its_model() -> None:
    error = RateLimited("still 429 after 5 tries", model="openai:x")
    assert isinstance(error, ModelFault)
    assert error.model == "openai:x"


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (UnknownPrice("openai:x"), "--price"),
        (MissingExtra("local", "xllamacpp"), "pip install 'afterword[local]'"),
    ],
)
def test_bad_input_says_what_to_do_in_one_line(error: AfterwordError, remedy: str) -> None:
    assert remedy in str(error)
    assert "\n" not in str(error)


def test_a_component_fault_names_role_and_cause() -> None:
    assert str(ComponentFault("actor", KeyError("x"))) == "the actor raised KeyError: 'x'"

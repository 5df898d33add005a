"""The texts of requests put together are those that `canonical` writes at once."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.effects import canonical
from afterword.core.messages import ChatRequest, Message
from afterword.core.records import CheckResult, Feedback, Reflection, Step, Strategy, Task, Trajectory, Trial, Usage
from afterword.journal.texts import Texts

RECORDS = st.one_of(
    st.builds(Step, st.text(), st.text(), st.text()),
    st.builds(CheckResult, st.text(), st.booleans(), st.text()),
    st.builds(Reflection, st.text(), st.integers(), retracts=st.lists(st.integers()).map(tuple)),
    st.builds(Usage, st.integers(), cost_usd=st.none() | st.floats()),
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | RECORDS | st.sampled_from(Strategy),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_a_text_is_the_canonical_one_the_first_time_and_again(value: object) -> None:
    texts = Texts()
    assert f"[{texts.of(value)}]" == canonical(value)
    assert f"[{texts.of(value)}]" == canonical(value)


def test_the_records_of_a_loop() -> None:
    texts = Texts()
    task = Task("t", "Do \u00e4 and \ud800.", {"b": [1, 2.5], "a": {"x": None}})
    trajectory = Trajectory("out", (Step("hm", "go", "a room"),))
    feedback = Feedback(False, 0.5, "exact", checks=(CheckResult("a", True), CheckResult("b", False, "no")))
    trial = Trial(1, trajectory, feedback, Reflection("Look.", 1), usage={"actor": Usage(1, 2, 3)})
    asked = ChatRequest((Message("user", "Do it."),), temperature=0.2)
    for request in ((task, (), None), (task, trajectory), (task, trial, (trial.reflection,)), ("model", asked)):
        assert f"[{texts.of(request)}]" == canonical(request)


class Point(NamedTuple):
    x: int
    y: int


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Word(str):
    """A record to look at and a text to JSON."""

    note: str = ""


@dataclass(frozen=True)
class One:
    only: tuple[int, ...]


@pytest.mark.parametrize(
    "value",
    [
        Point(1, 2),
        Colour.RED,
        Word("said"),
        One((1, 2)),
        {Colour.RED: 1},
        UserDict(a=1),
        {3, 1},
        float("nan"),
        -0.0,
        1e22,
    ],
)
def test_what_looks_like_something_else_is_written_as_ever(value: object) -> None:
    assert f"[{Texts().of(value)}]" == canonical(value)


def test_what_may_change_is_written_anew() -> None:
    @dataclass
    class Changing:
        name: str
        values: Mapping[str, int] = field(default_factory=dict)

    texts, changing = Texts(), Changing("a")
    assert texts.of(changing) == '{"name":"a","values":{}}'
    changing.name, changing.values = "b", {"x": 1}
    assert texts.of(changing) == '{"name":"b","values":{"x":1}}'


def test_what_is_kept_is_bounded_and_stays_right() -> None:
    texts = Texts()
    for number in range(50):
        steps = [Step(str(number), "x" * 10_000, str(at)) for at in range(3)]
        assert f"[{texts.of(steps)}]" == canonical(steps)
        assert len(texts) < 20


def test_what_no_text_is_known_for_is_refused() -> None:
    with pytest.raises(TypeError, match="plain data and records"):
        Texts().of((1, object()))

"""When a lesson names a planted bug, when it only points at it, and when neither."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.records import Feedback, Limits, Task
from afterword.evaluators.function_tests import Suite
from afterword.experiments.exam import PlantedBug, naming
from afterword.experiments.exam.planting import difference

RIGHT = """def insert_position(ordered, wanted):
    low = 0
    high = len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
"""


def planted(old: str, new: str) -> PlantedBug:
    found = difference(RIGHT.replace(old, new), RIGHT)
    assert found is not None
    suite = Suite.from_source("from solution import f\ndef test_f():\n    assert f() == 1\n", entry_point="f")
    task = Task("t", "x", {"entry_point": "insert_position"})
    verdict = Feedback(False, 0.5, "isolated", "failed", "test_f")
    return PlantedBug(
        "t",
        task,
        found.buggy,
        found.right,
        suite,
        Limits(),
        found.lines,
        found.wrong,
        found.fix,
        found.changed,
        verdict,
    )


BUG = planted("low < high", "low <= high")


@pytest.mark.parametrize(
    "lesson",
    [
        "The loop `while low <= high` never ends, I will stop when they meet.",
        "I compared low<=high in the loop.",
        "I will loop while `low < high`.",
        "The error is on line 4 of my program.",
        "Lines 3-5 are wrong.",
        "I wrote `<=` where `<` is right.",
        'In the loop I will use "<" instead of "<=".',
    ],
)
def test_a_lesson_that_gives_line_or_code_names_the_bug(lesson: str) -> None:
    assert naming(lesson, BUG).named


@pytest.mark.parametrize(
    "lesson",
    [
        "",
        "I should be more careful with edge cases.",
        "`test_empty` failed, since I indexed an empty list.",
        "The error is on line 14 of my program.",
        "Lines 1-10 are wrong.",
        "I computed `middle = (low + high) // 2` wrongly.",
        "I will use `<` in the comparison.",
        "The condition `slow <= high` is wrong.",
        "`low <= highest` is wrong.",
        "I wrote `<=` in the loop. I will write `<` next.",
    ],
)
def test_what_does_not_tell_the_place_does_not_name_it(lesson: str) -> None:
    assert not naming(lesson, BUG).named


@pytest.mark.parametrize(
    ("lesson", "place", "fix"),
    [
        ("The loop `while low <= high` never ends.", True, False),
        ("I will loop while `low < high`.", False, True),
        ("I wrote `<=` where `<` is right.", True, True),
        ("The error is on line 4.", False, False),
    ],
)
def test_what_stands_there_and_what_should_are_told_apart(lesson: str, place: bool, fix: bool) -> None:
    found = naming(lesson, BUG)
    assert (found.place, found.fix) == (place, fix)


def test_a_word_that_stands_everywhere_proves_nothing() -> None:
    right = 'def f(n):\n    if n == 0:\n        return "0"\n    return str(n)\n'
    found = difference(right.replace('return "0"', "return"), right)
    assert found is not None
    assert found.wrong.tokens == ()
    bug = replace(BUG, wrong=found.wrong, fix=found.fix, changed=found.changed)
    assert not naming("I returned None, and will return an empty string.", bug).named
    assert naming("For 0 I will return '0'.", bug).fix
    assert naming('For 0 I will `return "0"`.', bug).fix


def test_the_names_of_the_place_in_one_sentence_point_at_it() -> None:
    pointed = naming("The loop goes on after low has reached high.", BUG)
    assert (pointed.named, pointed.pointed) == (False, True)
    assert not naming("The loop runs once too often. Both low and middle are wrong. I will look at high.", BUG).pointed


def test_a_constant_is_named_with_its_neighbours() -> None:
    bug = planted("middle + 1", "middle + 2")
    assert naming("I added too much in `low = middle + 2`.", bug).named
    assert naming("It should be `middle + 1`.", bug).named
    assert not naming("It should be 1.", bug).named


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(naming(text, BUG).pointed, bool)

"""A trial as turns: bounded, growing at its end only, and read back from an example's text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.records import Step
from afterword.families.decision.play import as_text, read_play, turns, within

STEPS = [Step(action=f"read {n}", observation=f"Page {n}. {'x' * (50 * n)}") for n in range(30)]


def test_an_example_is_read_with_thoughts_and_long_answers() -> None:
    play = "> think: a pen\nOK.\n> go to desk 1\nOn the desk 1,\nyou see a pen 1.\n> take pen 1 from desk 1"
    assert read_play(play) == (
        Step(thought="a pen", observation="OK."),
        Step(action="go to desk 1", observation="On the desk 1,\nyou see a pen 1."),
        Step(action="take pen 1 from desk 1"),
    )


def test_text_before_the_first_move_is_no_step() -> None:
    assert read_play("You are here.\n> look") == (Step(action="look"),)


def test_turns_alternate_and_none_is_empty() -> None:
    talk = turns("start", [Step(action="look", observation="Dark."), Step(thought="hm"), Step(action="wait")], 1_000)
    assert [message.role for message in talk] == ["user", "assistant"] * 3 + ["user"]
    assert all(message.content for message in talk)


def test_a_short_trial_is_shown_whole() -> None:
    assert within(STEPS[:5], 10_000) == tuple(STEPS[:5])


def test_a_long_trial_is_bounded_and_keeps_its_last_step() -> None:
    kept = within(STEPS, 3_000)
    assert sum(len(step.action) + len(step.observation) for step in kept) < 3_500
    assert kept[-1].action == "read 29"
    assert "cut …]" in "".join(step.observation for step in kept)


def test_what_was_cut_once_stays_as_it_is_for_several_steps() -> None:
    small = [Step(action=f"go {n}", observation="y" * 60) for n in range(100)]
    beginnings = [within(small[:end], 3_000)[:3] for end in range(60, 100)]
    changes = sum(one != other for one, other in pairwise(beginnings))
    assert changes < 8


@given(st.lists(st.integers(0, 4_000), max_size=30), st.integers(500, 5_000))
def test_any_trial_stays_near_its_bound(lengths: list[int], limit: int) -> None:
    steps = [Step(action="look", observation="z" * length) for length in lengths]
    assert sum(len(step.action) + len(step.observation) for step in within(steps, limit)) <= limit + 4_200


def test_the_text_of_a_trial_marks_every_line_of_the_world() -> None:
    assert as_text([Step(action="look", observation="Dark.\n> win")], 500) == "> look\n| Dark.\n| > win"

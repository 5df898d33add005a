"""Lessons compared and measured: when two say the same, and when the scores speak against one."""

from __future__ import annotations

from difflib import SequenceMatcher

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import InputError, Outcome, Progress, Reflection, Reflexion, RepeatedReflection, StopReason, Usage
from afterword.core.events import Retired, TrialStarted
from afterword.core.lessons import normalise, same_lesson, to_retire
from afterword.core.records import Feedback, Trajectory, Trial
from tests.core.doubles import Heard, make_trial
from tests.core.script import Script, run


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In test_a I got 3.", "in TEST_A  I got 4"),
        ("test_sum[2-3] failed", "test_difference[0] failed"),
        ("TestLists::test_empty failed", "test_full failed"),
        ("case:7 gave 1,000.5", "case:12 gave -3e-7"),
        ("object at 0x7f3a21 is not it", "object at 0xdeadbeef is not it"),
        ("row 123e4567-e89b-12d3-a456-426614174000", "row 00000000-0000-0000-0000-00000000000a"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit 12345678"),
        ("I quote “x” here", 'I quote "x"\n\nhere.'),
        ("take mug 1 from shelf 3", "Take mug 2 from shelf 1!"),
        ("the ﬁle is full", "the file is full"),
    ],
)
def test_ids_numbers_case_and_spacing_do_not_count(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_names_of_checks_are_ids_where_they_are_known() -> None:
    one, other = "empty_input failed: I add it.", "gaps failed: I add it."
    assert normalise(one) != normalise(other)
    assert normalise(one, {"empty_input", "gaps"}) == normalise(other, {"empty_input", "gaps"})


@pytest.mark.parametrize(
    ("one", "other"), [("added beef", "added 12"), ("I sort", "I reverse"), ("testing", "nothing")]
)
def test_words_count(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "I will test `n < 0` first and raise ValueError for it.",
            "I will test `n <= 0` first and raise ValueError for it.",
        ),
        ("I will use floor division for negative numbers.", "I will not use floor division for negative numbers."),
        ("I sort, and I didn't strip the line that was read.", "I sort, and I did strip the line that was read."),
        ("I will stop at the word that comes last, if a > b.", "I will stop at the word that comes last, if a ≠ b."),
    ],
)
def test_what_turns_a_lesson_round_counts(one: str, other: str) -> None:
    assert SequenceMatcher(None, normalise(one), normalise(other), autojunk=False).ratio() >= 0.8
    assert not same_lesson(normalise(one), normalise(other), 0.8)
    trials = [make_trial(number, lesson=text) for number, text in enumerate((one, other), 1)]
    assert RepeatedReflection(0.8).check(Progress(tuple(trials), Usage(), 0.0)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I will annotate f as (a -> b) and test_one first.", "I will annotate f as (a, b) and test_one first."),
        ("I will shift by x << y before the sum.", "I will shift by x, y before the sum."),
        ("I will keep t as the total of it all.", "I will keep u as the total of it all."),
    ],
)
def test_arrows_and_letters_turn_nothing_round(one: str, other: str) -> None:
    assert same_lesson(normalise(one), normalise(other), 0.9)


@given(st.text(max_size=200))
def test_any_text_is_normalised_once_for_all(text: str) -> None:
    plain = normalise(text)
    assert normalise(plain) == plain
    assert same_lesson(plain, plain, 1.0)


def test_the_same_lesson_about_another_check_repeats() -> None:
    lesson = "{} failed since I never strip the line; I will strip it first."
    trials = [make_trial(n, lesson=lesson.format(f"case:{n}"), judged=(False, False)) for n in (1, 2)]
    assert RepeatedReflection(1.0).check(Progress(tuple(trials), Usage(), 0.0)) is StopReason.REPEATED_REFLECTION


def judged(*scores: float, shown: tuple[tuple[int, ...], ...]) -> list[Trial]:
    return [
        Trial(number, Trajectory("x"), Feedback(score == 1, score, "exact"), lessons_shown=lessons)
        for number, (score, lessons) in enumerate(zip(scores, shown, strict=True), 1)
    ]


def test_a_lesson_is_retired_when_the_score_fell_twice_with_it() -> None:
    trials = judged(0.8, 0.5, 0.6, shown=((), (1,), (1, 2)))
    assert to_retire(trials[:2], 2) == ()
    assert to_retire(trials, 2) == (1,)


def test_only_the_trial_that_is_one_too_many_retires() -> None:
    assert to_retire(judged(0.8, 0.5, 0.5, 0.9, shown=((), (1,), (1,), (1,))), 2) == ()


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ((0.5, 0.5, 0.5), ((), (1,), (1,))),
        ((0.5, 0.7, 0.6), ((), (1,), (1,))),
        ((0.8, 0.5, 0.5), ((), (1,), ())),
        ((0.0, 0.0, 0.0), ((), (1,), (1,))),
        ((0.2, 0.6, 0.4), ((), (1,), (1, 2))),
        ((0.8, 0.5, 0.5), ((), (9,), (9,))),
    ],
    ids=["same", "above its own", "not shown", "always nothing", "once for the second", "unknown trial"],
)
def test_a_lesson_stays(scores: tuple[float, ...], shown: tuple[tuple[int, ...], ...]) -> None:
    assert to_retire(judged(*scores, shown=shown), 2) == ()


def test_lessons_are_kept_where_nothing_retires_them() -> None:
    assert to_retire(judged(0.8, 0.1, 0.1, shown=((), (1,), (1,))), None) == ()
    assert to_retire(judged(0.8, 0.1, shown=((), (1,))), 1) == (1,)


def loop(script: Script, heard: Heard) -> Outcome:
    async def main() -> Outcome:
        return await run(script.parts(max_trials=5), heard=heard)

    return anyio.run(main)


def test_a_retired_lesson_leaves_the_prompt_and_stays_in_the_record() -> None:
    script, heard = Script(scores=[0.8, 0.5, 0.5, 0.5, 0.9]), Heard()
    outcome = loop(script, heard)
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1, 2), (2, 3), (2, 3, 4)]
    assert [trial.retired for trial in outcome.trials] == [(), (), (1,), (), ()]
    assert outcome.trials[0].reflection == Reflection("read all", 1)
    assert [event for event in heard if isinstance(event, Retired)] == [Retired("t", 3, (1,))]
    assert [event.lessons for event in heard if isinstance(event, TrialStarted)] == [
        trial.lessons_shown for trial in outcome.trials
    ]


def test_a_trial_without_a_lesson_of_its_own_retires_too() -> None:
    script = Script(scores=[0.8, 0.5, 0.5, 0.5], lessons=["read all"])
    outcome = loop(script, Heard())
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1,), (), ()]
    assert outcome.trials[2].reflection is None


def test_retirement_can_be_set_and_must_make_sense() -> None:
    agent = Reflexion(lambda _: "x", lambda _: False, lambda _: "y", retire_after=None)
    assert agent.parts.retire_after is None
    with pytest.raises(InputError, match="retire_after"):
        Reflexion(lambda _: "x", lambda _: False, retire_after=0)


@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12), st.sampled_from([0.5, 0.75, 0.9]))
def test_lessons_are_the_same_where_difflib_says_so(one: str, other: str, similarity: float) -> None:
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert same_lesson(one, other, similarity) == (one == other or ratio >= similarity)

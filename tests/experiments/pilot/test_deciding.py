"""The answer of a pilot: which of five, when it is clear, and how often it is wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.errors import InputError
from afterword.experiments.pilot import Answer, Counts, Rules, answer_of, is_clear, tasks_missing
from afterword.experiments.pilot.simulated import Truth, simulate

RULES = Rules()
EQUAL = Truth(spread=0.0)


@pytest.mark.parametrize(
    ("counts", "answer"),
    [
        (Counts(), Answer.MORE),
        (Counts(0, 4, 6), Answer.MORE),
        (Counts(0, 9, 11), Answer.USE),
        (Counts(1, 1, 80), Answer.RETRY),
        (Counts(0, 0, 60), Answer.RETRY),
        (Counts(3, 3, 3), Answer.MORE),
        (Counts(12, 0, 8), Answer.LESSONS),
        (Counts(1, 1, 80, useful={0.0: 40, 1.0: 1}), Answer.LESSONS),
        (Counts(1, 1, 80, useful={0.0: 10, 1.0: 30}), Answer.RETRY),
        (Counts(1, 1, 80, sound={0.0: 40}), Answer.LESSONS),
        (Counts(0, 9, 11, useful={0.0: 40}), Answer.USE),
        (Counts(0, 9, 11, wrong={1.0: 8, 0.0: 8}), Answer.EVALUATOR),
        (Counts(0, 2, 18, wrong={1.0: 1, 0.0: 19}), Answer.MORE),
    ],
)
def test_the_answer_follows_from_the_counts(counts: Counts, answer: Answer) -> None:
    assert answer_of(counts, RULES) is answer


@pytest.mark.parametrize(
    ("counts", "named", "bugs", "answer"),
    [
        (Counts(1, 1, 80), 0, 16, Answer.LESSONS),
        (Counts(1, 1, 80), 2, 16, Answer.RETRY),
        (Counts(1, 1, 80), 8, 16, Answer.RETRY),
        (Counts(), 0, 16, Answer.MORE),
        (Counts(0, 9, 11), 0, 16, Answer.USE),
    ],
)
def test_an_exam_gives_a_reason_and_no_answer(counts: Counts, named: int, bugs: int, answer: Answer) -> None:
    assert answer_of(counts, Rules(exam_named=named, exam_bugs=bugs)) is answer


def test_an_exam_of_more_names_than_bugs_is_refused() -> None:
    with pytest.raises(InputError, match="3 of 2"):
        Rules(exam_named=3, exam_bugs=2)


def test_retry_waits_while_lessons_may_be_the_reason() -> None:
    clear = Counts(1, 1, 80, useful={0.0: 3, 1.0: 7})
    assert is_clear(clear, RULES)
    waiting = replace(clear, useful={0.0: 9, 1.0: 1})
    assert answer_of(waiting, RULES) is Answer.RETRY
    assert not is_clear(waiting, RULES)
    assert is_clear(replace(clear, useful={0.0: 39, 1.0: 11}), RULES)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 60))
def test_the_other_tasks_never_make_a_difference_of_arms(first: int, second: int, ties: int) -> None:
    swapped = answer_of(Counts(second, first, ties), RULES), answer_of(Counts(first, second, ties), RULES)
    assert swapped.count(Answer.USE) <= 1


def test_so_many_more_tasks_like_these_do_give_an_answer() -> None:
    counts = Counts(2, 7, 31)
    more = tasks_missing(counts, RULES)
    assert more is not None
    assert answer_of(counts.projected(more), RULES) is not Answer.MORE
    assert answer_of(counts.projected(more - 1), RULES) is Answer.MORE


def test_what_no_number_of_tasks_would_tell_is_out_of_reach() -> None:
    assert tasks_missing(Counts(0, 400, 3600), replace(RULES, margin=0.1)) is not None
    assert tasks_missing(Counts(5, 5, 5), replace(RULES, margin=0.001)) is None


def test_one_task_promises_no_early_answer() -> None:
    more = tasks_missing(Counts(0, 1, 0), RULES)
    assert more is not None
    assert more > 5


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"margin": 1.0}, {"false_positives": -1.0}])
def test_rules_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="takes a number between 0 and"):
        Rules(**wrong)


def at_most(share: float, pilots: int) -> float:
    """What a share of `alpha` may come to in so many draws."""
    return share + 2.5 * math.sqrt(share * (1 - share) / pilots)


@pytest.mark.parametrize("pilots", [120, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_equal_arms_are_seldom_told_apart_at_any_time(pilots: int) -> None:
    found = simulate(EQUAL, RULES, pilots=pilots)
    assert found.share(Answer.USE) <= at_most(RULES.alpha, pilots)
    assert found.share(Answer.EVALUATOR) == 0


@pytest.mark.parametrize("pilots", [120, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_a_gain_of_the_margin_is_seldom_called_none(pilots: int) -> None:
    found = simulate(replace(EQUAL, gain=RULES.margin, useful=0.1), RULES, pilots=pilots)
    assert found.share(Answer.RETRY) + found.share(Answer.LESSONS) <= at_most(RULES.alpha, pilots)


@pytest.mark.parametrize("pilots", [120, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_an_evaluator_at_the_bound_is_seldom_blamed_and_a_bad_one_mostly(pilots: int) -> None:
    bound = simulate(replace(EQUAL, wrong=RULES.false_positives), RULES, pilots=pilots)
    assert bound.share(Answer.EVALUATOR) <= at_most(RULES.alpha, pilots)
    bad = simulate(replace(EQUAL, wrong=0.4), RULES, pilots=pilots)
    assert bad.share(Answer.EVALUATOR) >= 0.9


def test_a_large_gain_is_found_with_few_tasks() -> None:
    found = simulate(replace(EQUAL, gain=0.25), RULES, pilots=80)
    assert found.share(Answer.USE) >= 0.95
    assert found.tasks[Answer.USE] <= 60


def test_useless_lessons_are_named() -> None:
    found = simulate(Truth(first=0.3, later=0.05, useful=0.05), RULES, pilots=80)
    assert found.share(Answer.LESSONS) >= 0.8

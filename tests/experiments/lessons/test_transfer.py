"""Transfer: first trials with and without rules, on tasks that gave none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.experiments.lessons import FirstTrial, transfer
from afterword.experiments.lessons.transfer import mcnemar


def trials(passed: dict[str, bool], seed: int = 0) -> list[FirstTrial]:
    return [FirstTrial(task, seed, ok, float(ok)) for task, ok in passed.items()]


def test_only_pairs_of_tasks_that_gave_no_lesson_count() -> None:
    without = trials({"a": False, "b": False, "c": True, "d": False, "own": False, "lone": True})
    ruled = trials({"a": True, "b": False, "c": True, "d": True, "own": True, "new": True})
    seen = transfer(without, ruled, {"own"})
    assert (seen.pairs, seen.own, seen.unpaired) == (4, 1, 2)
    assert (seen.gained, seen.lost) == (2, 0)
    assert (seen.without.value, seen.with_rules.value, seen.difference.value) == (0.25, 0.75, 0.5)
    assert seen.mean_score_gain == 0.5
    assert seen.p_value == 0.5


def test_seeds_are_paired_with_themselves() -> None:
    without = [*trials({"a": False}, 0), *trials({"a": True}, 1)]
    ruled = [*trials({"a": True}, 1), *trials({"a": False}, 2)]
    seen = transfer(without, ruled, ())
    assert (seen.pairs, seen.unpaired, seen.gained, seen.lost) == (1, 2, 0, 0)


def test_nothing_in_common_says_nothing() -> None:
    seen = transfer(trials({"a": True}), trials({"b": True}), ())
    assert (seen.pairs, seen.without.value, seen.mean_score_gain, seen.p_value) == (0, None, None, 1.0)


@given(st.integers(0, 400), st.integers(0, 400))
def test_p_value_is_the_exact_one(one: int, other: int) -> None:
    binomtest = pytest.importorskip("scipy.stats").binomtest
    expected = binomtest(one, one + other, 0.5).pvalue if one + other else 1.0
    assert mcnemar(one, other) == pytest.approx(expected, rel=1e-9, abs=1e-300)

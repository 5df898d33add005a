"""Shares of what comes in tasks: how much the items of one task are worth."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from afterword.experiments.shares import FURTHER, share_by_task, share_of_items
from afterword.experiments.statistics import Estimate, wilson

Z = NormalDist().inv_cdf(0.975)

outcomes = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=20)


def score_interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's bounds by their definition: where the truth is z standard errors away from what was seen."""
    low, high = sorted(np.roots([1 + Z * Z / n, -2 * share - Z * Z / n, share * share]).tolist())
    return low, high


def bounds(found: Estimate) -> tuple[float, float]:
    return found.low, found.high


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_one_item_a_task_is_a_plain_share(passes: list[bool]) -> None:
    tasks = [[passed] for passed in passes]
    assert share_by_task(tasks) == share_of_items(tasks) == wilson(sum(passes), len(passes))


def test_items_that_agree_count_as_their_tasks_alone() -> None:
    tasks = [[1] * 9] * 5 + [[0] * 9] * 5
    plain = wilson(5, 10)
    assert share_by_task(tasks) == plain
    assert share_of_items(tasks) == Estimate(0.5, plain.low, plain.high, 90)
    assert bounds(share_of_items(tasks)) == pytest.approx((0.2366, 0.7634), abs=5e-5)


def test_nothing_seen_leaves_everything_possible() -> None:
    for found in (share_by_task([]), share_of_items([[], []])):
        assert found == Estimate(None, 0.0, 1.0, 0)


def test_one_task_counts_as_one_however_many_seeds() -> None:
    assert share_by_task([[1] * 50]) == wilson(1, 1)


def test_the_number_of_items_follows_from_how_far_tasks_differ() -> None:
    found = share_by_task([[1, 1, 1]] * 4 + [[1, 1, 0]] * 4 + [[0, 0, 0]] * 2)
    variance = (4 * (1 / 3) ** 2 + 2 * (2 / 3) ** 2 + FURTHER / 4) / 9  # of ten tasks whose mean is 2/3
    size = (2 / 3 * 1 / 3 + FURTHER / 40) / (variance / 10) * (Z / stdtrit(9, 0.975)) ** 2
    assert size == pytest.approx(11.1, abs=0.05)
    assert bounds(found) == pytest.approx(score_interval(2 / 3, size))
    assert bounds(found) == pytest.approx((0.3809, 0.8667), abs=1e-4)


@pytest.mark.parametrize("tasks", [2, 3, 4, 5, 10, 41, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_tasks_that_do_not_differ_count_up_to_all_items_less_students_t(tasks: int, confidence: float) -> None:
    found = share_by_task([[0, 1] * 50] * tasks, confidence)
    z, t = NormalDist().inv_cdf((1 + confidence) / 2), float(stdtrit(tasks - 1, (1 + confidence) / 2))
    size = max(tasks, min(tasks * 100, (tasks - 1) * (tasks + FURTHER) / FURTHER) * (z / t) ** 2)
    assert found.high - 0.5 == pytest.approx(z / 2 / math.sqrt(size + z * z), rel=1e-9)


def test_tasks_of_different_sizes_count_alike_or_by_their_items() -> None:
    tasks = [[1] * 8, [0], [0]]
    assert share_by_task(tasks) == wilson(1, 3)
    found = share_of_items(tasks)
    assert (found.value, found.n) == (0.8, 10)
    assert bounds(found) == pytest.approx(score_interval(0.8, 100 / 66))  # eight lessons of one task are hardly more


@given(outcomes)
def test_an_interval_is_no_narrower_than_that_of_independent_items(tasks: list[list[bool]]) -> None:
    found = share_of_items(tasks)
    plain = wilson(sum(map(sum, tasks)), sum(map(len, tasks)))
    assert (found.value, found.n) == (plain.value, plain.n)
    assert 0 <= found.low <= plain.low + 1e-12
    assert plain.high - 1e-12 <= found.high <= 1


@given(outcomes.flatmap(lambda tasks: st.tuples(st.just(tasks), st.permutations(tasks))))
def test_neither_the_order_of_tasks_nor_which_outcome_is_a_pass_matters(
    case: tuple[list[list[bool]], list[list[bool]]],
) -> None:
    tasks, shuffled = case
    for share in (share_by_task, share_of_items):
        found, turned = share(tasks), share([[not passed for passed in task] for task in shuffled])
        assert bounds(found) == pytest.approx((1 - turned.high, 1 - turned.low), abs=1e-9)


@given(outcomes)
def test_the_mean_over_tasks_lies_in_its_interval(tasks: list[list[bool]]) -> None:
    found = share_by_task(tasks)
    mean = fmean(map(fmean, tasks))
    assert found.value == pytest.approx(mean, abs=1e-12)
    assert found.n == len(tasks)
    assert 0 <= found.low <= mean + 1e-12
    assert mean - 1e-12 <= found.high <= 1


def coverage(tasks: int, easy: float, hard: float, runs: int) -> float:
    """How often the interval holds the truth, over tasks with 1 to 9 lessons each and chances of their own."""
    chance = np.random.default_rng(6)
    covered = 0
    for _ in range(runs):
        sizes, chances = chance.integers(1, 10, tasks), chance.beta(easy, hard, tasks)
        found = share_of_items([(chance.random(n) < p).tolist() for n, p in zip(sizes, chances, strict=True)])
        covered += found.low <= easy / (easy + hard) <= found.high
    return covered / runs


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "easy", "hard"), [(20, 2, 2), (20, 0.5, 0.5), (40, 2, 2), (40, 9, 1), (100, 1, 4)])
def test_shares_of_items_cover_the_truth_as_often_as_they_say(tasks: int, easy: float, hard: float) -> None:
    assert 0.93 <= coverage(tasks, easy, hard, 2000) <= 0.97


def test_shares_of_items_cover_the_truth_in_a_short_run() -> None:
    assert 0.90 <= coverage(30, 1, 1, 300) <= 0.99

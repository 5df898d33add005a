"""Arms compared task by task: intervals that hold, also where there is little to resample."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from afterword.experiments import by_task
from afterword.experiments.by_task import mcnemar, mean_by_task, paired, random_signs, solved_curve
from afterword.experiments.shares import share_by_task
from afterword.experiments.statistics import tango, wilson

Scores = dict[str, list[float]]


def rows(values: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Scores:
    return {f"t{number}": [float(value) for value in row] for number, row in enumerate(values)}


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_a_fair_coin_for_each_discordant_pair(first: int, second: int) -> None:
    n = first + second
    tail = 2 * float(binom.cdf(min(first, second), n, 0.5))
    assert mcnemar(first, second) == pytest.approx(min(1.0, tail), abs=1e-9)


def test_one_seed_of_passes_is_a_plain_share() -> None:
    assert mean_by_task({"a": [1.0], "b": [0.0], "c": [1.0]}) == wilson(2, 3)


def test_arms_are_compared_on_the_tasks_that_both_have() -> None:
    found = paired({"a": [1.0], "b": [0.0], "only here": [1.0]}, {"a": [1.0], "b": [1.0], "only there": [0.0]})
    assert found.difference == tango(0, 1, 2)
    assert (found.only_first, found.only_second, found.p_value) == (0, 1, 1.0)


def test_no_common_task_gives_no_difference() -> None:
    found = paired({"a": [1.0]}, {"b": [1.0]})
    assert (found.difference.value, found.difference.low, found.difference.high) == (None, -1.0, 1.0)
    assert found.p_value is None


def test_several_seeds_of_passes_are_a_share_of_tasks() -> None:
    scores = {"a": [1.0, 1.0, 1.0], "b": [0.0], "c": [1.0, 0.0], "not tried": []}
    assert mean_by_task(scores) == share_by_task(scores.values())
    assert mean_by_task({"a": [0.7, 0.2], "b": [1.0, 0.0]}) != share_by_task([[0.7, 0.2], [1.0, 0.0]])


def test_a_curve_has_the_interval_of_the_share_at_each_point() -> None:
    never: list[tuple[float, bool]] = []
    steps = {"a": [[(10.0, True)], never], "b": [never, [(30.0, True)]], "c": [[(20.0, True)], [(20.0, True)]]}
    curve = solved_curve(steps, [10, 30])
    assert curve.share == (share_by_task([[1, 0], [0, 0], [0, 0]]), share_by_task([[1, 0], [0, 1], [1, 1]]))


@pytest.mark.parametrize("solved", [0.0, 1.0])
def test_all_alike_over_seeds_is_not_certainty(solved: float) -> None:
    scores = {str(task): [solved] * 3 for task in range(20)}
    found = mean_by_task(scores)
    assert found.value == solved
    assert found.high - found.low > 0.1
    difference = paired(scores, scores).difference
    assert difference.value == 0
    assert difference.low < -0.05
    assert difference.high > 0.05


def test_one_task_says_next_to_nothing_however_many_seeds() -> None:
    found = paired({"a": [0.0] * 50}, {"a": [1.0] * 50})
    assert (found.difference, found.p_value) == (tango(0, 1, 1), 1.0)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=3), st.lists(st.floats(0, 1), min_size=1, max_size=4), max_size=12))
def test_an_interval_holds_its_value_and_stays_in_range(scores: Scores) -> None:
    found = mean_by_task(scores)
    assert 0 <= found.low <= found.high <= 1
    assert (found.value is None) == (not scores)
    if found.value is not None:
        assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = rows(np.random.default_rng(0).random((30, 3)) < 0.6)
    assert mean_by_task(scores, seed=4) == mean_by_task(scores, seed=4)


def test_a_curve_counts_what_is_solved_where_at_most_so_much_is_spent() -> None:
    steps: dict[str, list[list[tuple[float, bool]]]] = {
        "a": [[(10.0, True)]],
        "b": [[(8.0, False)]],
        "c": [[(5.0, True), (10.0, False), (30.0, True)]],
        "d": [[]],
    }
    curve = solved_curve(steps, [4, 5, 10, 30])
    assert [share.value for share in curve.share] == [0, 0.25, 0.25, 0.5]


def coverage(tasks: int, seeds: int, gain: float, runs: int) -> tuple[float, float]:
    """How often the intervals of a difference and of a mean hold the truth, over tasks of differing difficulty."""
    chance = np.random.default_rng(3)
    of_difference = of_mean = 0
    for run in range(runs):
        easy = chance.beta(2, 1, tasks)
        better = easy + 2 * gain * (1 - easy)
        first, second = (rows(chance.random((tasks, seeds)) < share[:, None]) for share in (easy, better))
        difference = paired(first, second, seed=run).difference
        mean = mean_by_task(first, seed=run)
        of_difference += difference.low <= 2 * gain / 3 <= difference.high
        of_mean += mean.low <= 2 / 3 <= mean.high
    return of_difference / runs, of_mean / runs


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("tasks", "seeds", "gain"), [*product([40, 100], [3], [0.0, 0.1]), (40, 5, 0.05)])
def test_intervals_over_seeds_cover_the_truth_as_often_as_they_say(tasks: int, seeds: int, gain: float) -> None:
    for share in coverage(tasks, seeds, gain, 2000):
        assert 0.93 <= share <= 0.97


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("gain", [0.0, 0.1])
def test_one_seed_on_all_tasks_and_three_on_some_are_as_sure_as_they_say(gain: float) -> None:
    """162 tasks, 40 of them with two further seeds: intervals, and the p-value where the arms are the same."""
    chance = np.random.default_rng(5)
    covered = found_by_p = 0
    for run in range(2000):
        easy = chance.beta(2, 1, 162)
        better = easy + 2 * gain * (1 - easy)
        first, second = (
            {f"t{n}": [float(one) for one in chance.random(3 if n < 40 else 1) < share[n]] for n in range(162)}
            for share in (easy, better)
        )
        seen = paired(first, second, seed=run)
        covered += seen.difference.low <= 2 * gain / 3 <= seen.difference.high
        found_by_p += seen.p_value is not None and seen.p_value < 0.05
    assert 0.93 <= covered / 2000 <= 0.97
    assert gain or found_by_p / 2000 <= 0.06


def test_intervals_over_seeds_cover_the_truth_in_a_short_run() -> None:
    for share in coverage(40, 3, 0.1, 200):
        assert 0.90 <= share <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "seeds", "easy", "hard"),
    [
        (40, 3, 19, 1),
        (40, 3, 9, 1),
        (100, 3, 19, 1),
        (164, 3, 19, 1),
        (40, 3, 2, 1),
        (40, 5, 2, 1),
        (15, 3, 2, 1),
        (20, 3, 4, 1),
        (40, 3, 0.5, 0.5),
        (40, 5, 1, 9),
    ],
)
def test_means_over_seeds_cover_the_truth_as_often_as_they_say(
    tasks: int, seeds: int, easy: float, hard: float
) -> None:
    chance = np.random.default_rng(4)
    truth = easy / (easy + hard)
    covered = 0
    for _ in range(2000):
        found = mean_by_task(rows(chance.random((tasks, seeds)) < chance.beta(easy, hard, (tasks, 1))))
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / 2000 <= 0.97


@settings(max_examples=60)
@given(st.lists(st.sampled_from([Fraction(n, 3) for n in range(-3, 4)]), min_size=1, max_size=9))
def test_random_signs_are_all_of_them_counted(differences: list[Fraction]) -> None:
    seen = abs(sum(differences, Fraction()))
    every = [
        abs(sum((sign * one for sign, one in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    assert random_signs(differences) == pytest.approx(sum(one >= seen for one in every) / len(every))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9))
def test_random_signs_of_whole_tasks_are_mcnemars_test(first: int, second: int, alike: int) -> None:
    differences = [Fraction(-1)] * first + [Fraction(1)] * second + [Fraction()] * (alike + 1)
    assert random_signs(differences) == pytest.approx(mcnemar(first, second), abs=1e-9)


def test_random_signs_of_many_tasks_are_as_the_normal_distribution_has_them() -> None:
    differences = [Fraction(n % 7 - 3, 6) for n in range(9001)] + [Fraction(1, 5)] * 400
    spread = float(sum(one * one for one in differences)) ** 0.5
    tail = 2 * float(norm.sf(float(sum(differences)) / spread))
    assert random_signs(differences) == pytest.approx(tail, rel=0.02)


def test_the_test_goes_the_way_of_the_difference() -> None:
    """A third of the tasks better by all seeds, two thirds worse by one of five: better, and more tasks are worse."""
    first = {f"t{n}": [0.0] * 5 if n < 30 else [1.0] * 5 for n in range(90)}
    second = {f"t{n}": [1.0] * 5 if n < 30 else [1.0] * 4 + [0.0] for n in range(90)}
    found = paired(first, second)
    assert (found.only_first, found.only_second) == (60, 30)
    assert found.difference.value == pytest.approx(0.2)
    assert found.p_value is not None
    assert found.p_value < 0.01
    # and where the means are alike nothing is found, however many tasks are worse
    alike = paired(first, {f"t{n}": [1.0] * 2 + [0.0] * 3 if n < 30 else [1.0] * 4 + [0.0] for n in range(90)})
    assert alike.p_value == 1


def test_seeds_that_agree_leave_the_interval_as_one_seed_has_it() -> None:
    first = {f"t{n}": [float(n < 5)] for n in range(12)}
    second = {f"t{n}": [0.0] for n in range(12)}
    twice = [{task: scores * 2 for task, scores in arm.items()} for arm in (first, second)]
    assert paired(*twice) == paired(first, second)


def test_grades_of_any_kind_have_a_difference_and_a_p_value() -> None:
    chance = np.random.default_rng(6)
    first = {f"t{n}": [float(one) for one in chance.random(3)] for n in range(30)}
    second = {task: [min(1.0, one + 0.2) for one in grades] for task, grades in first.items()}
    found = paired(first, second)
    assert found.p_value is not None
    assert found.p_value < 0.001
    assert paired(first, first).p_value == 1


def test_where_signs_are_drawn_the_p_value_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [Fraction(n % 5 - 1, 3) for n in range(20)]
    exact = random_signs(differences)
    monkeypatch.setattr(by_task, "LONGEST", 1)
    assert random_signs(differences) == pytest.approx(exact, abs=0.01)
    assert random_signs(differences, seed=1) == random_signs(differences, seed=1)


def test_gains_and_losses_that_make_up_for_each_other_are_exactly_nothing() -> None:
    first = {"a": [0.0] * 5, "b": [0.0] * 5, "c": [1.0] * 5}
    second = {"a": [1.0] + [0.0] * 4, "b": [1.0, 1.0] + [0.0] * 3, "c": [1.0, 1.0] + [0.0] * 3}
    assert paired(first, second).difference.value == 0


def test_seeds_that_disagree_are_resampled_also_where_tasks_come_out_alike() -> None:
    first = {f"t{n}": [0.0, 0.0] if n < 12 else [1.0, 0.0] for n in range(40)}
    second = {f"t{n}": [1.0, 1.0] if n < 12 else [0.0, 1.0] for n in range(40)}
    found = paired(first, second).difference
    assert found.value == tango(0, 12, 40).value
    assert found != tango(0, 12, 40)

"""Shares and paired shares: against scipy, published values, their own equations and the truth in simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from afterword.experiments.statistics import holm, percentile, tango, wilson

RUNS = 2000


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_scipys(case: tuple[int, int]) -> None:
    successes, n = case
    expected = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    found = wilson(successes, n)
    assert found.value == successes / n
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)


def test_nothing_tried_leaves_everything_possible() -> None:
    found = wilson(0, 0)
    assert (found.value, found.low, found.high, found.n) == (None, 0.0, 1.0, 0)
    assert (tango(0, 0, 0).value, tango(0, 0, 0).low, tango(0, 0, 0).high) == (None, -1.0, 1.0)


def test_more_successes_than_tries_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 3, found 4"):
        wilson(4, 3)
    with pytest.raises(ValueError, match="not among 3"):
        tango(2, 2, 3)


@pytest.mark.parametrize(("n", "share"), [(30, 0.5), (50, 0.8), (100, 0.9), (164, 0.85), (40, 0.95)])
def test_wilson_covers_the_truth_as_often_as_it_says(n: int, share: float) -> None:
    drawn = np.random.default_rng(1).binomial(n, share, RUNS)
    intervals = [wilson(int(successes), n) for successes in drawn]
    assert 0.93 <= np.mean([found.low <= share <= found.high for found in intervals]) <= 0.97


discordant = st.integers(1, 200).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n)).filter(lambda case: case[0] + case[1] <= n)
)


def score(only_first: int, only_second: int, n: int, difference: float) -> float:
    """Tango's statistic, squared, by another way: the likelihood's maximum under that difference, on a grid refined."""

    def likelihood(first: float) -> float:
        second = first + difference
        rest = 1 - first - second
        if min(first, second, rest) < 0:
            return -math.inf
        counts = ((only_first, first), (only_second, second), (n - only_first - only_second, rest))
        return sum(count * math.log(max(chance, 1e-300)) for count, chance in counts if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if likelihood(one) < likelihood(two) else (low, two)
    first = (low + high) / 2
    variance = n * (2 * first + difference - difference * difference)
    return float((only_second - only_first - n * difference) ** 2 / variance)


@given(discordant)
def test_tangos_bounds_solve_his_equation(case: tuple[int, int, int]) -> None:
    found = tango(*case)
    assert found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    for bound in (found.low, found.high):
        if abs(bound) < 0.999 and abs(bound - found.value) > 1e-6:
            assert score(*case, bound) == pytest.approx(1.959964**2, rel=1e-3)


@given(discordant)
def test_tango_turns_round_with_the_arms(case: tuple[int, int, int]) -> None:
    only_first, only_second, n = case
    one, other = tango(only_first, only_second, n), tango(only_second, only_first, n)
    assert one.low == pytest.approx(-other.high, abs=1e-9)
    assert one.high == pytest.approx(-other.low, abs=1e-9)


def test_no_discordant_pair_still_leaves_a_difference_possible() -> None:
    found = tango(0, 0, 30)
    assert found.value == 0
    assert found.high == pytest.approx(1.959964**2 / (30 + 1.959964**2), abs=1e-6)


@pytest.mark.parametrize(
    ("n", "first", "second", "together"),
    [(50, 0.6, 0.7, 0.5), (100, 0.8, 0.85, 0.7), (40, 0.5, 0.5, 0.8), (164, 0.8, 0.82, 0.9), (30, 0.3, 0.6, 0.3)],
)
def test_tango_covers_the_truth_as_often_as_it_says(n: int, first: float, second: float, together: float) -> None:
    chance = np.random.default_rng(2)
    covered = 0
    for _ in range(RUNS):
        luck, other = chance.random(n), chance.random(n)
        one = luck < first
        two = np.where(chance.random(n) < together, luck, other) < second
        found = tango(int((one & ~two).sum()), int((~one & two).sum()), n)
        covered += found.low <= second - first <= found.high
    assert 0.93 <= covered / RUNS <= 0.97


def test_holm_as_published() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    ranks = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[place] for place in ranks] == sorted(adjusted)


@given(st.lists(st.floats(0, 1e6), max_size=30), st.floats(0, 1))
def test_percentiles_equal_numpys(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found is None if not values else found == pytest.approx(float(np.quantile(values, share)), abs=1e-6)

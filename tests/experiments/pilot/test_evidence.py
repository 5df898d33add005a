"""Evidence that may be looked at after every task: it is right at once, for each task that could come next."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta

from afterword.experiments.pilot.evidence import (
    ALPHA,
    confidence_sequence,
    difference_sequence,
    evidence_of_less,
    evidence_of_more,
    is_enough,
    pairs,
)

counts = st.integers(0, 40)
means = st.floats(0.05, 0.95)


@given(counts, counts, counts, st.sampled_from([0.0, 0.5]), means)
def test_a_bet_wins_nothing_on_average_while_the_claim_holds(
    first: int, second: int, ties: int, low: float, mean: float
) -> None:
    if low >= mean:
        return
    seen = pairs(first, second, ties)
    chance = (mean - low) / (1 - low)
    after = {value: math.exp(evidence_of_more({**seen, value: seen[value] + 1}, mean)) for value in (low, 1.0)}
    expected = chance * after[1.0] + (1 - chance) * after[low]
    assert expected == pytest.approx(math.exp(evidence_of_more(seen, mean)))


@given(counts, counts)
def test_against_equal_arms_it_is_the_mixture_of_a_fair_coin_over_discordant_pairs(first: int, second: int) -> None:
    found = math.exp(evidence_of_more(pairs(first, second, 17), 0.5))
    steps = [(number + 0.5) / 4000 for number in range(4000)]
    integral = sum((1 + u) ** second * (1 - u) ** first for u in steps) / len(steps)
    assert found == pytest.approx(integral, rel=0.3)  # 32 bets stand for all


def test_two_sided_the_mixture_has_the_closed_form_of_beta_integrals() -> None:
    first, second = 4, 9
    both = (math.exp(evidence_of_more(pairs(first, second, 0), 0.5)) + math.exp(
        evidence_of_less(pairs(first, second, 0), 0.5)
    )) / 2  # fmt: skip
    closed = float(beta(second + 1, first + 1)) * 2 ** (first + second)
    assert both == pytest.approx(closed, rel=0.02)


@given(counts, counts, counts, means, means)
def test_a_claim_of_more_is_harder_to_give_up(first: int, second: int, ties: int, one: float, other: float) -> None:
    seen = pairs(first, second, ties)
    low, high = sorted((one, other))
    assert evidence_of_more(seen, high) <= evidence_of_more(seen, low) + 1e-9


@settings(max_examples=25, deadline=None)
@given(counts, counts, counts)
def test_an_end_of_the_interval_is_where_the_evidence_is_enough(first: int, second: int, ties: int) -> None:
    found = difference_sequence(first, second, ties)
    assert -1 <= found.low <= found.high <= 1
    if found.value is not None:
        assert found.low <= found.value + 1e-9
        assert found.high >= found.value - 1e-9
    seen = pairs(first, second, ties)
    if abs(found.low) > 1e-6:
        assert is_enough(evidence_of_more(seen, 0.5)) == (found.low > 0)
    if abs(found.high) > 1e-6:
        assert is_enough(evidence_of_less(seen, 0.5)) == (found.high < 0)


@settings(max_examples=25, deadline=None)
@given(counts, counts, counts)
def test_arms_swapped_turn_the_interval_round(first: int, second: int, ties: int) -> None:
    one, other = difference_sequence(first, second, ties), difference_sequence(second, first, ties)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-6)


def test_nothing_seen_says_nothing() -> None:
    found = confidence_sequence({})
    assert (found.value, found.low, found.high, found.n) == (None, 0.0, 1.0, 0)
    assert difference_sequence(0, 0, 0).value is None
    assert evidence_of_more({}, 0.5) == 0


def test_ties_alone_narrow_the_interval_and_never_leave_zero_out() -> None:
    few, many = difference_sequence(0, 0, 10), difference_sequence(0, 0, 200)
    assert few.low < many.low < 0 < many.high < few.high


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_the_truth_is_ever_left_out_as_seldom_as_stated(share: float) -> None:
    chance = random.Random(3)  # noqa: S311
    left_out = 0
    for _ in range(300):
        hits = 0
        for n in range(1, 151):
            hits += chance.random() < share
            if is_enough(evidence_of_more({1.0: hits, 0.0: n - hits}, share)):
                left_out += 1
                break
    assert left_out <= 300 * ALPHA + 2 * math.sqrt(300 * ALPHA * (1 - ALPHA))

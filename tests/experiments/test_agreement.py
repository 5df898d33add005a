"""A judge against people: the matrix, kappa and its interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.experiments.agreement import Agreement

counts = st.integers(0, 60)
matrices = st.builds(Agreement, counts, counts, counts, counts)


def test_pairs_are_counted_by_judge_and_people() -> None:
    pairs = [(True, True)] * 3 + [(True, False)] * 2 + [(False, True)] + [(False, False)] * 4
    assert Agreement.of(pairs) == Agreement(3, 2, 1, 4)


def test_kappa_of_a_textbook_matrix() -> None:
    seen = Agreement(20, 5, 10, 15)
    assert seen.agreement.value == pytest.approx(0.7)
    assert seen.kappa.value == pytest.approx(0.4)
    assert seen.kappa.low < 0.4 < seen.kappa.high


def test_a_judge_that_passes_everything_agrees_by_chance_alone() -> None:
    seen = Agreement(90, 10, 0, 0)
    assert seen.agreement.value == pytest.approx(0.9)
    assert seen.kappa.value == pytest.approx(0.0)


def test_perfect_agreement_on_few_is_not_certain() -> None:
    kappa = Agreement(5, 0, 0, 5).kappa
    assert kappa.value == pytest.approx(1.0)
    assert kappa.low < 0.6


def test_where_only_one_verdict_ever_occurs_kappa_cannot_be_said() -> None:
    assert Agreement(9, 0, 0, 0).kappa.value is None
    assert Agreement().kappa.value is None


def test_error_rates_are_of_what_people_said() -> None:
    seen = Agreement(8, 3, 2, 7)
    assert (seen.false_positive_rate.value, seen.false_negative_rate.value) == (0.3, 0.2)


@given(matrices)
def test_kappa_lies_in_its_interval_and_turns_with_the_roles(seen: Agreement) -> None:
    kappa = seen.kappa
    if kappa.value is None:
        return
    assert -1 <= kappa.low <= kappa.value + 1e-12
    assert kappa.value <= kappa.high + 1e-12
    assert kappa.high <= 1 + 1e-12
    turned = Agreement(seen.both_pass, seen.false_negatives, seen.false_positives, seen.both_fail).kappa
    assert turned.value == pytest.approx(kappa.value)


@given(matrices, st.integers(2, 5))
def test_more_of_the_same_makes_the_interval_narrower(seen: Agreement, times: int) -> None:
    more = Agreement(*(times * n for n in (seen.both_pass, seen.false_positives, seen.false_negatives, seen.both_fail)))
    if seen.kappa.value is not None:
        assert more.kappa.high - more.kappa.low < seen.kappa.high - seen.kappa.low

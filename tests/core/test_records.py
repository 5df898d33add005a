"""The records: frozen, whole, and right in the few things that they compute."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import Acceptance, CheckResult, Feedback, Outcome, StopReason, Strategy, Task, Trajectory, Trial, Usage
from afterword.core import events, messages, records
from tests.core.doubles import make_trial

usages = st.builds(
    Usage,
    calls=st.integers(0, 9),
    tokens_in=st.integers(0, 999),
    tokens_out=st.integers(0, 999),
    tokens_cached=st.integers(0, 9),
    tokens_reasoning=st.integers(0, 9),
    cost_usd=st.none() | st.integers(0, 100).map(float),
    seconds=st.integers(0, 100).map(float),
)


@given(usages, usages, usages)
def test_usages_add_up_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + Usage() == one
    assert (one + two).tokens == one.tokens + two.tokens


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert (Usage(cost_usd=1.0) + Usage(cost_usd=None)).cost_usd is None


def test_every_field_of_a_usage_adds_up() -> None:
    ones = Usage(1, 1, 1, 1, 1, 1.0, 1.0)
    assert [getattr(ones + ones, field.name) for field in fields(Usage)] == [2] * 7


@pytest.mark.parametrize(
    ("strategy", "reflects", "shows"),
    [
        (Strategy.RETRY, False, False),
        (Strategy.LAST_ATTEMPT, False, True),
        (Strategy.REFLEXION, True, False),
        (Strategy.LAST_ATTEMPT_AND_REFLEXION, True, True),
    ],
)
def test_what_a_strategy_carries(strategy: Strategy, reflects: bool, shows: bool) -> None:
    assert (strategy.reflects, strategy.shows_last_attempt) == (reflects, shows)


def test_feedback_counts_its_checks() -> None:
    results = CheckResult("a", True), CheckResult("b", False, "x"), CheckResult("c", False, "y")
    feedback = Feedback(False, 1 / 3, "isolated", checks=results)
    assert (feedback.failed_ids, feedback.checks_passed) == (("b", "c"), 1)


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_score_outside_its_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        Feedback(False, score, "model")


def test_an_outcome_knows_whether_it_passed_and_what_it_used() -> None:
    passing = make_trial(1, "a", score=1.0)
    usage = {"actor": Usage(2, 10, 5), "reflector": Usage(1, 4, 1)}
    outcome = Outcome("t", "unverified", StopReason.PASSED, passing, (passing,), None, usage)
    assert outcome.passed
    assert outcome.total_usage == Usage(3, 14, 6)
    failed = Outcome("t", "gave_up", StopReason.TOKENS, None, (), None, {})
    assert not failed.passed
    assert failed.total_usage == Usage()


RECORDS = [
    kind
    for module in (records, messages, events)
    for kind in vars(module).values()
    if isinstance(kind, type) and is_dataclass(kind)
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_is_frozen(record: type) -> None:
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]  # what dataclass leaves behind


def test_a_record_cannot_be_edited() -> None:
    trial = make_trial(1)
    with pytest.raises(FrozenInstanceError):
        trial.number = 2  # type: ignore[misc]  # what must not be possible


def test_records_survive_a_journey_between_processes() -> None:
    trial = Trial(1, Trajectory("a"), Feedback(True, 1.0, "exact"), usage={"actor": Usage(1, 2, 3)})
    outcome = Outcome("t", "accepted", StopReason.PASSED, trial, (trial,), Acceptance(True, 1, 1, "exact"), {})
    assert pickle.loads(pickle.dumps(outcome)) == outcome  # noqa: S301 - our own bytes


def test_an_acceptance_has_no_place_for_text_of_checks() -> None:
    assert [field.name for field in fields(Acceptance)] == [
        "passed",
        "checks_passed",
        "checks_total",
        "trust",
        "reason",
        "isolation",
    ]


def test_a_task_needs_an_id_and_instructions_only() -> None:
    assert Task("t", "Do it.").inputs == {}

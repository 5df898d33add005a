"""Exact match, token F1 and strict match: against the official script's own verdicts, and where they part."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import EvaluateContext, Evaluator
from afterword.core.records import Feedback, Task, Trajectory
from afterword.errors import InputError
from afterword.evaluators.exact_match import (
    ExactMatch,
    StrictMatch,
    exact_match,
    normalise_answer,
    strict_match,
    token_f1,
)


def judged(evaluator: Evaluator, trajectory: Trajectory) -> Feedback:
    async def main() -> Feedback:
        effects = Effects(task="t", budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
        return await evaluator.evaluate(EvaluateContext(Task("t", "who?"), 1, trajectory, effects))

    return anyio.run(main)


def test_every_case_of_the_official_script_comes_out_the_same(data_dir: Path) -> None:
    lines = (data_dir / "hotpotqa" / "hotpot_em_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) >= 40
    for case in cases:
        answer, gold = case["prediction"], case["gold"]
        assert normalise_answer(answer) == case["normalized_prediction"], case
        assert normalise_answer(gold) == case["normalized_gold"], case
        assert exact_match(answer, gold) is case["em"], case
        found = token_f1(answer, gold)
        expected = (case["f1"], case["precision"], case["recall"])
        assert (found.f1, found.precision, found.recall) == pytest.approx(expected, abs=1e-6), case


SAME = [
    ("the Eiffel Tower", "Eiffel Tower"),
    ("Jonny Craig", 'Jonny" Craig'),
    ("U.S.", "US"),
    ("1,000", "1000"),
    ("Yes.", "yes"),
    ("well-known", "wellknown"),
    ("Delhi (India)", "Delhi India"),
    ("-5", "-5"),
    ("3.5 million", "3.5 million"),
    ("“A Song”", "“a song”"),
    ("A", "a"),
    ("No.5", "No5"),
    ("F-16", "F16"),
    ("'A-'", "A-"),
    ("war - peace", "war peace"),
    ("!!!", "!!!"),
    ("1990s - ", "1990s"),
]
DIFFERENT = [
    ("3.5 million", "35 million"),
    ("-5", "5"),
    ("$5", "5"),
    ("50%", "50"),
    ("C++", "C"),
    ("C#", "C"),
    ("1986-2013", "19862013"),
    ("10:30", "1030"),
    (".5", "5"),
    ("1,5", "15"),
    ("the", "a"),
    ("", ""),
    (" ", "the"),
    ("...", "?!"),
    ("!", "!!!"),
    ("!!!", "the"),
    ("-$5", "$5"),
    ("-.5", ".5"),
    ("- 5", "5"),
    ("5 - 3", "5 3"),
    ("1e-5", "1e5"),
    ("A-", "A"),
    ("-", "A-"),
    ("Cl-", "Cl"),
    ("6'2", "62"),
    ("1;2", "12"),
]


@pytest.mark.parametrize(("answer", "gold"), SAME)
def test_what_changes_no_meaning_passes_the_strict_match(answer: str, gold: str) -> None:
    assert strict_match(answer, gold)


@pytest.mark.parametrize(("answer", "gold"), DIFFERENT)
def test_signs_decimals_symbols_and_empty_answers_part_the_two_matches(answer: str, gold: str) -> None:
    assert exact_match(answer, gold)
    assert not strict_match(answer, gold)


TRICKY = st.text(alphabet="aA the-.,5$'\"3 \N{EN DASH}é%")


@given(TRICKY, TRICKY)
def test_a_strict_match_is_an_exact_match(answer: str, gold: str) -> None:
    assert not strict_match(answer, gold) or exact_match(answer, gold)
    assert strict_match(answer, answer) or not any(char.isalnum() for char in answer)


@given(st.text(), st.text())
def test_f1_is_the_same_both_ways_and_in_bounds(one: str, other: str) -> None:
    found, back = token_f1(one, other), token_f1(other, one)
    assert found.f1 == back.f1
    assert 0 <= found.f1 <= 1
    assert found.precision == back.recall


def test_any_of_several_answers_passes() -> None:
    assert judged(ExactMatch(("New York City", "NYC")), Trajectory("nyc")).passed
    assert judged(StrictMatch(("$5", "5 dollars")), Trajectory("5 dollars")).passed


def test_the_grade_is_the_best_f1_and_the_feedback_names_no_known_answer() -> None:
    feedback = judged(ExactMatch(("Richard Nixon", "Tricky Dick"), graded=True), Trajectory("President Richard"))
    assert feedback.score == pytest.approx(0.5)
    assert feedback.graded
    assert not feedback.passed
    for gold in ("nixon", "tricky", "dick"):
        assert gold not in repr(feedback).lower()
    assert "President Richard" in feedback.message


def test_the_right_words_in_the_wrong_order_fail_with_a_score_below_that_of_a_pass() -> None:
    feedback = judged(ExactMatch(("Richard Nixon",), graded=True), Trajectory("Nixon Richard"))
    assert not feedback.passed
    assert 0.9 < feedback.score < 1


@pytest.mark.parametrize("evaluator", [ExactMatch(("the",)), StrictMatch(("the",))])
def test_an_attempt_without_an_answer_fails_whatever_is_known(evaluator: Evaluator) -> None:
    feedback = judged(evaluator, Trajectory(" ", end="step_limit"))
    assert (feedback.passed, feedback.score, feedback.reason) == (False, 0.0, "no_answer")


def test_without_a_grade_a_wrong_answer_scores_nothing_however_near_it_is() -> None:
    feedback = judged(ExactMatch(("Richard Nixon",)), Trajectory("President Richard Nixon"))
    assert (feedback.passed, feedback.score, feedback.graded) == (False, 0.0, False)


def test_a_long_wrong_answer_is_cut_visibly() -> None:
    feedback = judged(ExactMatch(("x",)), Trajectory("word " * 10_000))
    assert len(feedback.message) < 400
    assert "characters cut" in feedback.message


def test_no_known_answer_is_an_error() -> None:
    with pytest.raises(InputError, match="no known answer"):
        judged(ExactMatch(()), Trajectory("x"))

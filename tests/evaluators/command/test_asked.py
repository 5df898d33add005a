"""A judge elsewhere: the person's word is the held-out verdict, and silence is none."""

from __future__ import annotations

import pytest

from afterword.core.protocols import ActContext, EvaluateContext
from afterword.core.records import Outcome
from afterword.core.reflexion import Reflexion
from afterword.evaluators.command import AskedVerdict


def outcome_with(*answers: str, passes: bool = True) -> tuple[Outcome, list[str]]:
    shown: list[str] = []
    left = list(answers)

    def act(context: ActContext) -> str:
        return f"program {context.number}"

    def evaluate(context: EvaluateContext) -> bool:
        return passes

    asked = AskedVerdict(shown.append, lambda _: left.pop(0))
    loop = Reflexion(act, evaluate, held_out=asked, max_trials=1)
    outcome = loop.run_sync("task")
    assert not left
    return outcome, shown


@pytest.mark.parametrize(
    ("answer", "status"), [("y\n", "accepted"), (" YES ", "accepted"), ("n", "rejected"), ("no\n", "rejected")]
)
def test_the_word_decides(answer: str, status: str) -> None:
    outcome, shown = outcome_with(answer)
    assert outcome.status == status
    assert outcome.acceptance is not None
    assert (outcome.acceptance.trust, outcome.acceptance.checks_total) == ("person", 1)
    assert shown == ["program 1"]


@pytest.mark.parametrize("answer", ["s", "skip\n", "\n", ""])
def test_a_skipped_question_leaves_the_result_unverified(answer: str) -> None:
    outcome, _ = outcome_with(answer)
    assert (outcome.status, outcome.acceptance) == ("unverified", None)


def test_anything_else_is_asked_again() -> None:
    outcome, shown = outcome_with("maybe\n", "n\n")
    assert outcome.status == "rejected"
    assert shown == ["program 1", "expected y, n or Enter, found 'maybe'"]


def test_a_failing_program_is_asked_about_too() -> None:
    outcome, _ = outcome_with("y", passes=False)
    assert outcome.status == "gave_up"
    assert outcome.acceptance is not None
    assert outcome.acceptance.passed

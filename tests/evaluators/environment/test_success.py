"""The world's word as a verdict: won is won, and over is not."""

from __future__ import annotations

import anyio
import pytest

from afterword.core.protocols import EvaluateContext
from afterword.core.records import End, Feedback, Step, Trajectory
from afterword.evaluators.environment import EnvironmentSuccess
from tests.families.decision.doubles import TASK, effects

STEPS = (Step(observation="You are here."), Step(thought="a"), Step(action="look", observation="Dark."))


def judge(trajectory: Trajectory) -> Feedback:
    return anyio.run(EnvironmentSuccess().evaluate, EvaluateContext(TASK, 1, trajectory, effects()))


def test_won_passes_with_the_trust_of_a_world() -> None:
    verdict = judge(Trajectory("", STEPS, won=True, reward=1.0))
    assert (verdict.passed, verdict.score, verdict.trust, verdict.reason) == (True, 1.0, "environment", "ok")


@pytest.mark.parametrize("end", ["finished", "stuck", "step_limit"])
def test_no_end_is_a_success_by_itself(end: End) -> None:
    verdict = judge(Trajectory("", STEPS, end, "it went in circles"))
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert verdict.reason == {"finished": "failed"}.get(end, end)
    assert "2 steps" in verdict.message
    assert ("it went in circles" in verdict.message) is (end == "stuck")


def test_a_full_score_that_is_not_won_does_not_pass() -> None:
    verdict = judge(Trajectory("", STEPS, reward=1.0))
    assert not verdict.passed
    assert verdict.score == 0.99


def test_a_grade_of_the_world_is_the_score() -> None:
    verdict = judge(Trajectory("", STEPS, reward=0.25))
    assert (verdict.score, verdict.graded) == (0.25, True)
    assert "0.25 of 1" in verdict.message

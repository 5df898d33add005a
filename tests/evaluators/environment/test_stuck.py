"""The stuck heuristic: what it counts, what it does not, and its verdict on a trial that is over."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Step, Trajectory
from afterword.errors import InputError
from afterword.evaluators.environment import StuckHeuristic
from tests.families.decision.doubles import TASK, effects

WAIT = Step(action="wait", observation="Nothing happens.")
THINK = Step(thought="again", observation="OK.")


def distinct(count: int) -> list[Step]:
    return [Step(action=f"go {n}", observation="Done.") for n in range(count)]


def test_more_than_three_times_the_same_is_stuck_and_three_times_is_not() -> None:
    assert StuckHeuristic().why([WAIT] * 3) == ""
    assert "'wait' was given 4 times" in StuckHeuristic().why([WAIT] * 4)


def test_a_thought_does_not_hide_a_repeated_action() -> None:
    assert StuckHeuristic().why([WAIT, THINK, WAIT, THINK, THINK, WAIT, WAIT]) != ""


def test_another_answer_is_no_repetition() -> None:
    steps = [WAIT, WAIT, Step(action="wait", observation="A bell rings."), WAIT, WAIT]
    assert StuckHeuristic().why(steps) == ""


def test_spelling_does_not_hide_a_repetition() -> None:
    assert StuckHeuristic().why([WAIT, Step(action="Wait ", observation="nothing  happens."), WAIT, WAIT]) != ""


def test_more_than_thirty_actions_are_stuck_and_thoughts_are_no_actions() -> None:
    assert StuckHeuristic().why([*distinct(30), *[THINK] * 20]) == ""
    assert StuckHeuristic().why(distinct(31)) == "more than 30 actions were taken"


def test_both_limits_can_be_set_and_switched_off() -> None:
    assert StuckHeuristic(cycles=1).why([WAIT] * 2) != ""
    assert StuckHeuristic(max_actions=2).why(distinct(3)) != ""
    assert StuckHeuristic(cycles=None, max_actions=None).why([WAIT] * 99) == ""


@pytest.mark.parametrize("limits", [{"cycles": 0}, {"max_actions": -1}])
def test_a_limit_below_one_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match="a number from 1"):
        StuckHeuristic(**limits)


def judge(steps: Sequence[Step], **settings: object) -> Feedback:
    trajectory = Trajectory("", tuple(steps), **settings)  # type: ignore[arg-type]
    return anyio.run(StuckHeuristic().evaluate, EvaluateContext(TASK, 1, trajectory, effects()))


def test_as_a_judge_it_passes_what_came_to_an_end_of_its_own() -> None:
    verdict = judge(distinct(5))
    assert (verdict.passed, verdict.trust) == (True, "heuristic")


def test_as_a_judge_it_fails_circles_limits_and_doing_nothing() -> None:
    assert judge([*[WAIT] * 4, *distinct(2)]).reason == "stuck"
    assert judge(distinct(5), end="step_limit").reason == "step_limit"
    assert judge([THINK]).reason == "failed"


def test_as_a_judge_it_does_not_see_what_the_world_says() -> None:
    assert judge(distinct(5), won=False).passed
    assert not judge([WAIT] * 4, won=True).passed


@given(st.lists(st.sampled_from([WAIT, THINK, *distinct(2)]), max_size=12))
def test_thoughts_never_change_the_verdict(steps: list[Step]) -> None:
    without = [step for step in steps if step.action]
    assert StuckHeuristic().why(steps) == StuckHeuristic().why(without)

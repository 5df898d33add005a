"""`EnvironmentSuccess`: the world itself says whether its goal is reached.

An episode that is over is not an episode that is won: a step limit ends one too, and the harness behind the paper's
logs took both for success.
"""

from __future__ import annotations

from dataclasses import dataclass

from afterword.core.bounds import cut
from afterword.core.protocols import EvaluateContext
from afterword.core.records import CheckResult, Feedback, Trajectory

GOAL = "goal"
"""The id of the one check."""
MAX_DETAIL_CHARS = 400


@dataclass(frozen=True, slots=True)
class EnvironmentSuccess:
    """Passes a trajectory that the world called won; a grade of the world is the score of one that it did not."""

    @property
    def check_ids(self) -> tuple[str, ...]:
        return (GOAL,)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict."""
        trajectory = context.trajectory
        request = ("environment_success", trajectory.won, trajectory.reward, trajectory.end, how_it_ended(trajectory))

        async def judge() -> Feedback:
            return _verdict(trajectory)

        return await context.effects.effect(context.role, request, judge, Feedback)


def _verdict(trajectory: Trajectory) -> Feedback:
    if trajectory.won:
        return Feedback(True, 1.0, "environment", "ok", checks=(CheckResult(GOAL, True),))
    message = f"The goal was not reached. {how_it_ended(trajectory)}"
    grade = min(max(trajectory.reward, 0.0), 0.99)  # what is not won is no full score
    if grade > 0:
        message += f" The world gave a score of {trajectory.reward:.2f} of 1."
    reason = "failed" if trajectory.end == "finished" else trajectory.end
    checks = (CheckResult(GOAL, False, message),)
    return Feedback(False, grade, "environment", reason, message, checks, graded=grade > 0)


def how_it_ended(trajectory: Trajectory) -> str:
    """One sentence on the end of a trajectory, for feedback."""
    steps = sum(1 for step in trajectory.steps if step.thought or step.action)
    counted = f"{steps} step{'' if steps == 1 else 's'}"
    if trajectory.end == "stuck":
        return f"The trial was ended after {counted}, as it was stuck: {cut(trajectory.detail, MAX_DETAIL_CHARS)}"
    if trajectory.end == "step_limit":
        return f"The trial came to its limit of {counted}."
    return f"The episode was over after {counted}."

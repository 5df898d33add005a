"""The stuck heuristic of the paper (section 4.1): a trial that goes round in circles, or on for too long, has failed.

It looks at the steps alone, so it can end a trial while it runs, judge one afterwards where the world says nothing,
and be compared with a model that does the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from afterword.core.bounds import cut
from afterword.core.effects import Effects
from afterword.core.protocols import EvaluateContext
from afterword.core.records import CheckResult, Feedback, Step, Task, Trajectory
from afterword.errors import InputError
from afterword.evaluators.environment.success import how_it_ended

PROGRESS = "progress"
"""The id of the one check."""
_SHOWN = 120


class Watch(Protocol):
    """Looks at a trial while it runs, and says why it should be ended; an empty text lets it go on.

    It changes nothing, and what is not a function of the steps goes through `effects`.
    """

    async def stuck(self, task: Task, steps: Sequence[Step], effects: Effects) -> str: ...


@dataclass(frozen=True, slots=True)
class StuckHeuristic:
    """Stuck is who gives the same action and gets the same answer too often, or acts too often."""

    cycles: int | None = 3
    """More than so many times in a row; thoughts in between do not count. None switches this off."""
    max_actions: int | None = 30
    """More actions than this; thoughts are none. None switches this off."""

    def __post_init__(self) -> None:
        for name, value in (("cycles", self.cycles), ("max_actions", self.max_actions)):
            if value is not None and value < 1:
                raise InputError(f"{name} of the stuck heuristic is a number from 1, found {value}")

    def why(self, steps: Sequence[Step]) -> str:
        """Why these steps are stuck; empty when they are not."""
        actions = [step for step in steps if step.action]
        if self.cycles is not None and (same := _same_at_end(actions)) > self.cycles:
            last = actions[-1]
            action, answer = cut(last.action.strip(), _SHOWN), cut(" ".join(last.observation.split()), _SHOWN)
            return f"the action {action!r} was given {same} times in a row, and the answer was always {answer!r}"
        if self.max_actions is not None and len(actions) > self.max_actions:
            return f"more than {self.max_actions} actions were taken"
        return ""

    async def stuck(self, task: Task, steps: Sequence[Step], effects: Effects) -> str:  # noqa: ARG002
        """Why a running trial is stuck; empty when it is not."""
        return self.why(steps)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return (PROGRESS,)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """Passes a trial that came to an end of its own and was at no step stuck."""
        trajectory = context.trajectory
        request = ("stuck_heuristic", self, trajectory.steps, trajectory.end)

        async def judge() -> Feedback:
            return self._verdict(trajectory)

        return await context.effects.effect(context.role, request, judge, Feedback)

    def _verdict(self, trajectory: Trajectory) -> Feedback:
        steps = trajectory.steps
        stuck = next((why for end in range(1, len(steps) + 1) if (why := self.why(steps[:end]))), "")
        if trajectory.end == "finished" and any(step.action for step in steps) and not stuck:
            return Feedback(True, 1.0, "heuristic", "ok", checks=(CheckResult(PROGRESS, True),))
        message = f"The trial was stuck: {stuck}." if stuck else how_it_ended(trajectory)
        reason = "stuck" if stuck else "failed" if trajectory.end == "finished" else trajectory.end
        return Feedback(False, 0.0, "heuristic", reason, message, (CheckResult(PROGRESS, False, message),))


def _same_at_end(actions: Sequence[Step]) -> int:
    """How often the last action and its answer stand at the end in a row."""
    if not actions:
        return 0
    last = (_plain(actions[-1].action), _plain(actions[-1].observation))
    count = 0
    for step in reversed(actions):
        if (_plain(step.action), _plain(step.observation)) != last:
            break
        count += 1
    return count


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()

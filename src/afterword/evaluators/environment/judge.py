"""A model as binary classifier of a trial: did it reach its goal, and while it runs, does it get on?

The paper's other self-evaluation for games besides the heuristic: `ModelJudge` with the steps before it and a rubric of
this domain. It stands in for the heuristic wherever that does, so the two can be swapped and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterword.core.bounds import show_steps
from afterword.core.effects import Effects
from afterword.core.protocols import EvaluateContext, Model
from afterword.core.records import Step, Task, Trajectory
from afterword.errors import InputError
from afterword.evaluators.model_judge import ModelJudge

MAX_STEPS_CHARS = 6_000
MAX_TOKENS = 200
REACHED = (
    "The attempt is a trial in a world of text. It passes if the goal was fully reached at the end. Trying, planning "
    "or claiming it is not reaching it: an answer of the world has to show every part of the goal."
)
GETTING_ON = (
    "The attempt is a trial in a world of text that still runs. It passes if it gets on: it looks at new places, or "
    "changes something that the goal needs. It does not pass if it repeats what brought nothing new, or acts on things "
    "that it does not have or that are not there."
)


def shown_trial(context: EvaluateContext) -> str:
    """The steps, the largest observations cut first."""
    return show_steps(context.trajectory.steps, MAX_STEPS_CHARS) or "Nothing was done."


def success_judge(model: Model, *, votes: int = 1, temperature: float | None = 0.0) -> ModelJudge:
    """An evaluator that asks a model whether a trial reached its goal, without the world's word."""
    return ModelJudge(model, REACHED, votes, temperature, MAX_TOKENS, shown_trial)


@dataclass(frozen=True, slots=True)
class ModelWatch:
    """Ends a trial as stuck when a model says that it gets on no more; asked after every so many actions."""

    judge: ModelJudge
    every: int = 10

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InputError(f"a model that watches looks after every 1 action or more, found {self.every}")

    @classmethod
    def of(cls, model: Model, every: int = 10) -> ModelWatch:
        """A watch of this model."""
        return cls(ModelJudge(model, GETTING_ON, max_tokens=MAX_TOKENS, show=shown_trial), every)

    async def stuck(self, task: Task, steps: Sequence[Step], effects: Effects) -> str:
        """Why a running trial is stuck; empty when it is not, or was not asked about.

        Raises:
            ModelFault: the model could not be reached, or gave no verdict that can be read.
        """
        actions = sum(1 for step in steps if step.action)
        if actions == 0 or actions % self.every or not steps[-1].action:
            return ""
        context = EvaluateContext(task, effects.trial, Trajectory("", tuple(steps)), effects, role="watch")
        verdict = await self.judge.evaluate(context)
        return "" if verdict.passed else verdict.message

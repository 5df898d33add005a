"""The judge of the arm `self_refine`: the actor's own model, asked whether its attempt does what the task says.

Its rubric is the same for every family, since the arm shows what reflection is worth without a check.
"""

from __future__ import annotations

from afterword.core.protocols import Model
from afterword.evaluators.model_judge import ModelJudge, shown_steps

RUBRIC = (
    "The attempt passes if it does all that the task asks, for every input or situation that the task allows, the "
    "unusual ones too. It does not pass if you can name a part of the task that it gets wrong or leaves out."
)


def self_judge(model: Model, temperature: float | None) -> ModelJudge:
    """An evaluator that asks a model about its own attempts."""
    return ModelJudge(model, RUBRIC, temperature=temperature, show=shown_steps)

"""A context in which an evaluator judges one output."""

from __future__ import annotations

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import EvaluateContext
from afterword.core.records import Task, Trajectory

TASK = Task("t", "Answer the question.")


def context_of(output: str | Trajectory, *, task: Task = TASK, allowance: Allowance | None = None) -> EvaluateContext:
    effects = Effects(task=task.id, budget=Budget(allowance or Allowance()), events=NoEvents(), clock=FakeClock())
    effects.begin_trial(1)
    trajectory = Trajectory(output) if isinstance(output, str) else output
    return EvaluateContext(task, 1, trajectory, effects)

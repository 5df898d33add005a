"""A model as binary classifier of a trial: did it reach its goal, and while it runs, is it stuck?

The paper's other self-evaluation for games besides the heuristic. An opinion, and `trust` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from afterword.core.bounds import show_steps
from afterword.core.effects import Effects
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import EvaluateContext, Model
from afterword.core.records import CheckResult, Feedback, Step, Task
from afterword.core.thinking import strip_thinking
from afterword.errors import InputError, MalformedReply
from afterword.templates import render

VERDICT = "verdict"
"""The id of the one check."""
_PACKAGE = "afterword.evaluators.environment"
_ASKED = 2
"""A reply that cannot be read is asked for once more."""


@dataclass(frozen=True, slots=True)
class TrajectoryJudge:
    """Asks a model whether a trial succeeded, and where it watches one whether it is stuck.

    The steps are shown bounded and marked as data. The reply is one JSON object with a boolean and a reason; a reply
    that is anything else twice is a fault and never a verdict.
    """

    model: Model
    every: int = 10
    """While it watches it is asked after each so many actions."""
    temperature: float | None = 0.0
    max_tokens: int = 150
    max_chars: int = 6_000
    """Most characters of the steps in a prompt."""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InputError(f"a judge that watches looks after every 1 action or more, found {self.every}")

    @property
    def check_ids(self) -> tuple[str, ...]:
        return (VERDICT,)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The model's opinion on a trial that is over.

        Raises:
            ModelFault: it could not be reached, or gave no verdict that can be read.
        """
        steps = context.trajectory.steps
        passed, why = await self._ask(
            "judge_success.jinja", "success", context.task, steps, context.effects, context.role
        )
        if passed:
            return Feedback(True, 1.0, "model", "ok", checks=(CheckResult(VERDICT, True),))
        message = f"A judge holds that the goal was not reached: {why or 'it gave no reason'}"
        return Feedback(False, 0.0, "model", "failed", message, (CheckResult(VERDICT, False, message),))

    async def stuck(self, task: Task, steps: Sequence[Step], effects: Effects) -> str:
        """Why a running trial is stuck, asked after every so many actions; empty in between.

        Raises:
            ModelFault: as `evaluate`.
        """
        actions = sum(1 for step in steps if step.action)
        if actions == 0 or actions % self.every or not steps[-1].action:
            return ""
        stuck, why = await self._ask("judge_stuck.jinja", "stuck", task, steps, effects, "watch")
        return (why or "a judge holds that there is no progress") if stuck else ""

    async def _ask(
        self, template: str, key: str, task: Task, steps: Sequence[Step], effects: Effects, role: str
    ) -> tuple[bool, str]:
        values = {"instructions": task.instructions.strip(), "steps": show_steps(steps, self.max_chars)}
        request = ChatRequest(
            (Message("user", render(_PACKAGE, template, values)),),
            self.max_tokens,
            self.temperature,
            schema={
                "type": "object",
                "properties": {"reason": {"type": "string"}, key: {"type": "boolean"}},
                "required": ["reason", key],
                "additionalProperties": False,
            },
        )
        for _ in range(_ASKED):
            reply = await effects.complete(role, self.model, request)
            answer = _read(reply.text)
            if isinstance(verdict := answer.get(key), bool):
                return verdict, " ".join(str(answer.get("reason", "")).split())[:300]
        raise MalformedReply(
            f"expected a JSON object with {key!r} as true or false from the judge {self.model.name}, "
            f"found {reply.text[:120]!r}",
            model=self.model.name,
        )


def _read(text: str) -> Mapping[str, object]:
    """The first JSON object in a reply; empty when there is none."""
    found = re.search(r"\{.*\}", strip_thinking(text), re.DOTALL)
    try:
        value: object = json.loads(found.group()) if found else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}

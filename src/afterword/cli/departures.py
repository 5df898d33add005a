"""Where a run departs from what was recorded: another lesson after a fork, held-out checks that were revealed.

Both are functions of what the run was started with, so that such a run can itself be resumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.protocols import EvaluateContext, Evaluator, Preparable, ReflectContext, Reflector
from afterword.core.records import CheckResult, Feedback, Reflection, Task

PREFIX = "held_out:"
REVEALED = "It passed the visible checks and failed held-out ones, which are shown now:"


@dataclass(frozen=True, slots=True)
class Departure:
    """How one task departs."""

    lesson_of: int = 0
    """The trial whose lesson is the given one; 0: none is."""
    lesson: str = ""
    revealed: int = 0
    """The trial whose held-out failure is revealed; 0: none is. One more trial follows it."""


@dataclass(frozen=True, slots=True)
class GivenLesson:
    """A reflector whose lesson of one trial is given by a person."""

    reflector: Reflector
    trial: int
    text: str

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        """The given lesson, or the inner reflector's."""
        if context.trial.number == self.trial:
            return Reflection(self.text, self.trial, source="person")
        return await self.reflector.reflect(context)


@dataclass(frozen=True, slots=True)
class RevealedChecks:
    """From one trial on the held-out checks are visible ones: they are burned, and accept nothing any more."""

    visible: Evaluator
    held_out: Evaluator
    since: int

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.visible.check_ids

    async def prepare(self, task: Task, effects: Effects) -> RevealedChecks:
        """With the visible evaluator prepared."""
        if not isinstance(self.visible, Preparable):
            return self
        return replace(self, visible=await self.visible.prepare(task, effects))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The visible verdict; where that passes, from the trial on that was rejected, the held-out one."""
        seen = await self.visible.evaluate(context)
        if not seen.passed or context.number < self.since:
            return seen
        held = await self.held_out.evaluate(replace(context, role="held_out"))
        checks = tuple(CheckResult(f"{PREFIX}{check.id}", check.passed, check.message) for check in held.checks)
        passing = seen.checks_passed + held.checks_passed
        total = len(seen.checks) + len(held.checks)
        return replace(
            held,
            checks=(*seen.checks, *checks),
            score=passing / total if total else held.score,
            message="" if held.passed else f"{REVEALED}\n{held.message}",
        )

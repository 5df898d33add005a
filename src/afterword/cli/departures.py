"""Where a run departs from what was recorded: another lesson after a fork, held-out checks revealed or given anew.

Both are functions of what the run was started with, so that such a run can itself be resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.leaks import check_texts
from afterword.core.protocols import EvaluateContext, Evaluator, Preparable, ReflectContext, Reflector
from afterword.core.records import CheckResult, Feedback, Reflection, Task

PREFIX = "held_out:"
REVEALED = "It passed the visible checks and failed held-out ones, which are shown now:"


@dataclass(frozen=True, slots=True)
class FreshChecks:
    """Held-out checks that a person gave after others were burned."""

    name: str
    """Of the file, whose ending says what it holds."""
    text: str


@dataclass(frozen=True, slots=True)
class Departure:
    """How one task departs."""

    lesson_of: int = 0
    """The trial whose lesson is the given one; 0: none is."""
    lesson: str = ""
    revealed: tuple[int, ...] = ()
    """The trials whose held-out failures are revealed. One more trial follows each."""
    fresh: tuple[FreshChecks, ...] = ()
    """What was given since: the first in place of what the first revelation burned, and so on."""

    @property
    def burned(self) -> bool:
        """Whether nothing can accept the task as long as no fresh checks are given."""
        return len(self.revealed) > len(self.fresh)

    def judged_by(
        self, visible: Evaluator, held_out: Evaluator | None, fresh: Sequence[Evaluator]
    ) -> tuple[Evaluator, Evaluator | None]:
        """The visible and the held-out evaluator from here on."""
        given = iter(fresh)
        for number, since in enumerate(self.revealed):
            if held_out is not None:
                visible, held_out = RevealedChecks(visible, held_out, since, number), next(given, None)
        return visible, held_out


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
    number: int = 0
    """How many others were revealed before."""

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.visible.check_ids

    def check_texts(self) -> tuple[str, ...]:
        """What may stand in a prompt: both are visible now."""
        return (*check_texts(self.visible), *check_texts(self.held_out))

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
        prefix = PREFIX if self.number == 0 else f"held_out_{self.number + 1}:"
        checks = tuple(CheckResult(f"{prefix}{check.id}", check.passed, check.message) for check in held.checks)
        passing = seen.checks_passed + held.checks_passed
        total = len(seen.checks) + len(held.checks)
        return replace(
            held,
            checks=(*seen.checks, *checks),
            score=passing / total if total else held.score,
            message="" if held.passed else f"{REVEALED}\n{held.message}",
        )

"""Own tests that are held against simple mutants of the first program that passes them: a weak suite gets more tests.

The writer is told that its tests are too few, and sees neither the program nor the mutants: tests are drawn from the
instructions, or they would say what the program does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from afterword.core.effects import Effects
from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Task
from afterword.errors import BudgetExhausted, InputError, NoOwnTests
from afterword.families.programming.mutants import mutants
from afterword.families.programming.own_tests.plain import OwnTest

if TYPE_CHECKING:
    from afterword.families.programming.own_tests.evaluator import OwnTests

MUTANTS = 8
LEAST_KILLED = 0.5
"""Of the mutants. Up to a third of them differ from a small program in nothing that a test could notice."""
ROLE = "mutants"

WriteMore = Callable[[Task, Effects, tuple[OwnTest, ...]], Awaitable[tuple[OwnTest, ...]]]
"""From the tests that there are to further ones."""


@dataclass(frozen=True, slots=True)
class Survivors:
    """What a suite made of a program's mutants."""

    made: int
    survived: int

    @property
    def too_many(self) -> bool:
        """Whether the suite is too weak."""
        return self.made > 0 and (self.made - self.survived) / self.made < LEAST_KILLED


@dataclass(slots=True)
class MutationChecked:
    """Own tests of one task that can grow once, before a program that passes them is taken for right."""

    tests: OwnTests
    more: WriteMore
    written: Callable[[tuple[OwnTest, ...]], None] | None = None
    checked: bool = False

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.tests.check_ids

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict; of the first program that passes, by more tests where its mutants pass too.

        Raises:
            SandboxFault: no verdict could be reached.
        """
        verdict = await self.tests.evaluate(context)
        if not verdict.passed or self.checked:
            return verdict
        self.checked = True
        source = context.trajectory.output
        request = (self.tests.counted_suite().digest, source, MUTANTS)
        found = await context.effects.effect(ROLE, request, lambda: self._survivors(source), Survivors)
        if not found.too_many:
            return verdict
        try:
            further = await self.more(context.task, context.effects, self.tests.tests)
        except (NoOwnTests, BudgetExhausted):
            return verdict  # there are no better tests to be had
        self.tests = replace(self.tests, tests=(*self.tests.tests, *further))
        if self.written is not None:
            self.written(self.tests.tests)
        return await self.tests.evaluate(context)

    async def _survivors(self, source: str) -> Survivors:
        try:
            made = mutants(source, seed=0, limit=MUTANTS)
        except InputError:  # too large or too deeply nested to be changed
            return Survivors(0, 0)
        survived = 0
        suite = self.tests.counted_suite()
        for mutant in made:
            verdict = await self.tests.pool.judge(mutant.source, suite, self.tests.limits)
            survived += verdict.passed
        return Survivors(len(made), survived)

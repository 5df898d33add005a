"""Own tests as the visible evaluator of the loop: written once before the first trial, the same for all trials."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from afterword.core.bounds import cut_end
from afterword.core.effects import Effects
from afterword.core.judging import NOT_REACHED
from afterword.core.protocols import EvaluateContext, Evaluator
from afterword.core.records import CheckResult, Feedback, Limits, Task
from afterword.evaluators.function_tests import FunctionTests, JudgePool, Suite
from afterword.evaluators.function_tests.verdict import PRINTED
from afterword.families.programming.actor import entry_point_of
from afterword.families.programming.own_tests.mutation_check import MutationChecked, WriteMore
from afterword.families.programming.own_tests.plain import OwnTest
from afterword.families.programming.own_tests.review import SetAside
from afterword.families.programming.own_tests.suite import suite_of

MAX_MESSAGE = 4_000

Write = Callable[[Task, Effects], Awaitable[tuple[OwnTest, ...]]]
"""Has the tests of a task written, e.g. `write_tests` with a model."""


@dataclass(frozen=True)
class OwnTests:
    """Judges a program by tests that a model wrote.

    The program has no way to the tests, yet what they expect is a model's opinion: `trust` is `model`.
    """

    tests: tuple[OwnTest, ...]
    entry_point: str
    pool: JudgePool
    limits: Limits = field(default_factory=Limits)
    aside: SetAside | None = None
    """Where a review can set one of the tests aside."""

    @cached_property
    def suite(self) -> Suite:
        """The tests as a judge runs them, none set aside."""
        return suite_of(self.tests, self.entry_point)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.suite.check_ids

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict; its message lists the tests that passed, and those that failed with what they saw.

        Raises:
            SandboxFault: no verdict could be reached.
        """
        counted = self._counted()
        feedback = await FunctionTests(self.counted_suite(), self.pool, self.limits).evaluate(context)
        note = "" if self.aside is None else self.aside.note
        told = "" if feedback.passed else self._message(feedback, [test for _, test in counted])
        return replace(feedback, trust="model", message="\n".join(filter(None, (told, note))))

    def _counted(self) -> tuple[tuple[str, OwnTest], ...]:
        """The tests that are not set aside, with the ids of their checks."""
        pairs = tuple(zip(self.suite.check_ids, self.tests, strict=True))
        if self.aside is None:
            return pairs
        self.aside.tests = pairs
        return tuple(pair for pair in pairs if pair[0] != self.aside.check_id)

    def counted_suite(self) -> Suite:
        """The tests that count now, as a judge runs them."""
        counted = self._counted()
        if len(counted) == len(self.tests):
            return self.suite
        return suite_of([test for _, test in counted], self.entry_point, [name for name, _ in counted])

    def _message(self, feedback: Feedback, tests: Sequence[OwnTest]) -> str:
        """As the paper's feedback: tests that failed, with the actual values, and tests that passed."""
        head, printed, output = feedback.message.partition(f"\n{PRINTED}\n")
        lines = [head.split("\n", 1)[0]]
        judged = [pair for pair in zip(feedback.checks, tests, strict=True) if pair[0].message != NOT_REACHED]
        passed = [f"  {test.text}" for check, test in judged if check.passed]
        failed = [_failed(check, test) for check, test in judged if not check.passed]
        if failed:
            lines += ["tests failed:", *failed]
        if passed:
            lines += ["tests passed:", *passed]
        missed = [check.id for check in feedback.checks if not check.passed and check.message == NOT_REACHED]
        if missed and judged:
            lines.append(f"not reached: {', '.join(missed)}")
        return cut_end("\n".join(lines) + printed + output, MAX_MESSAGE)


@dataclass(frozen=True)
class UnwrittenTests:
    """Own tests before they are written; the loop has them written once, before the first trial."""

    write: Write
    pool: JudgePool
    limits: Limits = field(default_factory=Limits)
    written: Callable[[tuple[OwnTest, ...]], None] | None = None
    """Told of the tests, whether a model wrote them now or a recorder gave them back."""
    aside: SetAside | None = None
    more: WriteMore | None = None
    """Has further tests written where the first ones prove too weak; None: that is not looked at."""
    check_ids: tuple[str, ...] = ()

    async def prepare(self, task: Task, effects: Effects) -> Evaluator:
        """The evaluator with its tests.

        Raises:
            NoOwnTests: the model wrote none that can be used.
        """
        tests = await self.write(task, effects)
        if self.written is not None:
            self.written(tests)
        evaluator = OwnTests(tests, entry_point_of(task), self.pool, self.limits, self.aside)
        return evaluator if self.more is None else MutationChecked(evaluator, self.more, self.written)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """Has tests written for this one verdict; the loop prepares instead."""
        evaluator = await self.prepare(context.task, context.effects)
        return await evaluator.evaluate(context)


def _failed(check: CheckResult, test: OwnTest) -> str:
    """A failed test: its id, what it is about, the assertion and the values."""
    about = f" ({test.description})" if test.description else ""
    message = check.message if test.text in check.message else f"{test.text}\n  {check.message}"
    return f"{check.id}{about}: {message}"

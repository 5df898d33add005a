"""`FunctionTests`: the evaluator that judges a trajectory's program by a suite."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Limits
from afterword.errors import BadTests, NoTests
from afterword.evaluators.function_tests.pool import JudgePool
from afterword.evaluators.function_tests.suite import Suite
from afterword.evaluators.function_tests.telling import check_texts


@dataclass(frozen=True)
class FunctionTests:
    """Judges the output of a trajectory, a Python program, by the checks of a suite."""

    suite: Suite
    pool: JudgePool
    limits: Limits = field(default_factory=Limits)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.suite.check_ids

    def check_texts(self) -> tuple[str, ...]:
        """What would give the checks away, for the leak audit."""
        return check_texts(self.suite)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict.

        Raises:
            BadTests: the tests fail by themselves, so nothing can be said of the program.
            SandboxFault: no verdict could be reached.
        """
        source = context.trajectory.output
        request = (self.suite.digest, source, asdict(self.limits))
        feedback = await context.effects.effect(
            context.role, request, lambda: self.pool.judge(source, self.suite, self.limits), Feedback
        )
        refuse_unusable(feedback, self.suite)
        return feedback


_FAILS_AT = re.compile(r"the test file fails at line (\d+): (.*)", re.DOTALL)
"""As a judge tells it (`evaluators.judge.runner`)."""


def refuse_unusable(verdict: Feedback, suite: Suite) -> None:
    """Raises `BadTests`, with the line where it is known, if a verdict says that the tests themselves are at fault."""
    if verdict.reason not in (BadTests.reason, NoTests.reason):
        return
    if (found := _FAILS_AT.search(verdict.message)) is None:
        raise BadTests(f"the tests cannot run: {verdict.message}; repair them", file=suite.file)
    cause = found[2].strip().splitlines()[0]
    raise BadTests(f"the tests cannot run: {cause}; repair this line", file=suite.file, line=int(found[1]))

"""`FunctionTests`: the evaluator that judges a trajectory's program by a suite."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Limits
from afterword.errors import BadTests
from afterword.evaluators.function_tests.pool import JudgePool
from afterword.evaluators.function_tests.suite import Suite


@dataclass(frozen=True)
class FunctionTests:
    """Judges the output of a trajectory, a Python program, by the checks of a suite."""

    suite: Suite
    pool: JudgePool
    limits: Limits = field(default_factory=Limits)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.suite.check_ids

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
        if feedback.reason == BadTests.reason:
            raise BadTests(feedback.message, file=self.suite.file)
        return feedback

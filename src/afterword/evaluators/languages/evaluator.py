"""`LanguageTests`: the evaluator that judges a trajectory's program by a suite of its language."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Limits
from afterword.evaluators.assertion_lines import assertion_lines
from afterword.evaluators.languages.judge import LanguageJudge
from afterword.evaluators.languages.suite import LanguageSuite


@dataclass(frozen=True)
class LanguageTests:
    """Judges the output of a trajectory, a program, by the checks of a suite."""

    suite: LanguageSuite
    judge: LanguageJudge
    limits: Limits = field(default_factory=Limits)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.suite.check_ids

    def check_texts(self) -> tuple[str, ...]:
        """What would give the checks away, for the leak audit: their names and the lines that assert."""
        lines = assertion_lines(self.suite.tests.text)
        return (*self.check_ids, *(line for line in lines if self.suite.entry_point in line))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict. Raises SandboxFault where none could be reached."""
        source = context.trajectory.output
        request = (self.suite.digest, source, asdict(self.limits))
        return await context.effects.effect(
            context.role, request, lambda: self.judge.judge(source, self.suite, self.limits), Feedback
        )

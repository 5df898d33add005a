"""`AskedVerdict`: a judge elsewhere decides, and a person types in what it said.

Nothing is sent anywhere: the program is shown, the person submits it where they like, and the answer is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from afterword.core.judging import NO_VERDICT
from afterword.core.protocols import EvaluateContext
from afterword.core.records import CheckResult, Feedback

QUESTION = "what did the judge say? [y] accepted, [n] not accepted, [Enter] skip: "
CHECK_ID = "judge"


@dataclass(frozen=True)
class AskedVerdict:
    """Shows the program and asks for the verdict, once; no answer is no verdict, and never a pass."""

    show: Callable[[str], None]
    read: Callable[[str], str]
    """Asks on the terminal; returns an empty text at the end of the input."""

    @property
    def check_ids(self) -> tuple[str, ...]:
        return (CHECK_ID,)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict that was typed in; the reason is `no_verdict` where it was skipped."""
        program = context.trajectory.output

        async def ask() -> Feedback:
            return self._ask(program)

        return await context.effects.effect(context.role, (CHECK_ID, program), ask, Feedback)

    def _ask(self, program: str) -> Feedback:
        self.show(program)
        while True:
            answer = self.read(QUESTION).strip().lower()
            if answer in ("y", "yes", "n", "no"):
                passed = answer.startswith("y")
                reason = "ok" if passed else "failed"
                return Feedback(passed, float(passed), "person", reason, checks=(CheckResult(CHECK_ID, passed),))
            if answer in ("", "s", "skip"):
                return Feedback(False, 0.0, "person", NO_VERDICT)
            self.show(f"expected y, n or Enter, found {answer[:40]!r}")

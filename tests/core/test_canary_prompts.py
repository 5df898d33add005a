"""Held-out text never reaches a real prompt: the programming agent's own, with canaries in the held-out check.

`test_canary.py` shows that nothing of it can be reached from a context; here are the requests that a model gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import anyio
import pytest

from afterword import (
    CheckResult,
    EvaluateContext,
    Feedback,
    Outcome,
    Reflexion,
    SlidingWindow,
    Strategy,
    Task,
)
from afterword.families.programming.actor import ProgramActor
from afterword.families.programming.reflection import program_reflector
from tests.core.doubles import ListModel

CANARY = "canary-9b2e"
VISIBLE = "expected 2, got 3"

TASK = Task(
    "half",
    "Return half of a number, rounded down.",
    {"entry_point": "half", "signature": "def half(n: int) -> int:", "language": "python"},
)
PROGRAMS = [f"```python\ndef half(n: int) -> int:\n    return n - {number}\n```" for number in (1, 2, 3)]
LESSONS = [
    "In test_five I got 3 where 2 was expected: I subtracted a constant. I will divide by two and round down.",
    "The assertion in test_five still says `got 3`, since I kept the subtraction. I will use `n // 2` instead.",
]


@dataclass
class VisibleTests:
    """Fails until the last trial, and passes there or not."""

    passes: bool
    check_ids: tuple[str, ...] = ("test_five",)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        passed = self.passes and context.number == 3
        found = CheckResult("test_five", passed, "" if passed else VISIBLE)
        return Feedback(passed, float(passed), "isolated", "ok" if passed else "failed", found.message, (found,))


@dataclass
class HeldOutTests:
    """A held-out check that is full of canaries."""

    end: str
    check_ids: tuple[str, ...] = (f"test_{CANARY}",)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        if self.end == "faults":
            raise RuntimeError(f"{CANARY} crashed")
        passed = self.end == "passes"
        found = CheckResult(f"test_{CANARY}", passed, f"expected {CANARY}")
        return Feedback(passed, float(passed), "isolated", "failed", f"{CANARY} failed", (found,))


@pytest.mark.parametrize(
    ("strategy", "end", "passes"), list(product(Strategy, ["passes", "fails", "faults"], [True, False]))
)
def test_no_request_holds_held_out_text(strategy: Strategy, end: str, passes: bool) -> None:
    writer, critic = ListModel(PROGRAMS * 2), ListModel(LESSONS * 9)
    agent = Reflexion(
        ProgramActor(writer),
        VisibleTests(passes),
        program_reflector(critic),
        strategy=strategy,
        memory=SlidingWindow(1),
        max_trials=3,
        stop_on_repetition=False,
        held_out=HeldOutTests(end),
    )

    async def main() -> list[Outcome]:
        return [await agent.run(TASK), await agent.run(TASK)]

    first, second = anyio.run(main)
    reached = {"passes": "accepted", "fails": "rejected", "faults": "faulted"}[end]
    assert first.status == second.status == (reached if passes or end == "faults" else "gave_up")

    prompts = [message.content for model in (writer, critic) for call in model.requests for message in call.messages]
    assert len(writer.requests) == 6
    assert (len(critic.requests) >= 4) is strategy.reflects
    assert [prompt for prompt in prompts if CANARY in prompt] == []
    assert any(VISIBLE in prompt for prompt in prompts) is (strategy is not Strategy.RETRY)

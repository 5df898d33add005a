"""Held-out text never flows back: canaries are planted in all that a held-out check can say, and looked for in
every prompt and in every context that an actor, an evaluator of the loop, a reflector or a memory gets.

The parts below leak on purpose: whatever they can reach from their context goes into their prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import product

import anyio
import pytest

from afterword import (
    ActContext,
    ChatRequest,
    CheckResult,
    EvaluateContext,
    Feedback,
    Message,
    Outcome,
    ReflectContext,
    Reflection,
    Reflexion,
    SlidingWindow,
    Strategy,
    Task,
    Trajectory,
)
from afterword.core.effects import Effects
from tests.core.doubles import Heard, ListModel
from tests.core.script import LESSONS

CANARY = "canary-4f1d"
HELD_OUT_ENDS = ["passes", "fails", "faults"]


def texts(value: object, seen: set[int] | None = None) -> Iterator[str]:
    """Every text that can be reached from a value by attributes and items."""
    seen = set() if seen is None else seen
    if isinstance(value, str):
        yield value
        return
    if id(value) in seen or value is None or isinstance(value, (int, float, type)):
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(key, seen)
            yield from texts(item, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from texts(item, seen)
    if is_dataclass(value):
        for one in fields(value):
            yield from texts(getattr(value, one.name), seen)
    for attribute in getattr(value, "__dict__", {}).values():
        yield from texts(attribute, seen)


@dataclass
class Leaky:
    """All roles of the loop; each asks the model with everything it can reach, as it is at that moment."""

    score: float
    model: ListModel = field(default_factory=lambda: ListModel(["ok"] * 999))
    reached: list[str] = field(default_factory=list)
    check_ids: tuple[str, ...] = ("visible",)
    lessons: tuple[Reflection, ...] = ()

    async def leak(self, role: str, context: object, effects: Effects) -> None:
        reached = "\n".join(texts(context))
        self.reached.append(reached)
        await effects.complete(role, self.model, ChatRequest((Message("user", reached),)))

    async def act(self, context: ActContext) -> Trajectory:
        await self.leak("actor", context, context.effects)
        if context.task.id == "silent":
            return Trajectory("", end="no_output")
        return Trajectory(f"output {context.number} of {context.task.id}")

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        await self.leak("judge", context, context.effects)
        score = self.score if context.number > 1 else 0.5
        return Feedback(score == 1.0, score, "model", "judged", "half of it", (CheckResult("visible", score == 1.0),))

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        await self.leak("reflector", context, context.effects)
        return Reflection(f"{LESSONS[context.trial.number]} in {context.task.id}", context.trial.number)


@dataclass(frozen=True)
class LeakyMemory:
    """A window that shows its model all that it can reach."""

    owner: Leaky
    window: SlidingWindow = field(default_factory=SlidingWindow)

    @property
    def lessons(self) -> tuple[Reflection, ...]:
        return self.window.lessons

    async def remember(self, reflection: Reflection, effects: Effects) -> LeakyMemory:
        await self.owner.leak("memory", (reflection, self.window, effects), effects)
        return LeakyMemory(self.owner, await self.window.remember(reflection, effects))


@dataclass
class HeldOut:
    """A held-out check that is full of canaries."""

    end: str
    check_ids: tuple[str, ...] = (f"test_{CANARY}",)
    asked: int = 0

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        self.asked += 1
        await context.effects.effect("held_out", CANARY, self.answer, str)
        if self.end == "faults":
            raise RuntimeError(f"{CANARY} crashed")
        passed = self.end == "passes"
        found = CheckResult(f"test_{CANARY}", passed, f"expected {CANARY}")
        return Feedback(passed, float(passed), "isolated", "failed", f"{CANARY} failed", (found,))

    async def answer(self) -> str:
        return CANARY


def run_three(
    strategy: Strategy, end: str, score: float, heard: Heard | None = None
) -> tuple[Leaky, HeldOut, list[Outcome]]:
    """Three tasks one after the other on one agent, since what one leaves behind could reach the next."""
    leaky, held_out = Leaky(score), HeldOut(end)
    agent = Reflexion(
        leaky,
        leaky,
        leaky,
        strategy=strategy,
        memory=LeakyMemory(leaky),
        max_trials=3,
        stop_on_repetition=False,
        held_out=held_out,
    )

    async def main() -> list[Outcome]:
        return [await agent.run(Task(name, "Do it."), events=heard) for name in ("first", "silent", "first")]

    return leaky, held_out, anyio.run(main)


@pytest.mark.parametrize(("strategy", "end", "score"), list(product(Strategy, HELD_OUT_ENDS, [1.0, 0.5])))
def test_held_out_text_reaches_no_prompt_and_no_context(strategy: Strategy, end: str, score: float) -> None:
    leaky, held_out, outcomes = run_three(strategy, end, score)
    assert held_out.asked == 2
    statuses = {"passes": "accepted", "fails": "rejected", "faults": "faulted"}
    expected = statuses[end] if score == 1.0 or end == "faults" else "gave_up"
    assert [outcome.status for outcome in outcomes] == [expected, "gave_up", expected]

    prompts = [message.content for request in leaky.model.requests for message in request.messages]
    assert len(prompts) == len(leaky.reached) > 6
    assert [prompt for prompt in prompts if CANARY in prompt] == []
    assert [reached for reached in leaky.reached if CANARY in reached] == []
    assert any("half of it" in prompt for prompt in prompts) is (strategy is not Strategy.RETRY)


@pytest.mark.parametrize("end", ["passes", "fails"])
def test_what_is_shown_of_a_held_out_verdict_has_no_text_of_it(end: str) -> None:
    heard = Heard()
    _, _, outcomes = run_three(Strategy.REFLEXION, end, 1.0, heard)
    assert outcomes[0].acceptance is not None
    assert outcomes[0].acceptance.checks_total == 1
    assert CANARY not in "\n".join(texts((outcomes, list(heard))))


def test_the_search_finds_a_canary_that_is_there() -> None:
    class Hidden:
        def __init__(self) -> None:
            self.deep = {"a": [(Feedback(False, 0.0, "exact", message=CANARY),)]}

    assert CANARY in "\n".join(texts([Hidden()]))
    assert CANARY in "\n".join(texts({CANARY: 1}))

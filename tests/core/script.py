"""An actor, an evaluator and a reflector that follow lists, for tests of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from afterword import (
    ActContext,
    Allowance,
    EvaluateContext,
    Evaluator,
    Feedback,
    MaxTrials,
    Memory,
    Parts,
    Passed,
    ReflectContext,
    Reflection,
    SlidingWindow,
    StopRule,
    Strategy,
    Trajectory,
    first_of,
)
from afterword.core.effects import Clock, Effects
from afterword.core.loop import run_loop
from afterword.core.protocols import Recorder
from afterword.core.records import Outcome
from tests.core.doubles import TASK, Heard, checks, make_effects

Item = TypeVar("Item")

NOTHING = Trajectory("", end="no_output", detail="The reply held no code.")
LESSONS = ("read all", "check zero", "split lines", "mind case", "count twice", "sort first", "go slower", "ask why")


@dataclass
class Script:
    """All three roles: what each does in trial 1, 2, …; an exception in a list is raised."""

    outputs: Sequence[str | Trajectory | Exception] = ()
    scores: Sequence[float | Exception] = ()
    lessons: Sequence[str | Reflection | Exception | None] = LESSONS
    check_ids: tuple[str, ...] = ("case:1", "case:2")
    did: list[str] = field(default_factory=list)
    acted: list[ActContext] = field(default_factory=list)
    reflected: list[ReflectContext] = field(default_factory=list)

    async def act(self, context: ActContext) -> Trajectory:
        self.did.append(f"act {context.number}")
        self.acted.append(context)
        output = pick(self.outputs, context.number, f"output {context.number}")
        if isinstance(output, Exception):
            raise output
        return output if isinstance(output, Trajectory) else Trajectory(output)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        self.did.append(f"{context.role} {context.number}")
        score = pick(self.scores, context.number, 0.0)
        if isinstance(score, Exception):
            raise score
        return Feedback(score == 1.0, score, "exact", checks=checks(score > 0, score == 1.0))

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        number = context.trial.number
        self.did.append(f"reflect {number}")
        self.reflected.append(context)
        lesson = pick(self.lessons, number, None)
        if isinstance(lesson, Exception):
            raise lesson
        return Reflection(lesson, number) if isinstance(lesson, str) else lesson

    def parts(
        self,
        *rules: StopRule,
        max_trials: int = 3,
        strategy: Strategy = Strategy.REFLEXION,
        memory: Memory | None = None,
        held_out: Evaluator | None = None,
    ) -> Parts:
        """The loop's parts, each of them this script."""
        return Parts(
            actor=self,
            evaluator=self,
            reflector=self,
            memory=SlidingWindow() if memory is None else memory,
            stop=first_of(Passed(), MaxTrials(max_trials), *rules),
            strategy=strategy,
            held_out=held_out,
        )


def pick(items: Sequence[Item], number: int, otherwise: Item) -> Item:
    """The entry of a trial."""
    return items[number - 1] if number <= len(items) else otherwise


async def run(
    parts: Parts,
    *,
    allowance: Allowance | None = None,
    recorder: Recorder | None = None,
    heard: Heard | None = None,
    clock: Clock | None = None,
    effects: Effects | None = None,
) -> Outcome:
    """The loop on the one task."""
    made = make_effects(allowance=allowance, recorder=recorder, heard=heard, clock=clock)
    return await run_loop(TASK, parts, effects or made)

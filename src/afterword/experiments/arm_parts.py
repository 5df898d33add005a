"""What arms put around the parts of a family: a vote among attempts, verdicts that say less, an empty lesson."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.judging import NOT_JUDGED
from afterword.core.leaks import check_texts
from afterword.core.protocols import ActContext, Actor, EvaluateContext, Evaluator, Preparable, ReflectContext
from afterword.core.records import Feedback, Reflection, Task, Trajectory
from afterword.errors import BudgetExhausted

UNKNOWN = "It is not known whether this attempt is right."
FAILED = "This attempt is wrong."
NO_LESSON = "I have no lesson from that attempt; I will use its report to do better."


def majority_of(actor: Actor, samples: int) -> Actor:
    """An actor that attempts the task so often and submits its commonest output."""
    return ResettingVote(actor, samples) if hasattr(actor, "reset") else MajorityVote(actor, samples)


@dataclass(frozen=True, slots=True)
class MajorityVote:
    """Attempts the task several times within one trial; the first attempt with the commonest output counts.

    Outputs are alike if they are the same but for case and white space. An attempt without output has no vote. Where
    the allowance ends before the last attempt, those that were made vote.
    """

    actor: Actor
    samples: int
    stateless: bool = True
    """The actor's world, if it has one, is put back before each attempt."""

    async def act(self, context: ActContext) -> Trajectory:
        """The attempt that is submitted."""
        attempts: list[Trajectory] = []
        for number in range(self.samples):
            try:
                context.effects.sample = number
                if number:
                    await self._put_back()
                attempts.append(await self.actor.act(context))
            except BudgetExhausted:
                if not attempts:
                    raise
                break
        context.effects.sample = 0
        votes = Counter(_alike(attempt.output) for attempt in attempts if attempt.end != "no_output")
        if not votes:
            return attempts[0]
        most = max(votes.values())
        return next(
            attempt for attempt in attempts if attempt.end != "no_output" and votes[_alike(attempt.output)] == most
        )

    async def _put_back(self) -> None:
        """A function of the context has no world."""


class ResettingVote(MajorityVote):
    """The same for an actor with a world."""

    async def reset(self) -> str:
        """Puts the actor's world back."""
        state: str = await getattr(self.actor, "reset")()  # noqa: B009 - `majority_of` has looked that it is there
        return state

    async def _put_back(self) -> None:
        await self.reset()


def _alike(output: str) -> str:
    return " ".join(output.split()).casefold()


@dataclass(frozen=True, slots=True)
class Blind:
    """Says of no attempt whether it is right; nothing is run."""

    evaluator: Evaluator

    @property
    def check_ids(self) -> tuple[str, ...]:
        return ()

    def check_texts(self) -> tuple[str, ...]:
        """What is no leak in a prompt, run or not."""
        return check_texts(self.evaluator)

    async def evaluate(self, context: EvaluateContext) -> Feedback:  # noqa: ARG002
        """Neither passed nor told why."""
        return Feedback(False, 0.0, "exact", NOT_JUDGED, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Unspoken:
    """Says whether an attempt passed, and not what failed in it."""

    evaluator: Evaluator

    @property
    def check_ids(self) -> tuple[str, ...]:
        return ()

    def check_texts(self) -> tuple[str, ...]:
        """What is no leak in a prompt, told or not."""
        return check_texts(self.evaluator)

    async def prepare(self, task: Task, effects: Effects) -> Unspoken:
        """With the evaluator within prepared."""
        if not isinstance(self.evaluator, Preparable):
            return self
        return Unspoken(await self.evaluator.prepare(task, effects))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict without its message and checks; the score stays, for choosing the best trial."""
        seen = await self.evaluator.evaluate(context)
        return replace(seen, message="" if seen.passed else FAILED, checks=(), reason="ok" if seen.passed else "failed")


@dataclass(frozen=True, slots=True)
class Uncharged:
    """Gives the verdict of an evaluator whose model calls count against no allowance.

    An allowance is for what an arm needs to come to its output, and not for finding out how it did.
    """

    evaluator: Evaluator

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.evaluator.check_ids

    def check_texts(self) -> tuple[str, ...]:
        """What the audit of leaks looks for."""
        return check_texts(self.evaluator)

    async def prepare(self, task: Task, effects: Effects) -> Uncharged:
        """With the evaluator within prepared."""
        if not isinstance(self.evaluator, Preparable):
            return self
        return Uncharged(await self.evaluator.prepare(task, effects))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict as it is."""
        with context.effects.uncharged():
            return await self.evaluator.evaluate(context)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A lesson that says nothing, in the place of one that a model writes."""

    async def reflect(self, context: ReflectContext) -> Reflection:
        """The same words after every trial."""
        return Reflection(NO_LESSON, context.trial.number, source="placeholder")

"""Arms: ways to spend an allowance, each a small value that shapes the loop which a family puts together.

An arm changes nothing of the task, its prompts or its checks; what it adds stands in `arm_parts`. A new arm is one
function here.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from afterword.core.protocols import Actor, Evaluator, Reflector
from afterword.core.records import Strategy
from afterword.errors import InputError
from afterword.experiments.arm_parts import Blind, Placeholder, Unspoken, majority_of

ARM_CHARS = 100
"""Most characters of the name that somebody gives an arm."""


def _same_actor(actor: Actor, samples: int) -> Actor:  # noqa: ARG001
    return actor


def _same_evaluator(evaluator: Evaluator) -> Evaluator:
    return evaluator


def _same_reflector(reflector: Reflector) -> Reflector:
    return reflector


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to spend an allowance."""

    name: str
    told: str
    """What it does, in a few words for a table."""
    strategy: Strategy
    one_trial: bool = False
    stop_when_passed: bool = True
    stop_on_repetition: bool = True
    actor: Callable[[Actor, int], Actor] = _same_actor
    """Of the family's actor, and of how many trials there may be."""
    evaluator: Callable[[Evaluator], Evaluator] = _same_evaluator
    """What the loop goes by, of the family's evaluator."""
    reflector: Callable[[Reflector], Reflector] = _same_reflector
    judges_itself: bool = False
    """The loop goes by what the actor's own model says of the attempt."""

    @property
    def sees_evaluator(self) -> bool:
        """Whether the family's evaluator decides in the loop; if not, it can judge what comes out in the end."""
        return self.evaluator is _same_evaluator and not self.judges_itself

    @property
    def goes_by_evaluator(self) -> bool:
        """Whether it asks the family's evaluator, whatever it is told of the verdict."""
        return self.evaluator is not Blind and not self.judges_itself

    @property
    def asks_reflector(self) -> bool:
        """Whether a model writes its lessons."""
        return self.strategy.reflects and self.reflector is _same_reflector

    @property
    def attempts(self) -> bool:
        """Whether each trial is several attempts."""
        return self.actor is not _same_actor

    @property
    def untold(self) -> bool:
        """Whether its actor is told nothing of earlier trials, so that their number does not change the question."""
        return self.strategy is Strategy.RETRY

    @property
    def samples(self) -> bool:
        """Whether it lives by differing attempts at the same prompt, so that a temperature of 0 makes no sense."""
        return self.untold and (not self.one_trial or self.actor is not _same_actor)


def single() -> Arm:
    """One attempt."""
    return Arm("single", "one attempt", Strategy.RETRY, one_trial=True)


def retry() -> Arm:
    """New attempts until one passes: what every other arm has to beat."""
    return Arm("retry", "attempts until one passes", Strategy.RETRY)


def best_of_n() -> Arm:
    """All attempts that the allowance carries; the visible evaluator chooses among them."""
    return Arm("best_of_n", "all attempts, the visible evaluator chooses", Strategy.RETRY, stop_when_passed=False)


def majority_vote() -> Arm:
    """All attempts; the commonest output is submitted, without a look at the evaluator (self-consistency)."""
    return Arm("majority_vote", "all attempts, the commonest output", Strategy.RETRY, one_trial=True, actor=majority_of)


def self_refine() -> Arm:
    """The actor's model judges and corrects itself (Madaan et al. 2023): what reflection is worth without a check."""
    return Arm(
        "self_refine",
        "the model judges and corrects itself",
        Strategy.LAST_ATTEMPT_AND_REFLEXION,
        stop_on_repetition=False,
        judges_itself=True,
    )


def last_attempt() -> Arm:
    """Each attempt sees the one before it and its report (the paper's episodic memory)."""
    return Arm("last_attempt", "sees the attempt before and its report", Strategy.LAST_ATTEMPT)


def reflexion() -> Arm:
    """Each attempt sees the lessons of those before it."""
    return Arm("reflexion", "sees the lessons", Strategy.REFLEXION)


def last_attempt_and_reflexion() -> Arm:
    """Each attempt sees both."""
    return Arm(
        "last_attempt_and_reflexion", "sees the attempt before and the lessons", Strategy.LAST_ATTEMPT_AND_REFLEXION
    )


def no_tests() -> Arm:
    """Ablation, the paper's "immediate reflexion": lessons are drawn blindly, and all trials are used."""
    return Arm(
        "no_tests",
        "lessons without a verdict, all trials",
        Strategy.LAST_ATTEMPT_AND_REFLEXION,
        stop_on_repetition=False,
        evaluator=Blind,
    )


def no_reflection() -> Arm:
    """Ablation, the paper's "immediate refinement": the verdict is seen, and a placeholder stands for the lesson."""
    return Arm(
        "no_reflection",
        "the report and a placeholder for the lesson",
        Strategy.LAST_ATTEMPT_AND_REFLEXION,
        reflector=lambda _: Placeholder(),
    )


def no_feedback() -> Arm:
    """Ablation: actor and reflector learn only that an attempt failed, and not what failed in it."""
    return Arm(
        "no_feedback",
        "lessons from pass or fail alone",
        Strategy.LAST_ATTEMPT_AND_REFLEXION,
        evaluator=Unspoken,
    )


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        single(),
        retry(),
        best_of_n(),
        majority_vote(),
        self_refine(),
        last_attempt(),
        reflexion(),
        last_attempt_and_reflexion(),
        no_tests(),
        no_reflection(),
        no_feedback(),
    )
}


def arm_named(name: str) -> Arm:
    """The arm of a name.

    Raises:
        InputError: there is none; the message lists them.
    """
    if name in ARMS:
        return ARMS[name]
    close = difflib.get_close_matches(name, ARMS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(ARMS)}"
    raise InputError(f"unknown arm {name!r}; {hint}")

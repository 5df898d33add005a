"""The ladder a pilot recommends: what is tried first, when it hands over, and how many tasks come that far.

A rung only goes by what is known when it decides: the evaluator's verdict, never the held-out check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from afterword.experiments.pilot.deciding import Answer
from afterword.experiments.pilot.tally import Standing, TaskSeen
from afterword.experiments.results import Result

LEAST_YIELD = 0.05
"""A trial that solves less than this share of the tasks that come to it is left out: one call in twenty pays."""

RungName = Literal["single", "retry", "reflexion", "stronger model", "person"]


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to go about a task, and the tasks of the pilot that would have come to it."""

    name: RungName
    trials: int | None
    """At most so many, counted from the first rung; None where the pilot has not tried it."""
    reached: int
    """Tasks that come to it: the evaluator passed none of the trials before."""
    solved: int | None
    """Of these; None where the pilot has not tried it."""
    tasks: int
    """Of the pilot."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """From the cheapest rung to the dearest."""

    rungs: tuple[Rung, ...]
    check_passes: Literal["no", "some", "all"]
    """Whether a person has to look at outputs that the evaluator passed: all, where it is shown to be wrong too often;
    some, where the pilot cannot rule that out."""


def ladder(tasks: Sequence[TaskSeen], seen: Standing) -> Ladder:
    """What these tasks recommend."""
    sound = [task for task in tasks if task.tells]
    firsts = [task.single for task in sound]
    rungs = [Rung("single", 1, len(sound), sum(_solved_in(one, 1, 1) for one in firsts), len(sound))]
    by_retry = seen.answer in (Answer.RETRY, Answer.LESSONS) or (
        seen.answer is not Answer.USE and seen.only_retry >= seen.only_reflexion
    )
    results = [task.retry if by_retry else task.reflexion for task in sound]
    most = most_trials(results)
    if most > 1:
        reached = sum(not _passed_by(one, 1) for one in results)
        solved = sum(_solved_in(one, 2, most) for one in results)
        rungs.append(Rung("retry" if by_retry else "reflexion", most, reached, solved, len(sound)))
    left = sum(not _passed_by(one, most) for one in results)
    rungs.append(Rung("stronger model", None, left, None, len(sound)))
    rungs.append(Rung("person", None, left, None, len(sound)))
    return Ladder(tuple(rungs), _check_passes(seen))


def most_trials(results: Sequence[Result]) -> int:
    """The last trial that solves enough of the tasks that come to it; 1 if none after the first does."""
    longest = max((len(result.trials) for result in results), default=0)
    most = 1
    for number in range(2, longest + 1):
        reached = [result for result in results if not _passed_by(result, number - 1) and len(result.trials) >= number]
        if reached and sum(_solved_in(one, number, number) for one in reached) >= LEAST_YIELD * len(reached):
            most = number
    return most


def _passed_by(result: Result, trial: int) -> bool:
    return any(one.passed for one in result.trials if one.number <= trial)


def _solved_in(result: Result, first: int, last: int) -> bool:
    """Whether the evaluator passed it in one of these trials, and rightly."""
    passed = next((trial.number for trial in result.trials if trial.passed), None)
    return passed is not None and first <= passed <= last and result.solved


def _check_passes(seen: Standing) -> Literal["no", "some", "all"]:
    bound = seen.rules.false_positives
    if seen.false_positives.value is not None and seen.false_positives.low > bound:
        return "all"
    return "no" if seen.false_positives.high <= bound else "some"

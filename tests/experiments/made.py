"""Results of experiments that never were, with known truths."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from afterword.core.records import StopReason, Usage
from afterword.experiments.results import Result, TrialResult


def result(
    task: str = "a",
    arm: str = "retry",
    seed: int = 0,
    passed: tuple[bool, ...] = (True,),
    accepted: bool | None = None,
    tokens: int = 100,
    cost_usd: float | None = 0.0,
    faulted: bool = False,
) -> Result:
    """A result whose trials passed or not, each at the same price."""
    one = Usage(1, tokens, 0, cost_usd=cost_usd, seconds=1.0)
    trials = []
    spent = Usage()
    for number, outcome in enumerate(passed, start=1):
        spent = spent + one
        trials.append(TrialResult(number, outcome, float(outcome), spent, number > 1))
    chosen = next((trial.number for trial in trials if trial.passed), len(trials)) if trials else None
    right = any(passed)
    if faulted:
        return Result(
            task, arm, seed, "faulted", None, tuple(trials), chosen, False, None, {"actor": spent}, "ServerFault"
        )
    status = "gave_up" if not right else "unverified" if accepted is None else "accepted" if accepted else "rejected"
    stop = StopReason.PASSED if right else StopReason.MAX_TRIALS
    return Result(task, arm, seed, status, stop, tuple(trials), chosen, right, accepted, {"actor": spent})  # type: ignore[arg-type]  # mypy joins the texts to str


def experiment(
    arms: Mapping[str, float],
    *,
    tasks: int = 100,
    seeds: int = 1,
    max_trials: int = 3,
    false_positives: float = 0.0,
    faults: float = 0.0,
    chance: random.Random | None = None,
) -> Iterator[Result]:
    """Arms that solve a task in each trial with a chance of their own, tasks being of differing difficulty."""
    chance = chance or random.Random(0)  # noqa: S311
    for number in range(tasks):
        easy = chance.betavariate(2, 2)
        for seed in range(seeds):
            for arm, gain in arms.items():
                passed: list[bool] = []
                while len(passed) < max_trials and not any(passed):
                    passed.append(chance.random() < min(1.0, easy * gain))
                accepted = any(passed) and chance.random() >= false_positives
                yield result(
                    f"t{number}",
                    arm,
                    seed,
                    tuple(passed),
                    accepted,
                    chance.randint(50, 500),
                    faulted=chance.random() < faults,
                )

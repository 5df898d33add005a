"""Whether rules help on tasks that gave no lesson to them: first trials with the rules against first trials without.

Only a first trial can tell, since from the second on a task has lessons of its own; and only tasks that no rule was
drawn from, since on the others a rule may hold an answer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from afterword.experiments.statistics import Estimate, tango, wilson


@dataclass(frozen=True, slots=True)
class FirstTrial:
    """How a first trial ended."""

    task: str
    seed: int
    passed: bool
    score: float


@dataclass(frozen=True, slots=True)
class Transfer:
    """First trials with rules against those without, pair by pair of task and seed."""

    pairs: int
    without: Estimate
    """The share that passed at the first trial."""
    with_rules: Estimate
    gained: int
    """Passed with the rules alone."""
    lost: int
    """Passed without them alone."""
    difference: Estimate
    p_value: float
    """Exact McNemar, two-sided."""
    mean_score_gain: float | None
    own: int
    """Pairs left out, since a rule was drawn from their task."""
    unpaired: int
    """First trials left out, since only one side has them."""


def transfer(without: Iterable[FirstTrial], with_rules: Iterable[FirstTrial], own_tasks: Collection[str]) -> Transfer:
    """Compares two runs on the tasks that both have and that no rule was drawn from."""
    before = {(one.task, one.seed): one for one in without}
    after = {(one.task, one.seed): one for one in with_rules}
    common = [key for key in before if key in after]
    own = [key for key in common if key[0] in own_tasks]
    kept = [(before[key], after[key]) for key in common if key[0] not in own_tasks]
    gained = sum(second.passed and not first.passed for first, second in kept)
    lost = sum(first.passed and not second.passed for first, second in kept)
    n = len(kept)
    return Transfer(
        pairs=n,
        without=wilson(sum(first.passed for first, _ in kept), n),
        with_rules=wilson(sum(second.passed for _, second in kept), n),
        gained=gained,
        lost=lost,
        difference=tango(lost, gained, n),
        p_value=mcnemar(lost, gained),
        mean_score_gain=math.fsum(second.score - first.score for first, second in kept) / n if n else None,
        own=len(own),
        unpaired=len(before) + len(after) - 2 * len(common),
    )


def mcnemar(one: int, other: int) -> float:
    """The exact two-sided p-value for so many discordant pairs of either kind; 1 where there is none."""
    n = one + other
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(one, other) + 1))
    return min(1.0, 2 * tail / (1 << n))

"""Evidence that may be looked at after every task: what a bet against a claim would have won, and the interval from it.

Whoever stops when a p-value suits them finds a difference between equal arms sooner or later; here the error rate holds
at all times together, so that the pilot may stop whenever the answer is clear. Needs no package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from afterword.experiments.statistics import Estimate

ALPHA = 0.05
"""How often an end of an interval may be wrong at any time at all."""
_STAKES = tuple((number + 0.5) / 32 for number in range(32))
"""Which share of its money a bet puts in; there is one bet with each, and together they win if one of them does."""
_STEPS = 40

Values = Mapping[float, float]
"""How often each value in [0, 1] was seen; one value a task."""


def evidence_of_more(values: Values, mean: float) -> float:
    """The logarithm of what bets against "the mean is at most this" have made of 1.

    Waudby-Smith and Ramdas 2024 (Journal of the Royal Statistical Society B 86, 1-27): as long as the claim holds, no
    bet wins on average, so by Ville's inequality the mixture of all (Robbins 1970, Annals of Mathematical Statistics
    41, 1397-1409) ever reaches 1 / alpha with a chance of at most alpha. For pairs scored 0, ½ and 1 and the claim
    "at most ½" a tie leaves it as it is, and what remains is the mixture of a fair coin over discordant pairs.
    """
    return _evidence(tuple(values.items()), mean)


@lru_cache(maxsize=1 << 15)
def _evidence(values: tuple[tuple[float, float], ...], mean: float) -> float:
    """Kept, since one more task as a rule leaves most of what was counted as it was."""
    if mean >= 1:
        return 0.0
    if mean <= 0:
        return math.inf if any(value > 0 and times > 0 for value, times in values) else 0.0
    rows = [(_gains(value, mean), times) for value, times in values if times]
    won = [sum(gains[at] * times for gains, times in rows) for at in range(len(_STAKES))]
    most = max(won)
    return most + math.log(sum(math.exp(one - most) for one in won) / len(won))


def evidence_of_less(values: Values, mean: float) -> float:
    """The same against "the mean is at least this"."""
    return evidence_of_more({1 - value: times for value, times in values.items()}, 1 - mean)


def is_enough(evidence: float, alpha: float = ALPHA) -> bool:
    """Whether a claim may be given up."""
    return evidence >= -math.log(alpha)


def confidence_sequence(values: Values, alpha: float = ALPHA) -> Estimate:
    """The mean, with an interval of which each end is wrong at any time with a chance of at most `alpha`."""
    n = sum(values.values())
    if not n:
        return Estimate(None, 0.0, 1.0, 0)
    mean = sum(value * times for value, times in values.items()) / n
    mirrored = {1 - value: times for value, times in values.items()}
    return Estimate(mean, _low(values, mean, alpha), 1 - _low(mirrored, 1 - mean, alpha), round(n))


def difference_sequence(only_first: float, only_second: float, ties: float, alpha: float = ALPHA) -> Estimate:
    """The difference of two paired shares, second less first, with such an interval."""
    found = confidence_sequence(pairs(only_first, only_second, ties), alpha)
    value = None if found.value is None else 2 * found.value - 1
    return Estimate(value, 2 * found.low - 1, 2 * found.high - 1, found.n)


def pairs(only_first: float, only_second: float, ties: float) -> Values:
    """Pairs as values: 1 where only the second solved it, 0 where only the first did, ½ where they are alike."""
    return {0.0: only_first, 0.5: ties, 1.0: only_second}


def _low(values: Values, mean: float, alpha: float) -> float:
    """The least mean that is not given up: the evidence falls as the claim says more."""
    low, high = 0.0, mean
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_enough(evidence_of_more(values, middle), alpha) else (low, middle)
    return low


@lru_cache(maxsize=4096)
def _gains(value: float, mean: float) -> tuple[float, ...]:
    """By which factor a value changes the money of each bet, as logarithm; 1 on average if the mean is this one."""
    return tuple(math.log(1 - stake + stake * value / mean) for stake in _STAKES)

"""Paired shares, percentiles and what many tests do to a p-value: the statistics that need no other package.

What resamples tasks is in `by_task`, which needs the extra `analysis`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from afterword.intervals import CONFIDENCE, Estimate, wilson

__all__ = ["CONFIDENCE", "Estimate", "holm", "percentile", "tango", "wilson"]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted for their number, step down (Holm 1979), in the order given."""
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return tuple(adjusted)


def tango(only_first: int, only_second: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """The difference of two paired shares, second less first, with its score interval (Tango 1998).

    Statistics in Medicine 17, 891-908, equations 4 and 6. Simulated at 5 settings of 30 to 164 pairs it covers
    the truth in 95 to 96 % of samples, where Newcombe's method 10 (same volume) covers it in 95 to 98 %.
    """
    if not 0 <= only_first + only_second <= n:
        raise ValueError(f"{only_first} and {only_second} discordant pairs are not among {n}")
    if n == 0:
        return Estimate(None, -1.0, 1.0, 0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    value = (only_second - only_first) / n

    def excess(difference: float) -> float:
        """How far, in standard errors, what was seen lies above a true difference; falls as that grows."""
        linear = (2 * n + only_first - only_second) * difference - only_first - only_second
        constant = only_first * difference * (1 - difference)
        discordant = (math.sqrt(max(0.0, linear * linear + 8 * n * constant)) - linear) / (4 * n)
        variance = n * (2 * discordant + difference * (1 - difference))
        gap = only_second - only_first - n * difference
        return 0.0 if gap == 0 else gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)

    low = _falls_to(z, excess, -1.0, value)
    high = _falls_to(-z, excess, value, 1.0)
    return Estimate(value, low, high, n)


def _falls_to(level: float, of: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function comes down to a level between two places."""
    if of(low) <= level:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) > level else (low, middle)
    return (low + high) / 2


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which `share` of the values lie, by linear interpolation; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

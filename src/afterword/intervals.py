"""A share with its interval: what is said wherever things are counted, so apart from the statistics of experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval."""

    value: float | None
    """None where there is nothing to estimate it from."""
    low: float
    high: float
    n: int
    """Tasks, or items, that it rests on."""


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """A share with Wilson's score interval (Wilson 1927); nothing tried gives the interval from 0 to 1."""
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be from 0 to {n}, found {successes}")
    if n == 0:
        return Estimate(None, 0.0, 1.0, 0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Estimate(share, low, high, n)

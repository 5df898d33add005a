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
    share = successes / n
    return Estimate(share, *wilson_ends(share, n, confidence), n)


def wilson_ends(share: float, size: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Both ends of Wilson's interval of a share of so many independent items, which need be no whole number."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (
        0.0 if share == 0 else max(0.0, centre - half),
        1.0 if share == 1 else min(1.0, centre + half),
    )

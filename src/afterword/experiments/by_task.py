"""Arms compared task by task: means, differences and curves with intervals that resample whole tasks.

The seeds of one task are no independent evidence, so a task is always drawn with all of them. Needs the
extra `analysis`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from afterword.errors import MissingExtra
from afterword.experiments.statistics import CONFIDENCE, Estimate, tango, wilson

try:
    import numpy as np
    from scipy import stats
except ImportError as missing:
    raise MissingExtra("analysis", missing.name or "scipy") from None

RESAMPLES = 2000
MANY = 10
"""Under so many tasks that stand out, a bootstrap repeats its few values, and an exact interval is taken in."""

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two arms on the same tasks: the difference of their means and what it rests on."""

    difference: Estimate
    """Second arm less first."""
    only_first: int
    """Tasks that only the first arm solved at the first seed; with several seeds, those it solved more often."""
    only_second: int
    p_value: float
    """Exact, two-sided: McNemar with one seed, else the sign test over tasks."""


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test: a fair coin thrown once for each discordant pair.

    No discordant pair gives 1.
    """
    if only_first + only_second == 0:
        return 1.0
    return float(stats.binomtest(only_first, only_first + only_second, 0.5).pvalue)


def mean_by_task(scores: Mapping[str, Sequence[float]], *, seed: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """The mean over tasks of each one's mean over seeds, every score in [0, 1].

    One seed of passes and failures is a plain share (Wilson); else tasks are resampled.
    """
    rows = [list(values) for values in scores.values() if values]
    if all(len(values) == 1 and values[0] in (0, 1) for values in rows):
        return wilson(int(sum(values[0] for values in rows)), len(rows), confidence)
    return _mean(np.asarray([fmean(values) for values in rows]), (0.0, 1.0), seed, confidence)


def paired(
    first: Mapping[str, Sequence[float]],
    second: Mapping[str, Sequence[float]],
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Paired:
    """Compares two arms on the tasks that both have, every score in [0, 1].

    With one seed of passes and failures the interval is Tango's for paired shares; else tasks are resampled,
    each with all its seeds.
    """
    tasks = [task for task, values in first.items() if values and second.get(task)]
    pairs = [(list(first[task]), list(second[task])) for task in tasks]
    differences = [fmean(b) - fmean(a) for a, b in pairs]
    only_first = sum(difference < 0 for difference in differences)
    only_second = sum(difference > 0 for difference in differences)
    p_value = mcnemar(only_first, only_second)
    if all(len(values) == 1 and values[0] in (0, 1) for pair in pairs for values in pair):
        difference = tango(only_first, only_second, len(pairs), confidence)
    else:
        difference = _mean(np.asarray(differences), (-1.0, 1.0), seed, confidence)
    return Paired(difference, only_first, only_second, p_value)


@dataclass(frozen=True, slots=True)
class Curve:
    """The share solved within each allowance, with a band that holds at each point for itself."""

    at: tuple[float, ...]
    share: tuple[Estimate, ...]


def solved_curve(
    solved_at: Mapping[str, Sequence[float | None]],
    at: Sequence[float],
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Curve:
    """The share of tasks solved for at most so much; `None` was never solved.

    `solved_at` gives, for each task, what each seed had spent when it solved it.
    """
    shares = []
    for point in at:
        scores = {
            task: [float(spent is not None and spent <= point) for spent in values]
            for task, values in solved_at.items()
        }
        shares.append(mean_by_task(scores, seed=seed, confidence=confidence))
    return Curve(tuple(at), tuple(shares))


def _mean(values: Floats, span: tuple[float, float], seed: int, confidence: float) -> Estimate:
    """The mean with an interval that stays honest where there is little to resample.

    The percentile bootstrap is too narrow for few tasks; its tails are widened to those of Student's t
    (Hesterberg 2015, The American Statistician 69, section 5.2). Where few tasks stand out from the rest it
    repeats itself; there the interval also takes in that of a share in which each of them counts full.
    """
    n = len(values)
    if n == 0:
        return Estimate(None, *span, 0)
    value = float(values.mean())
    bounded = _bounded(values, span, confidence)
    if n == 1:
        return Estimate(value, *span, 1)
    spread = math.sqrt(n / (n - 1)) * float(stats.t.ppf((1 + confidence) / 2, n - 1))
    tail = NormalDist().cdf(-spread)
    chance = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, 100):  # in parts: many tasks would take much memory at once
        chosen = chance.integers(0, n, size=(min(100, RESAMPLES - start), n))
        means[start : start + len(chosen)] = values[chosen].mean(axis=1)
    low, high = (float(bound) for bound in np.quantile(means, (tail, 1 - tail)))
    if _standing_out(values) < MANY:
        low, high = min(low, bounded[0]), max(high, bounded[1])
    return Estimate(value, max(span[0], low), min(span[1], high), n)


def _standing_out(values: Floats) -> int:
    """How many values differ from the commonest one."""
    _, counts = np.unique(values, return_counts=True)
    return int(len(values) - counts.max())


def _bounded(values: Floats, span: tuple[float, float], confidence: float) -> tuple[float, float]:
    """What is still possible when next to nothing was seen to vary: Wilson's interval on the span, rounded outwards."""
    low, high = span
    shares = (values - low) / (high - low)
    if span == (0.0, 1.0):
        down = wilson(math.floor(float(shares.sum())), len(values), confidence).low
        up = wilson(math.ceil(float(shares.sum())), len(values), confidence).high
        return down, up
    gains = wilson(math.ceil(float(values[values > 0].sum())), len(values), confidence)
    losses = wilson(math.ceil(float(-values[values < 0].sum())), len(values), confidence)
    return gains.low - losses.high, gains.high - losses.low

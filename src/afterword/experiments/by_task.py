"""Arms compared task by task: means, differences and curves, in whose intervals the seeds of one task belong together.

They are no independent evidence: a share counts them for what they are worth (see `shares`), and for a difference whole
tasks are resampled, each with all its seeds. Needs the extra `analysis`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist, fmean

from afterword.errors import MissingExtra
from afterword.experiments.shares import share_by_task
from afterword.experiments.statistics import CONFIDENCE, Estimate, tango, wilson

try:
    import numpy as np
    from scipy import special  # scipy.stats would take five times as long to load
except ImportError as missing:
    raise MissingExtra("analysis", missing.name or "scipy") from None

RESAMPLES = 2000
DRAWS = 20_000
MOST_WEIGHTS = 4_000_000
MOST_PRODUCTS = 20_000_000
FINEST = 1000
"""Grades count in steps of one in so many."""
LONGEST = 1_000_000
"""Most different sums of which the chances are added up one by one."""
MANY = 10
"""Under so many tasks that stand out, a bootstrap repeats its few values, and an exact interval is taken in."""

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two arms on the same tasks: the difference of their means and what it rests on."""

    difference: Estimate
    """Second arm less first."""
    only_first: int
    """Tasks that only the first arm solved at the first seed; with several seeds, those it solved more often."""
    only_second: int
    p_value: float | None
    """Two-sided: of random signs over tasks, which with one seed is McNemar's; None where there is no pair."""


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test: a fair coin thrown once for each discordant pair.

    No discordant pair gives 1.
    """
    if only_first + only_second == 0:
        return 1.0
    pairs = only_first + only_second
    return min(1.0, 2 * float(special.bdtr(min(only_first, only_second), pairs, 0.5)))


def random_signs(differences: Sequence[Fraction], *, seed: int = 0) -> float:
    """The two-sided p-value of a mean difference, were the arms exchanged in each task by a fair coin.

    Exact, but for grades and where tasks have many different numbers of seeds: there so many signs are drawn.

    The permutation test of Fisher and Pitman for pairs (Pitman 1937, Supplement to the Journal of the Royal
    Statistical Society 4, 119-130). Where all differences are of one size it is McNemar's.
    """
    unit = math.lcm(*(difference.denominator for difference in differences))
    steps = [int(difference * unit) for difference in differences]
    if sum(map(abs, steps)) > LONGEST:
        return _drawn_signs(np.asarray([float(difference) for difference in differences]), seed)
    chances = np.ones(1)
    for size, count in Counter(abs(step) for step in steps if step).items():
        part = np.zeros(size * count + 1)
        part[::size] = np.exp(
            special.gammaln(count + 1)
            - special.gammaln(np.arange(count + 1) + 1)
            - special.gammaln(count - np.arange(count + 1) + 1)
            - count * math.log(2)
        )
        chances = _summed(chances, part)
    sums = np.abs(2 * np.arange(len(chances)) - (len(chances) - 1))
    return min(1.0, float(chances[sums >= abs(sum(steps))].sum()))


def _drawn_signs(differences: Floats, seed: int) -> float:
    """The same by so many draws, what was seen being one of them (Davison and Hinkley 1997, section 4.3)."""
    chance = np.random.default_rng(seed)
    size = max(1, MOST_WEIGHTS // len(differences))
    least = abs(float(differences.sum())) * (1 - 1e-12)
    drawn = as_large = 0
    while drawn < DRAWS:
        signs = chance.integers(0, 2, size=(min(size, DRAWS - drawn), len(differences))) * 2.0 - 1
        as_large += int((np.abs(signs @ differences) >= least).sum())
        drawn += len(signs)
    return (as_large + 1) / (DRAWS + 1)


def _summed(one: Floats, other: Floats) -> Floats:
    """The chances of a sum of two; for long ones by way of their transforms, exact to some 1e-15."""
    if len(one) * len(other) <= MOST_PRODUCTS:
        return np.convolve(one, other)
    size = len(one) + len(other) - 1
    product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)
    return np.clip(product, 0.0, None)


def mean_by_task(scores: Mapping[str, Sequence[float]], *, seed: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """The mean over tasks of each one's mean over seeds, every score in [0, 1].

    Of passes and failures it is a share, with Wilson's interval by task; of other scores tasks are resampled.
    """
    return _shares([[list(values)] for values in scores.values() if values], 1, seed, confidence)[0]


def paired(
    first: Mapping[str, Sequence[float]],
    second: Mapping[str, Sequence[float]],
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Paired:
    """Compares two arms on the tasks that both have, every score in [0, 1].

    Where in both arms the seeds of every task agree, as one seed does with itself, the interval is Tango's for paired
    shares; else tasks are resampled, each with all its seeds.
    """
    tasks = [task for task, values in first.items() if values and second.get(task)]
    pairs = [(list(first[task]), list(second[task])) for task in tasks]
    exact = [_mean(b) - _mean(a) for a, b in pairs]
    differences = [float(difference) for difference in exact]
    only_first = sum(difference < 0 for difference in differences)
    only_second = sum(difference > 0 for difference in differences)
    if all(len(set(scores)) == 1 and scores[0] in (0, 1) for pair in pairs for scores in pair):
        p_value = mcnemar(only_first, only_second) if pairs else None
        difference = tango(only_first, only_second, len(pairs), confidence)
    else:
        p_value = random_signs(exact, seed=seed)
        table = np.asarray(differences, dtype=float).reshape(len(differences), 1)
        difference = _means(table, (-1.0, 1.0), seed, confidence)[0]
        difference = replace(difference, value=float(sum(exact, Fraction()) / len(exact)))
    return Paired(difference, only_first, only_second, p_value)


def _mean(scores: Sequence[float]) -> Fraction:
    return Fraction(sum(round(score * FINEST) for score in scores), FINEST * len(scores))


@dataclass(frozen=True, slots=True)
class Curve:
    """The share solved within each allowance, with a band that holds at each point for itself."""

    at: tuple[float, ...]
    share: tuple[Estimate, ...]


def solved_curve(
    steps: Mapping[str, Sequence[Sequence[tuple[float, bool]]]],
    at: Sequence[float],
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Curve:
    """The share of tasks that are solved where at most so much is spent.

    `steps` gives, for each task and each of its seeds, what had been spent at some moments, the earlier first, and
    whether the task was solved then. Each step stands until the next one.
    """
    points = np.asarray(at, dtype=float)
    rows = [np.array([_at(points, one) for one in seeds]).T.tolist() for seeds in steps.values() if seeds]
    return Curve(tuple(at), tuple(_shares(rows, len(at), seed, confidence)))


def _at(points: Floats, steps: Sequence[tuple[float, bool]]) -> Floats:
    """Whether it was solved, 1 or 0, at each of the points."""
    solved = np.array([0.0, *(float(one) for _, one in steps)])
    return solved[np.searchsorted([spent for spent, _ in steps], points, side="right")]


def _shares(rows: Sequence[Sequence[Sequence[float]]], width: int, seed: int, confidence: float) -> list[Estimate]:
    """The means of several scores at once; a row is a task, with the seeds of each score."""
    if all(value in (0, 1) for row in rows for seeds in row for value in seeds):
        return [share_by_task((row[at] for row in rows), confidence) for at in range(width)]
    values = np.asarray([[fmean(seeds) for seeds in row] for row in rows], dtype=float).reshape(len(rows), width)
    return _means(values, (0.0, 1.0), seed, confidence)


def _means(values: Table, span: tuple[float, float], seed: int, confidence: float) -> list[Estimate]:
    """The mean of each column, with an interval that stays honest where there is little to resample.

    The percentile bootstrap is too narrow for few tasks; its tails are widened to those of Student's t
    (Hesterberg 2015, The American Statistician 69, section 5.2). Where few tasks stand out from the rest it
    repeats itself; there the interval also takes in that of a share in which each of them counts full.
    """
    n, width = values.shape
    if n < 2:
        return [Estimate(None if n == 0 else float(values[0, at]), *span, n) for at in range(width)]
    spread = math.sqrt(n / (n - 1)) * float(special.stdtrit(n - 1, (1 + confidence) / 2))
    tail = NormalDist().cdf(-spread)
    bounds = np.quantile(_resampled(values, seed), (tail, 1 - tail), axis=0)
    estimates = []
    for column, (low, high) in zip(values.T, bounds.T, strict=True):
        if _standing_out(column) < MANY:
            exact = _bounded(column, span, confidence)
            low, high = min(low, exact[0]), max(high, exact[1])
        estimates.append(Estimate(math.fsum(column) / n, max(span[0], float(low)), min(span[1], float(high)), n))
    return estimates


def _resampled(values: Table, seed: int) -> Table:
    """The means of so many samples of the rows, each drawn with replacement; all columns from the same rows."""
    n = len(values)
    parts = -(-n * RESAMPLES // MOST_WEIGHTS)  # many tasks at once would take much memory
    size = -(-RESAMPLES // parts)
    means = [_weights(n, size, part, seed) @ values / n for part in range(parts)]
    return np.concatenate(means)[:RESAMPLES]


@lru_cache(maxsize=2)
def _weights(n: int, samples: int, part: int, seed: int) -> Table:
    """How often each of n rows is in each sample; kept, since the curves of one arm all draw the same."""
    chosen = np.random.default_rng([seed, part]).integers(0, n, size=(samples, n)) + n * np.arange(samples)[:, None]
    return np.bincount(chosen.ravel(), minlength=samples * n).reshape(samples, n).astype(float)


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

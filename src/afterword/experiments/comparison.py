"""Arms compared: what each solved, how sure that is, what it cost, and how often its evaluator was wrong.

One pass over the results; terminal, JSON, CSV, Markdown and HTML all show this one record. Needs the extra `analysis`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from afterword.core.records import StopReason, Usage
from afterword.errors import InputError
from afterword.experiments.by_task import Curve, Paired, mean_by_task, paired, solved_curve
from afterword.experiments.caveats import caveats, why_apart
from afterword.experiments.results import SELF_JUDGE, Result
from afterword.experiments.spending import Measure, Spending, calls_of, cost_of, spending_of, tokens_of
from afterword.experiments.statistics import Estimate, holm
from afterword.families.programming.own_tests.confusion import Confusion

POINTS = 60
"""Most points of a curve."""
EASY, HARD = 2 / 3, 1 / 3
"""A task is easy if this share of the other seeds solves it, and hard if no more than that."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Tasks of like difficulty, as the other seeds found them."""

    name: str
    tasks: int
    """Tasks x seeds in it."""
    solved: Estimate


@dataclass(frozen=True, slots=True)
class ArmReport:
    """One arm."""

    arm: str
    tasks: int
    results: int
    faults: int
    solved: Estimate
    """Share of tasks, faults left out."""
    if_faults_failed: Estimate
    if_faults_passed: Estimate
    evaluator: Confusion
    """What the visible evaluator said of the submitted output against the held-out check."""
    judged: int
    """Results that its evaluator and a held-out check judged; the matrix rests on them."""
    unconfirmed: int
    """Results that no held-out check judged: they count as the visible evaluator said."""
    false_positives: Estimate
    """Share of what its evaluator passed that is wrong; by task, so with several seeds not just that of the counts."""
    false_negatives: Estimate
    """Share of what its evaluator failed that is right."""
    by_trial: tuple[Estimate, ...]
    """Share solved with at most 1, 2, … trials."""
    spending: Spending
    against_tokens: Curve
    against_calls: Curve
    against_cost: Curve | None
    """None where a price is not known or nothing costs."""
    strata: tuple[Stratum, ...]
    ends: Mapping[StopReason, int]
    """How many of its results ended for which reason, faults left out."""
    judges_itself: bool
    """Its evaluator is the actor's own model."""


@dataclass(frozen=True, slots=True)
class Against:
    """An arm against the baseline, on the tasks that both have."""

    arm: str
    baseline: str
    tasks: int
    paired: Paired
    p_adjusted: float | None
    """Holm's, over all arms that can be compared; None where this one cannot."""
    apart: str
    """Why it cannot be compared; empty where it can."""
    with_faults: tuple[float, float] | None
    """The least and the most that the difference could be, faults being failures or solved; None: there are none."""
    times_tokens: float | None
    """What it spent on those tasks, as a multiple of the baseline's; None where that is not known or nothing."""
    times_cost: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it."""

    arms: tuple[ArmReport, ...]
    baseline: str
    against: tuple[Against, ...]
    tasks: int
    seeds: int
    common: int
    """Tasks that all arms have."""
    caveats: tuple[str, ...]
    """What the numbers cannot say, in sentences."""


def compare(results: Iterable[Result], *, baseline: str | None = None, seed: int = 0) -> Comparison:
    """Compares the arms of an experiment.

    Args:
        results: of all arms.
        baseline: the arm that the others are held against; `retry` if there is one, else the first.
        seed: of the resampling.

    Raises:
        InputError: there is no result, or no arm of the baseline's name.
        MissingExtra: scipy is not installed.
    """
    by_arm: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_arm[result.arm].append(result)
    if not by_arm:
        raise InputError("there is no finished task to compare; let the run finish some first")
    chosen = baseline or ("retry" if "retry" in by_arm else next(iter(by_arm)))
    if chosen not in by_arm:
        raise InputError(f"there is no arm {chosen!r} to compare with; there are {', '.join(by_arm)}")
    every = [result for rows in by_arm.values() for result in rows]
    strata = _strata(every)
    measures: tuple[Measure, ...] = (tokens_of, calls_of, cost_of)
    usages = [  # the last trial's is the same as the whole but for rounding
        usage for row in every if not row.faulted for usage in (row.spent, *(trial.spent for trial in row.trials[-1:]))
    ]
    points = {of: _points(usages, of) for of in measures}
    arms = tuple(_arm(name, rows, strata, points, seed) for name, rows in by_arm.items())
    against = _against(by_arm, chosen, seed)
    tasks = {name: {row.task for row in rows} for name, rows in by_arm.items()}
    return Comparison(
        arms,
        chosen,
        against,
        len({result.task for result in every}),
        len({result.seed for result in every}),
        len(set.intersection(*tasks.values())),
        tuple(caveats(by_arm, arms, against)),
    )


def _arm(
    name: str,
    rows: Sequence[Result],
    strata: Mapping[tuple[str, int], str],
    points: Mapping[Measure, Sequence[float]],
    seed: int,
) -> ArmReport:
    sound = [row for row in rows if not row.faulted]
    both = [row for row in sound if row.accepted is not None and row.judged]
    matrix = Confusion()
    for row in both:
        matrix = matrix.plus(passed=row.passed, right=bool(row.accepted))

    def share(of: Iterable[Result], solved: Callable[[Result], bool]) -> Estimate:
        return mean_by_task(_scores(of, solved), seed=seed)

    def curve(of: Measure) -> Curve:
        steps: dict[str, list[list[tuple[float, bool]]]] = defaultdict(list)
        for row in sound:
            known = [(of(spent), solved) for spent, solved in row.steps()]
            steps[row.task].append([(spent, solved) for spent, solved in known if spent is not None])
        return solved_curve(steps, points[of], seed=seed)

    most = max((len(row.trials) for row in sound), default=0)
    ended = Counter(row.stop_reason for row in sound)
    return ArmReport(
        name,
        len({row.task for row in rows}),
        len(rows),
        len(rows) - len(sound),
        share(sound, lambda row: row.solved),
        share(rows, lambda row: row.solved),
        share(rows, lambda row: row.faulted or row.solved),
        matrix,
        matrix.total,
        sum(row.accepted is None for row in sound),
        share((row for row in both if row.passed), lambda row: not row.accepted),
        share((row for row in both if not row.passed), lambda row: bool(row.accepted)),
        tuple(share(sound, partial(Result.solved_by, trial=n)) for n in range(1, most + 1)),
        spending_of(sound),
        curve(tokens_of),
        curve(calls_of),
        curve(cost_of) if points[cost_of] else None,
        tuple(
            _stratum(level, sound, strata, seed) for level in dict.fromkeys(sorted(strata.values(), key=_LEVELS.index))
        ),
        {reason: ended[reason] for reason in StopReason if ended[reason]},
        any(SELF_JUDGE in row.usage for row in rows),
    )


def _scores(rows: Iterable[Result], solved: Callable[[Result], bool]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        scores[row.task].append(float(solved(row)))
    return scores


def _points(usages: Sequence[Usage], of: Measure) -> Sequence[float]:
    """Where a curve is drawn: from nothing to the most that was spent; empty where nothing is known of it."""
    spent = [of(usage) for usage in usages]
    known = [value for value in spent if value is not None]
    most = max(known, default=0.0)
    if len(known) < len(spent) or most == 0:
        return ()
    steps = min(POINTS, int(most)) if of is calls_of else POINTS
    return [*(most * step / steps for step in range(1, steps)), most]


_LEVELS = ("easy", "middling", "hard")


def _strata(results: Sequence[Result]) -> dict[tuple[str, int], str]:
    """How hard each task is for a seed, by what all arms came to with the other seeds; empty with one seed."""
    solved: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in results:
        if not row.faulted:
            solved[row.task][row.seed].append(row.solved)
    levels = {}
    for task, by_seed in solved.items():
        for seed in by_seed:
            others = [one for other, ones in by_seed.items() if other != seed for one in ones]
            if others:
                share = fmean(others)
                levels[task, seed] = "easy" if share >= EASY else "hard" if share <= HARD else "middling"
    return levels


def _stratum(name: str, rows: Sequence[Result], strata: Mapping[tuple[str, int], str], seed: int) -> Stratum:
    within = [row for row in rows if strata.get((row.task, row.seed)) == name]
    return Stratum(name, len(within), mean_by_task(_scores(within, lambda row: row.solved), seed=seed))


def _against(by_arm: Mapping[str, Sequence[Result]], baseline: str, seed: int) -> tuple[Against, ...]:
    """Each arm against the baseline on what both have without a fault: the same tasks with the same seeds."""
    base = {(row.task, row.seed): row for row in by_arm[baseline]}
    found = []
    for name, rows in by_arm.items():
        if name == baseline:
            continue
        common = [(base[row.task, row.seed], row) for row in rows if (row.task, row.seed) in base]
        both = [(one, other) for one, other in common if not one.faulted and not other.faulted]
        first = _scores((one for one, _ in both), lambda row: row.solved)
        second = _scores((other for _, other in both), lambda row: row.solved)
        bounds = _with_faults(common) if len(both) < len(common) else None
        found.append((name, len(first), paired(first, second, seed=seed), bounds, both))
    known = {name: one.p_value for name, _, one, _, _ in found if one.p_value is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return tuple(
        Against(
            name,
            baseline,
            tasks,
            one,
            adjusted.get(name),
            "" if tasks else why_apart(by_arm[name], by_arm[baseline]),
            bounds,
            *_times(both),
        )
        for name, tasks, one, bounds, both in found
    )


def _with_faults(pairs: Sequence[tuple[Result, Result]]) -> tuple[float, float]:
    """The difference if the faults of one arm were failures and those of the other were solved, and the other way."""
    by_task: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one, other in pairs:
        least = float(other.solved) - float(one.solved or one.faulted)
        most = float(other.solved or other.faulted) - float(one.solved)
        by_task[one.task].append((least, most))
    return (
        fmean(fmean(least for least, _ in found) for found in by_task.values()),
        fmean(fmean(most for _, most in found) for found in by_task.values()),
    )


def _times(pairs: Sequence[tuple[Result, Result]]) -> tuple[float | None, float | None]:
    """What the second ones spent, as a multiple of the first ones': tokens and cost."""
    first, second = (sum((pair[place].spent for pair in pairs), Usage()) for place in (0, 1))
    return _multiple(second.tokens, first.tokens), _multiple(second.cost_usd, first.cost_usd)


def _multiple(of: float | None, base: float | None) -> float | None:
    return None if of is None or base is None or base <= 0 else of / base

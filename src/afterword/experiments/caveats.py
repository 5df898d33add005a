"""What the numbers of a comparison cannot say, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from afterword.core.records import StopReason
from afterword.experiments.results import Result

if TYPE_CHECKING:
    from afterword.experiments.comparison import Against, ArmReport

_OUT_OF_ALLOWANCE = (StopReason.CALLS, StopReason.TOKENS, StopReason.COST)


def caveats(
    by_arm: Mapping[str, Sequence[Result]], arms: Sequence[ArmReport], against: Sequence[Against]
) -> Iterator[str]:
    """Of the results of each arm, and of what came of them."""
    tasks = {name: {row.task for row in rows} for name, rows in by_arm.items()}
    yield from _of_pairs(by_arm, against, tasks)
    yield from _of_results(by_arm, arms, tasks)


def why_apart(rows: Sequence[Result], base: Sequence[Result]) -> str:
    """Why nothing of an arm can be paired with the baseline."""
    if {(row.task, row.seed) for row in rows} & {(row.task, row.seed) for row in base}:
        return "have no task in common that both came through without a fault"
    if {row.task for row in rows} & {row.task for row in base}:
        return "have no seed in common"
    return "have no task in common"


def _of_pairs(
    by_arm: Mapping[str, Sequence[Result]], against: Sequence[Against], tasks: Mapping[str, set[str]]
) -> Iterator[str]:
    """What there is one of only, and what some arms lack."""
    if len(by_arm) == 1:
        yield "There is one arm only: nothing is compared."
    if len({row.seed for rows in by_arm.values() for row in rows}) == 1:
        yield "One seed: chance within a task cannot be told from the arm, and no task can be called easy or hard."
    if len(set.union(*tasks.values())) == 1:
        yield "One task: nothing follows for other tasks."
    for one in against:
        if one.tasks == 0:
            yield f"{one.arm} and {one.baseline} {one.apart}: they cannot be compared."
    partly = [one for one in against if 0 < one.tasks < max(len(tasks[one.arm]), len(tasks[one.baseline]))]
    if len(partly) > 2:
        fewest, most = min(one.tasks for one in partly), max(one.tasks for one in partly)
        common = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        base = partly[0].baseline
        yield f"{len(partly)} arms are compared with {base} on the {common} tasks that both have without a fault."
    else:
        for one in partly:
            yield f"{one.arm} and {one.baseline} are compared on the {one.tasks} tasks that both have without a fault."
    seeds = {arm: {row.seed for row in rows} for arm, rows in by_arm.items()}
    for name, having in seeds.items():
        if missing := len(set.union(*seeds.values()) - having):
            every = len(having) + missing
            yield f"{name} lacks {missing} of {every} seeds: differences go by those that both arms have."


def _of_results(
    by_arm: Mapping[str, Sequence[Result]], arms: Sequence[ArmReport], tasks: Mapping[str, set[str]]
) -> Iterator[str]:
    """What was not judged, not told apart, cut short or faulted."""
    untold = [
        any(trial.accepted is None for trial in row.trials[:-1])
        for rows in by_arm.values()
        for row in rows
        if row.accepted is not None
    ]
    if any(untold):
        yield (
            f"In {sum(untold):,} of {len(untold):,} results only the output that was submitted was judged: curves and "
            "shares by trial may be too low before the last trial."
        )
    if any(arm.unconfirmed for arm in arms):
        yield (
            "Some outputs had no held-out check: they count as the visible evaluator judged them, "
            "and how often it is wrong is not known."
        )
    if all(arm.solved.value == 0 for arm in arms):
        nothing = "No arm solved anything" if len(arms) > 1 else "The arm solved nothing"
        yield f"{nothing}: the tasks are too hard for this model, or the checks cannot be passed."
    elif len(set.union(*tasks.values())) > 1 and all(arm.solved.value == 1 and not arm.faults for arm in arms):
        apart = " to tell the arms apart" if len(arms) > 1 else ": what another arm would do better cannot be seen"
        yield f"{'Every' if len(arms) > 1 else 'The'} arm solved everything: the tasks are too easy{apart}."
    for name, rows in by_arm.items():
        ended = Counter(len(row.trials) for row in rows if row.stop_reason in _OUT_OF_ALLOWANCE)
        for trials, which in ((0, "trial"), (1, "second trial")):
            if ended[trials]:
                yield f"In {ended[trials]:,} of {len(rows):,} results of {name} the allowance carried no {which}."
    if any(arm.faults for arm in arms):
        yield "Results with a fault are left out; the bounds show what they could change."

"""The one table that every form of a report shows: a row for each arm, a cell being a figure and what qualifies it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from afterword.experiments.comparison import Against, ArmReport, Comparison
from afterword.experiments.report.verdict import beats, loses
from afterword.experiments.report.wording import NONE, interval, number, p_value, percent, signed, usd

FAULTS = "faults"
FAULTS_TOLD = "With faults: what it would have solved if they all counted as failed, and if they all counted as solved."


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure, and beside it its interval or what it is a part of."""

    main: str
    detail: str = ""
    mood: str = ""
    """`better` or `worse` than the baseline, beyond chance."""

    def __str__(self) -> str:
        return f"{self.main} ({self.detail})" if self.detail else self.main


@dataclass(frozen=True, slots=True)
class ArmTable:
    """Rows of as many cells as there are heads."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    compared: bool
    """Whether there is a baseline."""

    @property
    def key(self) -> str:
        """What has to be said to read it."""
        faults = any(row[-1].detail for row in self.rows)
        against = "; p is exact, and adjusted for the number of arms (Holm)" if self.compared else ""
        return f"Intervals are of 95 %{against}.{f' {FAULTS_TOLD}' if faults else ''}"


def arm_table(comparison: Comparison) -> ArmTable:
    """What each arm solved, how it compares, what it cost, and how far its evaluator can be trusted."""
    against = {one.arm: one for one in comparison.against}
    priced = any(arm.spending.cost_usd.mean not in (None, 0.0) for arm in comparison.arms)
    judged = any(arm.judged for arm in comparison.arms)
    heads = ["arm", "solved"]
    if comparison.against:
        heads.append(f"against {comparison.baseline}")
    heads += ["tokens per solved", "calls per solved"]
    heads += ["USD per solved"] if priced else []
    heads += ["passed but wrong"] if judged else []
    heads.append(FAULTS)

    def row(arm: ArmReport) -> Iterator[Cell]:
        spent = arm.spending
        yield Cell(arm.arm, _base(arm, comparison))
        yield Cell(percent(arm.solved.value), "" if arm.solved.value is None else interval(arm.solved))
        if comparison.against:
            yield _difference(against.get(arm.arm))
        yield Cell(number(spent.tokens_per_solved), _a_task(number(spent.tokens.mean)))
        yield Cell(number(spent.calls_per_solved), _a_task(number(spent.calls.mean)))
        if priced:
            solved = spent.tokens_per_solved is not None
            yield Cell(usd(spent.cost_per_solved_usd) if solved else NONE, _a_task(usd(spent.cost_usd.mean)))
        if judged:
            wrong = arm.false_positives
            yield Cell(percent(wrong.value), "" if wrong.value is None else interval(wrong))
        yield _faults(arm)

    return ArmTable(tuple(heads), tuple(tuple(row(arm)) for arm in comparison.arms), bool(comparison.against))


def _base(arm: ArmReport, comparison: Comparison) -> str:
    return "baseline" if comparison.against and arm.arm == comparison.baseline else ""


def _a_task(text: str) -> str:
    return f"{text} a task" if text != NONE else ""


def _difference(one: Against | None) -> Cell:
    if one is None or one.paired.difference.value is None or one.p_adjusted is None:
        return Cell(NONE)
    main, _, rest = signed(one.paired.difference).partition(" (")
    mood = "better" if beats(one) else "worse" if loses(one) else ""
    return Cell(main, f"{rest.removesuffix(')')}, {p_value(one.p_adjusted)}", mood)


def _faults(arm: ArmReport) -> Cell:
    if not arm.faults:
        return Cell("0")
    low, high = percent(arm.if_faults_failed.value), percent(arm.if_faults_passed.value)
    return Cell(f"{arm.faults:,}", f"{low.removesuffix(' %')} to {high}")

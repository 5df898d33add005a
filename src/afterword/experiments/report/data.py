"""A comparison for other programs: plain data for JSON, and rows of CSV in which no spreadsheet finds a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import IO

from afterword.experiments.comparison import ArmReport, Comparison
from afterword.experiments.report.gathering import Gathered
from afterword.experiments.report.verdict import evaluator_verdict, verdict
from afterword.experiments.results import Result
from afterword.intervals import Estimate

CsvValue = str | int | float | bool | None


def told(gathered: Gathered, comparison: Comparison) -> dict[str, object]:
    """All of it as JSON data."""
    return {
        "verdict": verdict(comparison),
        "evaluator": evaluator_verdict(comparison),
        "runs": [
            {
                "run": run.summary.id,
                "state": run.summary.state,
                "started": run.summary.started,
                "ended": run.summary.ended,
                "command": list(run.summary.command),
                "version": run.summary.version,
                "unfinished": run.unfinished,
                "usage": asdict(run.summary.usage),
                "models": [asdict(use) for use in run.models],
            }
            for run in gathered.runs
        ],
        "notices": list(gathered.caveats),
        **asdict(comparison),
        "played": {name: asdict(arm) for name, arm in gathered.arms.items()},
        "lessons": {arm: asdict(group) for arm, group in gathered.lessons.items()},
    }


def arm_rows(comparison: Comparison) -> Iterator[dict[str, CsvValue]]:
    """A row for each arm; shares are from 0 to 1, and what is not known is empty."""
    against = {one.arm: one for one in comparison.against}
    for arm in comparison.arms:
        one = against.get(arm.arm)
        yield {
            **_counts(arm),
            **_estimate("solved", arm.solved),
            "baseline": comparison.baseline,
            "tasks_in_common": None if one is None else one.tasks,
            **_estimate("difference", Estimate(None, 0, 0, 0) if one is None else one.paired.difference),
            "p_value": None if one is None else one.paired.p_value,
            "p_adjusted": None if one is None else one.p_adjusted,
            "times_tokens": None if one is None else one.times_tokens,
            "times_cost": None if one is None else one.times_cost,
            **_spent(arm),
            **_estimate("false_positives", arm.false_positives),
            **_estimate("false_negatives", arm.false_negatives),
        }


def _counts(arm: ArmReport) -> dict[str, CsvValue]:
    counts = asdict(arm.evaluator)
    return {"arm": arm.arm, "tasks": arm.tasks, "results": arm.results, "faults": arm.faults, **counts}


def _spent(arm: ArmReport) -> dict[str, CsvValue]:
    spent = arm.spending
    spreads = {"tokens": spent.tokens, "calls": spent.calls, "cost_usd": spent.cost_usd, "seconds": spent.seconds}
    values: dict[str, CsvValue] = {}
    for name, spread in spreads.items():
        values |= {f"{name}_mean": spread.mean, f"{name}_median": spread.median, f"{name}_p95": spread.p95}
    return {
        **values,
        "tokens_per_solved": spent.tokens_per_solved,
        "calls_per_solved": spent.calls_per_solved,
        "cost_per_solved_usd": spent.cost_per_solved_usd,
        "seconds_per_solved": spent.seconds_per_solved,
        "solved_if_faults_failed": arm.if_faults_failed.value,
        "solved_if_faults_passed": arm.if_faults_passed.value,
    }


def _estimate(name: str, estimate: Estimate) -> dict[str, CsvValue]:
    if estimate.value is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def result_rows(results: Iterable[Result]) -> Iterator[dict[str, CsvValue]]:
    """A row for each task, arm and seed, so that anyone can count again."""
    for row in results:
        spent = row.spent
        yield {
            "task": row.task,
            "arm": row.arm,
            "seed": row.seed,
            "status": row.status,
            "stop_reason": None if row.stop_reason is None else str(row.stop_reason),
            "trials": len(row.trials),
            "chosen_trial": row.chosen,
            "passed": row.passed,
            "accepted": row.accepted,
            "solved": row.solved,
            "fault": row.fault,
            "calls": spent.calls,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost_usd": spent.cost_usd,
            "seconds": spent.seconds,
        }


def write_csv(rows: Iterable[dict[str, CsvValue]], stream: IO[str]) -> None:
    """Writes rows under a head; a text that a spreadsheet would calculate gets an apostrophe before it."""
    writer: csv.DictWriter[str] | None = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow({name: _harmless(value) for name, value in row.items()})


_FORMULA: Sequence[str] = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")


def _harmless(value: CsvValue) -> CsvValue:
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if text.lstrip(" ").startswith(tuple(_FORMULA)) else text

"""`afterword audit-tests`: how far tests that a model wrote can be trusted.

Two questions: do the tests hold on a program that is known to be right, and is a program that passes them right?
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.jsonl import Row, field, optional_field, read_rows
from afterword.cli.text import counted
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.families.programming.own_tests.auditing import Audit, Judged
    from afterword.families.programming.own_tests.confusion import Share


def audit_tests(
    file: Annotated[
        list[Path], typer.Argument(help="JSON Lines of {task_id, tests, solution?} or of `run --json`.", metavar="FILE")
    ],
    data: Annotated[Path | None, typer.Option(help="The folder with the benchmarks. [AFTERWORD_DATA]")] = None,
    jobs: options.Jobs = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Audit tests that a model wrote.

    Shows which share of them holds on a known-right program, and the matrix of their verdicts and the held-out ones.
    """
    rows = [row for one in file for row in read_outcomes(one)]
    seen = anyio.run(audit_rows, rows, data, options.jobs_of(jobs), allow_weak_isolation)
    sys.stdout.write(json.dumps(seen.told()) + "\n" if as_json else "\n".join(report_lines(seen)) + "\n")
    return 0


def read_outcomes(file: Path) -> list[Judged]:
    """The rows of a file of either form.

    Raises:
        InputError: a row is of neither form.
    """
    return [_outcome(row) if "trials" in row.values else _tests(row) for row in read_rows(file)]


def _tests(row: Row) -> Judged:
    from afterword.families.programming.own_tests.auditing import Judged

    tests = row.values.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise InputError(
            "expected {task_id, tests: [text, …]} or an outcome of `afterword run --json`", file=row.file, line=row.line
        )
    return Judged(field(row, "task_id"), tuple(tests), optional_field(row, "solution"))


def _outcome(row: Row) -> Judged:
    from afterword.families.programming.own_tests.auditing import Judged

    def wrong(what: str) -> InputError:
        return InputError(
            f"expected an outcome of `afterword run --own-tests --json`, {what}", file=row.file, line=row.line
        )

    task_id = field(row, "task")
    if row.values.get("status") == "faulted":
        return Judged(task_id, (), faulted=True)
    tests, trials, accepted = (row.values.get(name) for name in ("own_tests", "trials", "acceptance"))
    if not isinstance(tests, list) or not all(isinstance(one, dict) and "text" in one for one in tests):
        raise wrong("found no own tests in it")
    if not isinstance(trials, list) or not all(isinstance(one, dict) and "passed" in one for one in trials):
        raise wrong("found trials of another form")
    best = next((one for one in trials if one.get("number") == row.values.get("best_trial")), None)
    right = bool(accepted.get("passed")) if isinstance(accepted, dict) else None
    texts = tuple(str(one["text"]) for one in tests)
    return Judged(
        task_id, texts, None if best is None else str(best.get("output", "")), bool(best and best["passed"]), right
    )


async def audit_rows(rows: Sequence[Judged], data: Path | None, jobs: int, allow_weak: bool) -> Audit:
    """The audit of these rows, in jails of its own."""
    from afterword.evaluators.function_tests import JudgePool
    from afterword.families.programming.own_tests.auditing import audit
    from afterword.sandbox import open_sandbox

    async with (
        open_sandbox(workers=jobs, allow_weak=allow_weak) as sandbox,
        open_sandbox(workers=jobs, allow_weak=allow_weak) as companions,
        JudgePool(sandbox, workers=jobs, companions=companions) as judges,
    ):
        return await audit(rows, data, judges, jobs)


def report_lines(audit: Audit) -> list[str]:
    """The audit for a person."""
    lines = []
    if audit.tests.total:
        lines.append(f"own tests: {_said(audit.tests)} hold on a known-right program")
        if audit.not_plain:
            lines.append(f"  not a plain assert on the program: {audit.not_plain}")
        lines.append(f"tasks: {_said(audit.tasks)} have only tests that hold")
    matrix = audit.confusion
    if matrix.total:
        lines += [
            "",
            "                    right  wrong",
            f"own tests passed  {matrix.true_positive:>7}{matrix.false_positive:>7}",
            f"own tests failed  {matrix.false_negative:>7}{matrix.true_negative:>7}",
            "",
        ]
        for name, share in matrix.conditional().items():
            what, given = name.split("_given_")
            lines.append(f"P({what} | tests {given})  {_said(share)}")
    if audit.faulted:
        lines.append(f"{counted(audit.faulted, 'outcome')} faulted: nothing is concluded from them")
    if audit.unknown:
        lines.append(f"{counted(audit.unknown, 'task')} of no known benchmark: no right program to try the tests on")
    return lines


def _said(share: Share) -> str:
    if share.value is None or share.interval is None:
        return "none to count"
    low, high = share.interval
    return f"{share.count} of {share.total} ({share.value:.1%}, 95 % interval {low:.1%} to {high:.1%})"

"""`afterword evaluate`: verdicts on many solutions at once, a line each, in the order of the file."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.jsonl import Row, field, read_rows, row_id
from afterword.cli.text import findings, shortened
from afterword.core.records import Feedback, Limits
from afterword.errors import Fault, InputError
from afterword.experiments.in_order import in_order

if TYPE_CHECKING:
    from afterword.evaluators.function_tests import JudgePool

DISAGREES = 1
FAULTED = 3

Verdict = Feedback | Fault


def evaluate(
    cases: Annotated[
        Path, typer.Argument(help="JSON Lines of {id, solution, tests, entry_point}.", metavar="CASES.jsonl")
    ],
    jobs: options.Jobs = None,
    timeout_s: Annotated[float, typer.Option(help="For the import and all tests of a row.")] = 5.0,
    memory_mb: Annotated[int, typer.Option(help="Most memory of a solution.")] = 1024,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Judge many solutions.

    Where rows say what to `expect`, the exit code is 1 unless all verdicts agree; it is 3 where one could not be
    reached.
    """
    if not timeout_s > 0 or memory_mb < 1:
        raise InputError(f"--timeout-s and --memory-mb must be above 0, found {timeout_s:g} and {memory_mb}")
    rows = [_case(row) for row in read_rows(cases)]
    limits = Limits(wall_s=timeout_s, memory_mb=memory_mb)
    return anyio.run(_evaluate, rows, limits, options.jobs_of(jobs), allow_weak_isolation, as_json)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a row says its verdict should be."""

    passed: bool
    reasons: frozenset[str]
    either: bool
    """Whether passing or not is beside the point of the row."""

    def agrees(self, verdict: Verdict) -> bool:
        """Whether the verdict is one of those expected."""
        if isinstance(verdict, Fault):
            return False
        if self.either:
            return True
        return verdict.passed == self.passed and (verdict.passed or verdict.reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the file."""

    id: str
    solution: str
    tests: str
    entry_point: str
    expectation: Expectation | None


@dataclass(slots=True)
class Tally:
    """Prints the verdicts and counts them."""

    as_json: bool
    judged: int = 0
    passed: int = 0
    expecting: int = 0
    differing: int = 0
    faulted: int = 0

    def tell(self, case: Case, verdict: Verdict) -> None:
        """Prints one verdict."""
        differs = case.expectation is not None and not case.expectation.agrees(verdict)
        self.judged += 1
        self.faulted += isinstance(verdict, Fault)
        self.passed += isinstance(verdict, Feedback) and verdict.passed
        self.expecting += case.expectation is not None
        self.differing += differs
        sys.stdout.write((_json_line(case, verdict) if self.as_json else _text_line(case, verdict, differs)) + "\n")
        sys.stdout.flush()

    def summary(self) -> str:
        """The last line for a person."""
        agreeing = self.expecting - self.differing
        agreement = f", {agreeing} of {self.expecting} as expected" if self.expecting else ""
        faults = f", {self.faulted} without a verdict" if self.faulted else ""
        return f"{self.passed} of {self.judged} passed{agreement}{faults}"

    def exit_code(self) -> int:
        """3 where a verdict is missing, 1 where one is not as expected, else 0."""
        return FAULTED if self.faulted else DISAGREES if self.differing else 0


def _case(row: Row) -> Case:
    expect = row.values.get("expect")
    return Case(
        row_id(row),
        field(row, "solution"),
        field(row, "tests"),
        field(row, "entry_point"),
        None if expect is None else _expectation(row, expect),
    )


def _expectation(row: Row, expect: object) -> Expectation:
    if not isinstance(expect, dict) or not isinstance(expect.get("passed"), bool):
        raise InputError("expected {passed, reason} in the field 'expect'", file=row.file, line=row.line)
    also_ok = expect.get("also_ok") or []
    if not isinstance(also_ok, list):
        raise InputError("expected a list in 'expect.also_ok'", file=row.file, line=row.line)
    reasons = frozenset(str(reason) for reason in (expect.get("reason"), *also_ok))
    return Expectation(expect["passed"], reasons, bool(expect.get("either")))


async def _evaluate(cases: list[Case], limits: Limits, jobs: int, allow_weak: bool, as_json: bool) -> int:
    from afterword.evaluators.function_tests import JudgePool
    from afterword.sandbox import open_sandbox

    tally = Tally(as_json)
    async with (
        open_sandbox(workers=jobs, allow_weak=allow_weak) as sandbox,
        JudgePool(sandbox, workers=jobs) as judges,
    ):
        await in_order(cases, jobs, lambda case: _judge(case, limits, judges), tally.tell)
    if not as_json:
        sys.stdout.write(tally.summary() + "\n")
    return tally.exit_code()


async def _judge(case: Case, limits: Limits, judges: JudgePool) -> Verdict:
    try:
        return await judges.judge_text(case.solution, case.tests, case.entry_point, limits)
    except Fault as fault:
        return fault  # one row without a verdict does not stop the others


def _json_line(case: Case, verdict: Verdict) -> str:
    if isinstance(verdict, Fault):
        unknown = dict.fromkeys(("checks_passed", "checks_total", "trust", "isolation", "wall_s"))
        return json.dumps({"id": case.id, "passed": None, "reason": "faulted", "feedback": str(verdict), **unknown})
    told = {
        "id": case.id,
        "passed": verdict.passed,
        "reason": verdict.reason,
        "checks_passed": verdict.checks_passed,
        "checks_total": len(verdict.checks),
        "feedback": verdict.message,
        "trust": verdict.trust,
        "isolation": verdict.isolation,
        "wall_s": round(verdict.wall_s, 4),
    }
    return json.dumps(told)


def _text_line(case: Case, verdict: Verdict, differs: bool) -> str:
    """One line that fits the terminal, where there is one."""
    columns = shutil.get_terminal_size((132, 24)).columns
    name_columns = max(8, min(32, columns - 40))
    name = f"{shortened(case.id, name_columns):<{name_columns}}"
    if isinstance(verdict, Fault):
        return _with_detail(f"? {name} faulted", str(verdict), columns)
    mark = "✓" if verdict.passed else "✗"
    counts = f"{verdict.checks_passed}/{len(verdict.checks)}"
    line = f"{mark} {name} {verdict.reason:<12} {counts:>7}{'  NOT AS EXPECTED' if differs else ''}"
    return line if verdict.passed else _with_detail(line, " ".join(findings(verdict)), columns)


def _with_detail(line: str, detail: str, columns: int) -> str:
    room = min(70, columns - len(line) - 2)
    return f"{line}  {shortened(detail, room)}" if detail and room >= 16 else line

"""`afterword check`: a task's own checks, judged before money is spent on programs that they judge."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.text import counted, plain, shortened
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.core.records import Feedback
    from afterword.families.programming.checkup import Examination, Finding, PartVerdicts, Settings
    from afterword.families.programming.task import ProgrammingTask

FINDINGS = 1
SOLUTION_FILE = "solution.py"
_MAX_MESSAGE = 300
_MAX_NAME = 40
_WITH_A_SOLUTION = "with a right program (--solution FILE) this also shows which small mistakes no check notices"
_ONLY_WHEN_IT_PASSES = "which small mistakes no check notices is shown once the solution passes"
_NAMES = {"visible": "visible", "held_out": "held out"}


def check(
    task: Annotated[Path, typer.Argument(help="A task folder.", metavar="TASK")],
    solution: Annotated[
        Path | None, typer.Option(help="A right program. [solution.py in the folder, if there is one]")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Verdicts on the same program, to find flaky checks.")] = 5,
    mutants: Annotated[int, typer.Option(help="At most so many changed solutions.")] = 30,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Judge a task's own checks.

    Do they hold still, and do they notice wrong programs? The exit code is 1 if not.
    """
    from afterword.families.programming.checkup import Settings, findings_of
    from afterword.families.programming.task_folder import load_task_folder

    for name, value, least in (("repeats", repeats, 1), ("mutants", mutants, 0), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"--{name} takes a number from {least}, found {value}")
    loaded = load_task_folder(task)
    program = _read_solution(task, solution)
    settings = Settings(repeats, mutants, seed, options.jobs_of(jobs))
    seen = anyio.run(_examine, loaded, settings, program, solution or task / SOLUTION_FILE, allow_weak_isolation)
    found = findings_of(seen)
    sys.stdout.write(json.dumps(_as_json(seen, found)) + "\n" if as_json else _as_text(seen, found))
    return FINDINGS if any(finding.is_error for finding in found) else 0


def _read_solution(folder: Path, given: Path | None) -> str | None:
    from afterword.families.programming.task_file import read_text

    if given is None and not (folder / SOLUTION_FILE).exists():
        return None
    return read_text(given or folder / SOLUTION_FILE, "give a right program with --solution FILE")


async def _examine(
    task: ProgrammingTask, settings: Settings, solution: str | None, file: Path, allow_weak: bool
) -> Examination:
    from afterword.families.programming.checkup import examine
    from afterword.families.programming.mutants import mutants
    from afterword.sandbox import open_sandbox

    if solution is not None:
        try:
            mutants(solution, seed=0, limit=0)
        except InputError as error:
            raise InputError(error.message, file=file, line=error.line) from None
    opening = partial(open_sandbox, python=task.python, allow_weak=allow_weak)
    return await examine(task, opening, settings, solution)


def _as_json(seen: Examination, found: Sequence[Finding]) -> dict[str, object]:
    return {
        "task": seen.task_id,
        "status": "findings" if any(finding.is_error for finding in found) else "fine",
        "isolation": seen.isolation,
        "repeats": seen.repeats,
        "parts": {one.part.name: _part_json(one) for one in seen.parts},
        "mutants": _mutants_json(seen),
        "findings": [{**asdict(finding), "severity": _severity(finding)} for finding in found],
    }


def _severity(finding: Finding) -> str:
    return "error" if finding.is_error else "warning"


def _part_json(one: PartVerdicts) -> dict[str, object]:
    return {
        "checks": list(one.part.suite.check_ids),
        "programs": {name: _count(verdict) for name, verdict in _rows(one)},
        "slowest_s": one.slowest_s,
    }


def _mutants_json(seen: Examination) -> dict[str, object] | None:
    if seen.mutants is None:
        return None
    return {
        "total": len(seen.mutants),
        "killed": {"visible": _killed(seen, "visible"), "all": _killed(seen)},
        "survivors": [
            {"line": one.mutant.line, "change": one.mutant.description} for one in seen.mutants if one.killed_by is None
        ],
    }


def _killed(seen: Examination, part: str | None = None) -> int:
    return sum(one.killed_by is not None and part in (None, one.killed_by) for one in seen.mutants or ())


def _rows(one: PartVerdicts) -> list[tuple[str, Feedback]]:
    rows = [] if one.solution is None else [("the solution", one.solution)]
    rows += [(program.name, verdict) for program, verdict in one.trivial]
    return rows + ([] if one.memorised is None else [("knows the visible answers", one.memorised)])


def _count(verdict: Feedback) -> int:
    return sum(check.passed for check in verdict.checks)


def _as_text(seen: Examination, found: Sequence[Finding]) -> str:
    held = ", ".join(f"{len(one.part.suite.check_ids)} {_NAMES[one.part.name]}" for one in seen.parts)
    how = f"each judged {counted(seen.repeats, 'time')}, isolation {seen.isolation}"
    lines = [f"task {seen.task_id}: checks: {held}; {how}", *_table(seen), ""]
    lines += [_line(finding) for finding in found]
    errors = sum(finding.is_error for finding in found)
    warnings = len(found) - errors
    rest = f", {counted(warnings, 'warning')}" if warnings else ""
    lines.append(f"{counted(errors, 'finding')}{rest}" if errors else f"the checks are fine{rest}")
    if seen.mutants is None:
        given = any(one.solution is not None for one in seen.parts)
        lines.append(_ONLY_WHEN_IT_PASSES if given else _WITH_A_SOLUTION)
    return plain("\n".join(lines)) + "\n"


def _table(seen: Examination) -> list[str]:
    """A row for each program that passes something, with how many checks it passes; the solution first."""
    columns = {one.part.name: dict(_rows(one)) for one in seen.parts}
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    shown = [name for at, name in enumerate(names) if at == 0 or any(_counts(name, columns))]
    rows = [["a program that", *(_NAMES[part] for part in columns)]]
    for name in shown:
        cells = [
            f"{_count(column[name])} of {len(column[name].checks)}" if name in column else "-"
            for column in columns.values()
        ]
        rows.append([shortened(name, _MAX_NAME), *cells])
    if len(shown) < len(names):
        rows.append([f"{counted(len(names) - len(shown), 'other trivial program')}", *("0" for _ in columns)])
    if seen.mutants:
        total = len(seen.mutants)
        cells = [f"{_killed(seen, 'visible')} of {total}", f"{_killed(seen)} of {total}"]
        rows.append(["changed solutions noticed", *(cells if len(columns) > 1 else cells[1:])])
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  " + "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def _counts(name: str, columns: Mapping[str, Mapping[str, Feedback]]) -> list[int]:
    return [_count(column[name]) for column in columns.values() if name in column]


def _line(finding: Finding) -> str:
    where = ": ".join(part for part in (_NAMES.get(finding.part or "", ""), finding.check or "") if part)
    kind = finding.kind.replace("_", " ")
    message = shortened(finding.message, _MAX_MESSAGE)
    mark = "✗" if finding.is_error else "!"
    return f"{mark} {f'{where}: ' if where else ''}{kind}: {message}; {finding.remedy}"

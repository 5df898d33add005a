"""`afterword verify`: a benchmark's own reference programs, judged by its checks.

A grader that rejects known-right programs, or passes known-wrong ones, says nothing about an agent; this is
how to know before an experiment.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.text import shortened
from afterword.core.records import Feedback
from afterword.errors import InputError
from afterword.experiments.in_order import in_order

if TYPE_CHECKING:
    from afterword.evaluators.function_tests import JudgePool
    from afterword.families.programming import BenchmarkTask

DIFFERS = 1


def verify(
    benchmark: Annotated[
        str, typer.Argument(help="humaneval, humaneval+, mbpp, mbpp+, quixbugs or alfworld.", metavar="BENCHMARK")
    ],
    data: Annotated[Path | None, typer.Option(help="The folder with the published files. [AFTERWORD_DATA]")] = None,
    jobs: options.Jobs = None,
    limit: Annotated[int | None, typer.Option(help="At most so many tasks.")] = None,
    ids: Annotated[str | None, typer.Option(help="Only these tasks, separated by commas.")] = None,
    split: Annotated[str | None, typer.Option(help="Of alfworld: valid_seen or valid_unseen. [valid_unseen]")] = None,
    language: Annotated[str | None, typer.Option(help="Of alfworld: new, or old as in the paper. [new]")] = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Judge a benchmark's reference programs.

    Of games it plays the walkthroughs.

    The exit code is 1 unless the right ones pass and the wrong ones fail.
    """
    from afterword.families.programming.benchmarks import benchmark_named, data_folder, load_benchmark

    chosen = None if ids is None else [one.strip() for one in ids.split(",") if one.strip()]
    if benchmark.strip().lower() == "alfworld":
        from afterword.cli.verify_games import verify_alfworld

        won = verify_alfworld(
            data_folder(data),
            split=split,
            language=language,
            jobs=options.jobs_of(jobs),
            limit=limit,
            ids=chosen,
            as_json=as_json,
        )
        return 0 if won else DIFFERS
    if split is not None or language is not None:
        raise InputError("--split and --language are of alfworld; leave them out")
    named = benchmark_named(benchmark)
    tasks = load_benchmark(benchmark, data_folder(data), limit=limit, ids=chosen)
    tally = Tally(as_json)
    anyio.run(_verify, tasks, options.jobs_of(jobs), allow_weak_isolation, tally)
    if as_json:
        told = {"benchmark": named.name, "tasks": len(tasks), **tally.counts(), "excluded": dict(named.excluded)}
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        sys.stdout.write(tally.summary(named.name))
        for task_id, reason in named.excluded.items():
            sys.stdout.write(f"left out: {task_id}: {reason}\n")
    return DIFFERS if tally.unexpected else 0


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on one task's programs, by what was judged."""

    canonical: Feedback
    held_out: Feedback | None
    buggy: Feedback | None


@dataclass(slots=True)
class Count:
    """How many programs were judged, and how many of them passed."""

    passed: int = 0
    total: int = 0

    def add(self, verdict: Feedback | None) -> None:
        """Counts a verdict, if there is one."""
        if verdict is not None:
            self.passed += verdict.passed
            self.total += 1


class Tally:
    """Counts verdicts and prints those that are not as they should be."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.canonical = Count()
        self.held_out = Count()
        self.buggy = Count()
        self.unexpected: list[dict[str, str]] = []

    def tell(self, task: BenchmarkTask, judged: Judged) -> None:
        """Counts the verdicts of a task."""
        self.canonical.add(judged.canonical)
        self.held_out.add(judged.held_out)
        self.buggy.add(judged.buggy)
        for part, verdict, should_pass in (
            ("canonical", judged.canonical, True),
            ("held-out", judged.held_out, True),
            ("buggy", judged.buggy, False),
        ):
            if verdict is not None and verdict.passed is not should_pass:
                row = {"id": task.id, "part": part, "reason": verdict.reason, "message": verdict.message}
                self.unexpected.append(row)
                if not self._as_json:
                    message = shortened(verdict.message, 80)
                    sys.stdout.write(f"✗ {task.id}  {part}: {verdict.reason}  {message}\n")

    def counts(self) -> dict[str, object]:
        """All counts, for JSON."""
        counted = {name: asdict(getattr(self, name)) for name in ("canonical", "held_out", "buggy")}
        return {**counted, "unexpected": self.unexpected}

    def summary(self, benchmark: str) -> str:
        """The last lines for a person."""
        lines = [f"{benchmark}: {self.canonical.passed} of {self.canonical.total} reference programs pass"]
        if self.held_out.total:
            lines.append(f"held-out checks: {self.held_out.passed} of {self.held_out.total} pass")
        if self.buggy.total:
            lines.append(f"buggy programs: {self.buggy.passed} of {self.buggy.total} pass")
        return "\n".join(lines) + "\n"


async def _verify(tasks: list[BenchmarkTask], jobs: int, allow_weak: bool, tally: Tally) -> None:
    from afterword.evaluators.function_tests import JudgePool
    from afterword.sandbox import open_sandbox

    async with (
        open_sandbox(workers=jobs, allow_weak=allow_weak) as sandbox,
        JudgePool(sandbox, workers=jobs) as judges,
    ):
        await in_order(tasks, jobs, lambda task: _judge(task, judges), tally.tell)


async def _judge(task: BenchmarkTask, judges: JudgePool) -> Judged:
    programming = task.programming
    canonical = await judges.judge(task.canonical, programming.checks, programming.limits)
    held_out = buggy = None
    if (checks := programming.held_out_checks) is not None:
        held_out = await judges.judge(task.canonical, checks, programming.limits_of(held_out=True))
    if task.buggy is not None:
        buggy = await judges.judge(task.buggy, programming.checks, programming.limits)
    return Judged(canonical, held_out, buggy)

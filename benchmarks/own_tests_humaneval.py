"""The paper's coding agent on HumanEval, with a model of your choice: own tests, 3 trials, memory 1.

    python benchmarks/own_tests_humaneval.py --tasks 12 --seed 1 --out outcomes.jsonl --report docs/results.md

The tasks are chosen by the seed. The agent is judged by tests that the model wrote itself; HumanEval+ is held out. Each
outcome is appended to the file as it comes, and what is there already is not run again, so the same command goes on
where it was ended. The report is a section of its own in the named file: command, seed, hashes, the matrix.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import time
from functools import partial
from pathlib import Path

import anyio

from afterword.cli.audit_tests import audit_rows, read_outcomes, report_lines
from afterword.cli.result import outcome_json
from afterword.core.memory import SlidingWindow
from afterword.core.protocols import Model
from afterword.core.records import Strategy
from afterword.core.reflexion import Reflexion
from afterword.errors import AfterwordError
from afterword.evaluators.function_tests import FunctionTests, JudgePool
from afterword.families.programming import BenchmarkTask, ProgramActor, load_benchmark, program_reflector
from afterword.families.programming.benchmarks import benchmark_named, data_folder
from afterword.families.programming.own_tests import OwnTest, TestWriting, UnwrittenTests, write_tests
from afterword.families.programming.own_tests.auditing import Audit
from afterword.models import ModelOptions, open_models
from afterword.sandbox import open_sandbox

TITLE = "## Own tests on HumanEval"
BENCHMARK = "humaneval+"


def main() -> None:
    """Runs what is missing, then reports."""
    options = _options()
    tasks = chosen_tasks(data_folder(options.data), options.tasks, options.seed)
    done = finished(options.out)
    missing = [task for task in tasks if task.id not in done]
    print(f"{len(tasks)} tasks by seed {options.seed}, {len(tasks) - len(missing)} done: {_names(tasks)}")
    if missing:
        anyio.run(run_all, missing, options)
    ids = {task.id for task in tasks}
    rows = [row for row in read_outcomes(options.out) if row.task_id in ids]
    audit = anyio.run(audit_rows, rows, data_folder(options.data), 2, False)
    section = report(options, tasks, audit)
    print(section)
    if options.report is not None:
        write_section(options.report, section)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--model", default="local")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-trials", type=int, default=3)
    parser.add_argument("--memory", type=int, default=1)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=Path("own_tests_humaneval.jsonl"))
    parser.add_argument("--report", type=Path, default=None)
    return parser.parse_args()


def chosen_tasks(data: Path, count: int, seed: int) -> list[BenchmarkTask]:
    """So many tasks of HumanEval+ by the seed, in their published order."""
    benchmark = benchmark_named(BENCHMARK)
    names: list[str] = []

    def note(name: str) -> bool:
        names.append(name)
        return False  # all names, and no task made

    list(benchmark.load(data, note))
    names = [name for name in names if name not in benchmark.excluded]
    chosen = set(random.Random(seed).sample(names, min(count, len(names))))  # noqa: S311 - a sample
    return load_benchmark(BENCHMARK, data, ids=[name for name in names if name in chosen])


def finished(out: Path) -> set[str]:
    """The tasks whose outcome is in the file; one that faulted is tried again."""
    if not out.exists():
        return set()
    lines = out.read_text(encoding="utf-8").splitlines()
    return {str(row["task"]) for row in map(json.loads, lines) if row["status"] != "faulted"}


async def run_all(tasks: list[BenchmarkTask], options: argparse.Namespace) -> None:
    """Runs the tasks one after the other: a local model uses all cores anyway."""
    async with (
        open_sandbox(workers=1) as sandbox,
        open_sandbox(workers=1) as companions,
        JudgePool(sandbox, workers=1, companions=companions) as judges,
        open_models() as models,
    ):
        model = await models.open(options.model, options=ModelOptions(threads=options.threads))
        for task in tasks:
            started = time.monotonic()
            row = await run_one(task, model, judges, options)
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())
            print(f"{task.id}: {row['status']}, {time.monotonic() - started:.0f} s")


async def run_one(
    task: BenchmarkTask, model: Model, judges: JudgePool, options: argparse.Namespace
) -> dict[str, object]:
    """The outcome of one task."""
    programming = task.programming
    assert programming.held_out_checks is not None
    written: list[OwnTest] = []
    loop = Reflexion(
        ProgramActor(model),
        UnwrittenTests(
            partial(write_tests, model=model, settings=TestWriting()), judges, programming.limits, written.extend
        ),
        program_reflector(model),
        strategy=Strategy.LAST_ATTEMPT_AND_REFLEXION,
        memory=SlidingWindow(options.memory),
        max_trials=options.max_trials,
        held_out=FunctionTests(programming.held_out_checks, judges, programming.limits_of(held_out=True)),
    )
    return outcome_json(await loop.run(programming.task, seed=options.seed), written)


def report(options: argparse.Namespace, tasks: list[BenchmarkTask], audit: Audit) -> str:
    """The section of the results page."""
    outcomes = options.out.read_bytes()
    command = (
        f"python benchmarks/own_tests_humaneval.py --model {options.model} --tasks {options.tasks} "
        f"--seed {options.seed} --max-trials {options.max_trials} --memory {options.memory}"
    )
    latest = {row["task"]: row for row in map(json.loads, outcomes.splitlines())}
    table = ["| task | own tests | trials | own verdict | held out | status |", "| --- | --- | --- | --- | --- | --- |"]
    for task in tasks:
        row = latest[task.id]
        accepted = row["acceptance"]
        held_out = "none" if accepted is None else f"{accepted['checks_passed']} of {accepted['checks_total']}"
        passed = "passed" if any(trial["passed"] for trial in row["trials"]) else "failed"
        count = len(row.get("own_tests", []))
        table.append(f"| {task.id} | {count} | {len(row['trials'])} | {passed} | {held_out} | {row['status']} |")
    facts = [
        f"`{command}`",
        f"Model: {_model_of(options.model)}. Own tests at T = 0.2, code at T = 0, lessons at T = 0.2; "
        f"{options.max_trials} trials, memory {options.memory}; HumanEval+ held out. Seed {options.seed}.",
        f"sha256 of the outcomes file: `{hashlib.sha256(outcomes).hexdigest()}`.",
    ]
    return "\n".join([TITLE, "", "\n\n".join(facts), "", *table, "", "```text", *report_lines(audit), "```", ""])


def _model_of(name: str) -> str:
    from afterword.models.weights import EMBEDDED  # the weights that `local` stands for

    return f"{name} (sha256 `{EMBEDDED.sha256}`)" if name == "local" else name


def write_section(path: Path, section: str) -> None:
    """Puts the section in place of an earlier one of the same title, or at the end."""
    text = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    before, title, after = text.partition(f"{TITLE}\n")
    rest = after[after.find("\n## ") + 1 :] if title and "\n## " in after else ""
    path.write_text(f"{before.rstrip()}\n\n{section}" + (f"\n{rest}" if rest else ""), encoding="utf-8")


def _names(tasks: list[BenchmarkTask]) -> str:
    return ", ".join(task.id.partition("/")[2] for task in tasks)


if __name__ == "__main__":
    try:
        main()
    except AfterwordError as error:
        sys.exit(f"own_tests_humaneval: {error}")

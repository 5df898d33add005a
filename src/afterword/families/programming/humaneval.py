"""HumanEval and HumanEval+: the base tests are visible, the plus tests held out.

The files are those of openai/human-eval and of evalplus (`OriginFmt`), read and never changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from afterword.core.records import Task
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.benchmark_files import Benchmark, BenchmarkTask, Wants, read_rows, text_of
from afterword.families.programming.plus_tests import PLUS_LIMITS, plus_suite
from afterword.families.programming.task import ProgrammingTask, task_inputs

_INSTRUCTIONS = "Complete the function below so that it does what its docstring says."


def _base(data_dir: Path, wants: Wants) -> Iterator[BenchmarkTask]:
    for row in read_rows(data_dir, "programming", "HumanEval"):
        if not wants(text_of(row, "task_id")):
            continue
        prompt, entry_point = text_of(row, "prompt"), text_of(row, "entry_point")
        task = Task(text_of(row, "task_id"), _INSTRUCTIONS, task_inputs(entry_point, prompt.rstrip()))
        visible = Suite.from_humaneval(text_of(row, "test"), entry_point)
        yield BenchmarkTask(ProgrammingTask(task, visible), prompt + text_of(row, "canonical_solution"))


def _plus(data_dir: Path, wants: Wants) -> Iterator[BenchmarkTask]:
    base = {text_of(row, "task_id"): text_of(row, "test") for row in read_rows(data_dir, "programming", "HumanEval")}
    for row in read_rows(data_dir, "programming", "HumanEvalPlus-OriginFmt"):
        task_id = text_of(row, "task_id")
        if not wants(task_id) or task_id not in base:
            continue
        prompt, entry_point = text_of(row, "prompt"), text_of(row, "entry_point")
        task = Task(task_id, _INSTRUCTIONS, task_inputs(entry_point, prompt.rstrip()))
        visible = Suite.from_humaneval(base[task_id], entry_point)
        held_out = plus_suite(text_of(row, "test"), entry_point)
        programming = ProgrammingTask(task, visible, held_out, held_out_limits=PLUS_LIMITS)
        yield BenchmarkTask(programming, prompt + text_of(row, "canonical_solution"))


HUMANEVAL = Benchmark("humaneval", _base, "HumanEval/0")
HUMANEVAL_PLUS = Benchmark(
    "humaneval+",
    _plus,
    "HumanEval/0",
    {
        "HumanEval/15": "its plus tests build strings of a million numbers: 41 s for the reference program",
        "HumanEval/32": "its plus test calls the helper with wrong arguments and fails the reference program",
    },
)

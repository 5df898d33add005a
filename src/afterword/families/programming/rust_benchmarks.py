"""HumanEval and MBPP in Rust (MultiPL-E's translations), as the paper used them, and programs logged for them.

Apart from the Python benchmarks since these have no reference programs; they come with the published run logs, and
what these runs claimed is what a loader and a judge can be held against.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.languages import LANGUAGES, LanguageSuite
from afterword.families.programming.benchmark_files import read_rows, text_of
from afterword.families.programming.task import ProgrammingTask, task_inputs

_INSTRUCTIONS = "Complete the function below so that it does what its comment says."
_LIMITS = Limits(wall_s=10.0)
"""As in the re-execution of the logs; a translated test can run a slow algorithm on large input."""


@dataclass(frozen=True, slots=True)
class RustBenchmark:
    """One file of tasks."""

    name: str
    file: str
    size: int
    example_id: str

    def load(
        self, data_dir: Path, *, limit: int | None = None, ids: Sequence[str] | None = None
    ) -> list[ProgrammingTask]:
        """The tasks in their published order; `ids` chooses some, e.g. `HumanEval_24_largest_divisor` or `24`.

        Raises:
            InputError: the file or an id is not there.
        """
        rows = read_rows(data_dir, "reflexion_logs/benchmarks", self.file)
        if ids is None:
            return [_task(row) for row in islice(rows, limit)]
        wanted = list(dict.fromkeys(ids))[:limit]
        found = {text_of(row, "task_id"): row for row in rows}
        return [_task(found[self._pick(found, one)]) for one in wanted]

    def _pick(self, found: Mapping[str, object], wanted: str) -> str:
        for task_id in found:
            if wanted in (task_id, task_id.split("_")[1]):
                return task_id
        raise InputError(f"{self.name} has no task {wanted!r}; its ids are like {self.example_id!r}")


HUMANEVAL_RUST = RustBenchmark("humaneval-rs", "humaneval_rs_156", 156, "HumanEval_24_largest_divisor")
HUMANEVAL_RUST_HARD = RustBenchmark("humaneval-rs-hard", "humaneval_rs_hardest50", 50, "HumanEval_111_histogram")
MBPP_RUST = RustBenchmark("mbpp-rs", "mbpp_rs_354", 354, "mbpp_234_volume_cube")
RUST_BENCHMARKS: Mapping[str, RustBenchmark] = {
    one.name: one for one in (HUMANEVAL_RUST, HUMANEVAL_RUST_HARD, MBPP_RUST)
}


@dataclass(frozen=True, slots=True)
class LoggedProgram:
    """What a published run ended with on one task."""

    task_id: str
    source: str
    """The whole program; empty where nothing was recorded."""
    claimed_solved: bool


def read_logged(data_dir: Path, run: str, tasks: Sequence[ProgrammingTask]) -> Iterator[LoggedProgram]:
    """The programs of a logged run over a benchmark, in its order.

    Raises:
        InputError: there is no such log, or it is of another benchmark.
    """
    prompts = {task.task.id: str(task.task.inputs["signature"]) for task in tasks}
    for row in read_rows(data_dir, "reflexion_logs/runs_programming", run):
        task_id, source = text_of(row, "task_id"), text_of(row, "solution")
        if task_id not in prompts:
            raise InputError(f"the run {run!r} has a task {task_id!r} that these tasks lack; load its own benchmark")
        if row.get("solution_kind") == "body":
            source = f"{prompts[task_id]}\n{source}"
        yield LoggedProgram(task_id, source, row.get("claimed_solved") is True)


def _task(row: Mapping[str, object]) -> ProgrammingTask:
    prompt, entry_point = text_of(row, "prompt").rstrip(), text_of(row, "entry_point")
    suite = LanguageSuite.from_source(
        text_of(row, "test"), language=LANGUAGES["rust"], entry_point=entry_point, signature=prompt
    )
    inputs = {**task_inputs(entry_point, prompt), "language": "rust"}
    return ProgrammingTask(Task(text_of(row, "task_id"), _INSTRUCTIONS, inputs), suite, limits=_LIMITS)

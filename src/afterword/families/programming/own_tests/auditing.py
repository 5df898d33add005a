"""An audit of own tests: each tried on a known-right program, and their verdicts set against the held-out ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.benchmark_files import BenchmarkTask
from afterword.families.programming.benchmarks import BENCHMARKS, data_folder, load_benchmark
from afterword.families.programming.own_tests.confusion import Confusion, Share
from afterword.families.programming.own_tests.holding import Held, holding

_SOURCES = {"HumanEval/": "humaneval", "Mbpp/": "mbpp"}
"""Where the task of an id is looked up."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A program with its own tests, as a file has it; what it leaves open (None) is to be found out."""

    task_id: str
    tests: tuple[str, ...]
    solution: str | None = None
    passed: bool | None = None
    """The verdict of the own tests."""
    right: bool | None = None
    """The held-out verdict."""
    faulted: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found out about one row."""

    row: Judged
    held: tuple[Held, ...] | None
    """On the known-right program; None where there is none."""
    passed: bool | None
    right: bool | None

    @property
    def all_hold(self) -> bool:
        return bool(self.held) and all(one.holds for one in self.held or ())


@dataclass(frozen=True, slots=True)
class Audit:
    """All answers."""

    answers: tuple[Answer, ...]

    @property
    def tests(self) -> Share:
        """Tests that hold on a known-right program."""
        held = [one for answer in self.answers for one in answer.held or ()]
        return Share(sum(one.holds for one in held), len(held))

    @property
    def tasks(self) -> Share:
        """Tasks all of whose tests hold."""
        known = [answer for answer in self.answers if answer.held is not None]
        return Share(sum(answer.all_hold for answer in known), len(known))

    @property
    def confusion(self) -> Confusion:
        """Programs by both verdicts, where both are known."""
        matrix = Confusion()
        for answer in self.answers:
            if answer.passed is not None and answer.right is not None:
                matrix = matrix.plus(passed=answer.passed, right=answer.right)
        return matrix

    @property
    def not_plain(self) -> int:
        return sum(not one.plain for answer in self.answers for one in answer.held or ())

    @property
    def faulted(self) -> int:
        return sum(answer.row.faulted for answer in self.answers)

    @property
    def unknown(self) -> int:
        """Rows whose task no benchmark has, so that no right program is known."""
        return sum(answer.held is None and not answer.row.faulted for answer in self.answers)

    def told(self) -> dict[str, object]:
        """The audit as plain data."""
        matrix = self.confusion
        return {
            "tests": _share_json(self.tests) | {"not_plain": self.not_plain},
            "tasks": _share_json(self.tasks),
            "matrix": asdict(matrix) if matrix.total else None,
            "conditional": {name: _share_json(share) for name, share in matrix.conditional().items()},
            "faulted": self.faulted,
            "unknown": self.unknown,
            "rows": [
                {
                    "task_id": answer.row.task_id,
                    "holds": None if answer.held is None else [one.holds for one in answer.held],
                    "passed": answer.passed,
                    "right": answer.right,
                }
                for answer in self.answers
            ],
        }


async def audit(rows: Sequence[Judged], data: Path | None, judges: JudgePool, jobs: int = 1) -> Audit:
    """Judges what the rows leave open, and every test on the known-right program of its task; `jobs` at a time.

    Raises:
        InputError: the benchmark data is not there.
        SandboxFault: a verdict could not be reached.
    """
    known = _load({row.task_id for row in rows}, data, plus=False)
    # Other reference programs than the published ones come with the plus tests, so these serve for verdicts alone.
    strict = _load({row.task_id for row in rows if row.solution is not None and row.right is None}, data, plus=True)
    answers: dict[int, Answer] = {}
    limiter = anyio.Semaphore(jobs)

    async def answer(index: int, row: Judged) -> None:
        async with limiter:
            answers[index] = await _answer(row, known.get(row.task_id), strict.get(row.task_id), judges)

    async with anyio.create_task_group() as group:
        for index, row in enumerate(rows):
            group.start_soon(answer, index, row)
    return Audit(tuple(answers[index] for index in range(len(rows))))


def _load(ids: set[str], data: Path | None, *, plus: bool) -> dict[str, BenchmarkTask]:
    """The benchmark tasks among these ids; with `plus` those that have plus tests."""
    found: dict[str, BenchmarkTask] = {}
    for prefix, name in _SOURCES.items():
        wanted = sorted(one for one in ids if one.startswith(prefix))
        chosen = f"{name}+" if plus else name
        if plus:
            wanted = [one for one in wanted if one not in BENCHMARKS[chosen].excluded]
        if wanted:
            found |= {task.id: task for task in load_benchmark(chosen, data_folder(data), ids=wanted)}
    return found


async def _answer(row: Judged, task: BenchmarkTask | None, strict: BenchmarkTask | None, judges: JudgePool) -> Answer:
    if row.faulted or task is None:
        return Answer(row, None, row.passed, row.right)
    programming = task.programming
    entry_point = str(programming.task.inputs["entry_point"])
    held = await holding(row.tests, task.canonical, entry_point, judges, programming.limits)
    passed, right = row.passed, row.right
    if row.solution is not None and passed is None:
        own = await holding(row.tests, row.solution, entry_point, judges, programming.limits)
        passed = bool(own) and all(one.holds for one in own)
    if row.solution is not None and right is None:
        right = await _is_right(row.solution, strict or task, judges)
    return Answer(row, held, passed, right)


async def _is_right(solution: str, task: BenchmarkTask, judges: JudgePool) -> bool:
    """The verdict of all published tests."""
    programming = task.programming
    verdict = await judges.judge(solution, programming.checks, programming.limits)
    if verdict.passed and (held_out := programming.held_out_checks) is not None:
        verdict = await judges.judge(solution, held_out, programming.limits_of(held_out=True))
    return verdict.passed


def _share_json(share: Share) -> dict[str, object]:
    interval = None if share.interval is None else list(share.interval)
    return {"count": share.count, "total": share.total, "share": share.value, "interval": interval}

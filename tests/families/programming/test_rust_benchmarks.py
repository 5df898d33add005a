"""HumanEval and MBPP in Rust: all tasks load, and the programs of the published runs get the verdicts they got then."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest
from tests.evaluators.languages_judged import needs_rust

from afterword.errors import InputError
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, LanguageSuite, open_judge
from afterword.families.programming.benchmarks import benchmark_named
from afterword.families.programming.rust_benchmarks import (
    HUMANEVAL_RUST,
    HUMANEVAL_RUST_HARD,
    MBPP_RUST,
    RUST_BENCHMARKS,
    LoggedProgram,
    read_logged,
)
from afterword.families.programming.task import ProgrammingTask

RUNS = {
    "reflexion_humaneval_rs_hard50": 34,
    "simple_humaneval_rs_hard50": 30,
    "immediate_refinement_humaneval_rs_hardest50": 30,
    "immediate_reflexion_humaneval_rs_hardest50": 26,
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LanguageJudge]:
    folder = tmp_path_factory.mktemp("builds")
    async with open_judge(LANGUAGES["rust"], workers=2, allow_weak=True, cache=folder) as opened:
        yield opened


@pytest.mark.parametrize("name", RUST_BENCHMARKS)
def test_every_task_loads_with_a_check_for_each_assertion(name: str, data_dir: Path) -> None:
    benchmark = RUST_BENCHMARKS[name]
    tasks = benchmark.load(data_dir)
    assert len(tasks) == len({task.task.id for task in tasks}) == benchmark.size
    for task in tasks:
        assert isinstance(task.visible, LanguageSuite)
        assert len(task.visible.check_ids) == task.visible.tests.text.count("assert_eq!(candidate(")
        assert LANGUAGES["rust"].is_signature(str(task.task.inputs["signature"]), task.visible.entry_point)


def test_tasks_are_chosen_by_id_or_number(data_dir: Path) -> None:
    chosen = HUMANEVAL_RUST.load(data_dir, ids=["HumanEval_47_median", "24"])
    assert [task.task.id for task in chosen] == ["HumanEval_47_median", "HumanEval_24_largest_divisor"]
    assert [task.task.id for task in MBPP_RUST.load(data_dir, limit=1)] == ["mbpp_234_volume_cube"]
    with pytest.raises(InputError, match="has no task '9999'"):
        HUMANEVAL_RUST.load(data_dir, ids=["9999"])


def test_missing_data_is_told_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="humaneval_rs_156"):
        HUMANEVAL_RUST.load(tmp_path)


def test_a_log_of_another_benchmark_is_refused(data_dir: Path) -> None:
    with pytest.raises(InputError, match="load its own benchmark"):
        list(read_logged(data_dir, "simple_mbpp_rs", HUMANEVAL_RUST_HARD.load(data_dir, limit=3)))


def test_verify_says_that_there_are_no_reference_programs() -> None:
    with pytest.raises(InputError, match="no reference programs"):
        benchmark_named("humaneval-rs-hard")


@needs_rust
@pytest.mark.anyio
async def test_logged_programs_get_their_verdicts_again(judge: LanguageJudge, data_dir: Path) -> None:
    """Every tenth of the paper's run; the slow test has all four runs."""
    tasks = HUMANEVAL_RUST_HARD.load(data_dir)
    logged = list(read_logged(data_dir, "reflexion_humaneval_rs_hard50", tasks))[::10]
    assert len(logged) == 5
    assert await _differences(judge, tasks, logged) == []


@needs_rust
@pytest.mark.anyio
async def test_every_stub_fits_its_tests(judge: LanguageJudge, data_dir: Path) -> None:
    for task in HUMANEVAL_RUST.load(data_dir, limit=3):
        assert isinstance(task.visible, LanguageSuite)
        await judge.refuse_unusable(task.visible)


@needs_rust
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.anyio
@pytest.mark.parametrize("run", RUNS)
async def test_published_runs_re_execute_item_by_item(run: str, judge: LanguageJudge, data_dir: Path) -> None:
    tasks = HUMANEVAL_RUST_HARD.load(data_dir)
    logged = list(read_logged(data_dir, run, tasks))
    summary = {row["run"]: row for row in _rows(data_dir / "reflexion_logs/reexecution/summary.jsonl")}[run]
    known = {(row["run"], row["task_id"]) for row in _rows(data_dir / "reflexion_logs/reexecution/disagreements.jsonl")}
    assert summary["reexecuted_solved"] == sum(one.claimed_solved for one in logged) == RUNS[run]
    assert not any((run, one.task_id) in known for one in logged)
    assert await _differences(judge, tasks, logged) == []


@needs_rust
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.anyio
@pytest.mark.parametrize(("run", "solved"), [("reflexion_mbpp_rs", 267), ("simple_mbpp_rs", 251)])
async def test_mbpp_runs_re_execute(run: str, solved: int, judge: LanguageJudge, data_dir: Path) -> None:
    """All but one task, whose verdict hangs on the order of a hash map."""
    tasks = MBPP_RUST.load(data_dir)
    logged = [one for one in read_logged(data_dir, run, tasks) if one.task_id != "mbpp_130_max_occurrences"]
    assert await _differences(judge, tasks, logged) == []
    assert sum(one.claimed_solved for one in logged) == solved


async def _differences(
    judge: LanguageJudge, tasks: Sequence[ProgrammingTask], logged: Sequence[LoggedProgram]
) -> list[str]:
    """The programs whose verdict is not what the log claims."""
    by_id = {task.task.id: task for task in tasks}
    found: list[str] = []
    at_once = anyio.Semaphore(2)

    async def compare(one: LoggedProgram) -> None:
        task = by_id[one.task_id]
        assert isinstance(task.visible, LanguageSuite)
        async with at_once:
            verdict = await judge.judge(one.source, task.visible, task.limits)
        if verdict.passed != one.claimed_solved:
            found.append(f"{one.task_id}: {verdict.reason}")

    async with anyio.create_task_group() as group:
        for one in logged:
            group.start_soon(compare, one)
    return sorted(found)


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

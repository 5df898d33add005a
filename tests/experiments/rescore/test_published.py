"""The published runs of programs, all of them: what executing them again must find."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from afterword.experiments.rescore import RunScore, find_logs, findings, open_bench, rescore
from tests.needs import missing

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

PYTHON = {
    "reflexion_humaneval_py_pass_at_1": 150,
    "reflexion_mbpp_py": 311,
    "reflexion_mbpp_py3": 206,
    "simple_human_eval_py_logging": 140,
    "simple_mbpp_py": 324,
    "simple_mbpp_py2": 325,
    "simple_test_run_gpt-3.5-turbo": 42,
    "simple_test_run_gpt-4": 134,
    "simple_test_run_text-davinci-003": 93,
    "testgen_humaneval_py": 96,
}
RUST = {
    "reflexion_humaneval_rs_hard50": (34, 34),
    "simple_humaneval_rs_hard50": (30, 30),
    "immediate_refinement_humaneval_rs_hardest50": (30, 30),
    "immediate_reflexion_humaneval_rs_hardest50": (26, 26),
    "reflexion_mbpp_rs": (267, 268),
    "simple_mbpp_rs": (251, 252),
}


def scored(data_dir: Path, runs: list[str], *, shared: bool = False) -> dict[str, RunScore]:
    logs = find_logs(data_dir, runs)

    async def main() -> list[RunScore]:
        async with open_bench(logs, jobs=2) as bench:
            return await rescore(
                logs,
                bench,
                shared_namespace=shared,
                tell=lambda score: None,
                left_out=lambda log, why: missing(why),
            )

    return {score.run: score for score in anyio.run(main)}


def test_python_runs(data_dir: Path) -> None:
    scores = scored(data_dir, list(PYTHON))
    assert {run: score.found for run, score in scores.items()} == PYTHON
    assert scores["testgen_humaneval_py"].tests == (814, 689)
    matrices = [scores[run].own_tests for run in ("reflexion_humaneval_py_pass_at_1", "reflexion_mbpp_py")]
    assert [(m.found.false_positive, m.found.passed) for m in matrices if m] == [(2, 144), (47, 289)]
    leak = next(one for one in findings(list(scores.values())) if one.run == "reflexion_humaneval_py_pass_at_1")
    assert "134 of 134" in leak.text
    assert "96 of 164" in leak.text


def test_python_runs_in_the_interpreter_that_they_shared(data_dir: Path) -> None:
    runs = {"reflexion_mbpp_py": 306, "simple_mbpp_py": 318, "simple_mbpp_py2": 320}
    scores = scored(data_dir, list(runs), shared=True)
    assert {run: score.found for run, score in scores.items()} == runs
    assert not any(score.differences for score in scores.values())


def test_rust_runs(data_dir: Path) -> None:
    scores = scored(data_dir, list(RUST))
    for run in ("reflexion_mbpp_rs", "simple_mbpp_rs"):
        assert [one.task_id for one in scores[run].unstable] == ["mbpp_130_max_occurrences"]
    for run, score in scores.items():
        low, high = RUST[run]
        assert low <= score.found <= high
        assert {one.task_id for one in score.differences} <= {"mbpp_130_max_occurrences"}

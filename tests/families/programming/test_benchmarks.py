"""The benchmark loaders, on the published files and on broken ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.benchmarks import (
    BENCHMARKS,
    BenchmarkTask,
    benchmark_named,
    data_folder,
    load_benchmark,
)
from afterword.families.programming.extraction import extract_code
from afterword.families.programming.plus_tests import plus_suite


@pytest.mark.parametrize(("name", "count"), [("humaneval", 164), ("mbpp", 427), ("quixbugs", 40)])
def test_every_task_is_loaded(data_dir: Path, name: str, count: int) -> None:
    tasks = load_benchmark(name, data_dir)
    assert len({task.id for task in tasks}) == count
    for task in tasks:
        assert task.programming.checks.check_ids
        assert task.programming.held_out is None
        assert str(task.programming.task.inputs["entry_point"]) in task.canonical


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("humaneval+", 162), ("mbpp+", 377)])
def test_every_plus_task_is_loaded_with_held_out_checks(data_dir: Path, name: str, count: int) -> None:
    tasks = load_benchmark(name, data_dir)
    assert len(tasks) == count
    assert all(task.programming.held_out is not None for task in tasks)
    assert not {task.id for task in tasks} & set(BENCHMARKS[name].excluded)


@pytest.mark.parametrize("name", ["humaneval+", "mbpp+"])
def test_plus_tests_are_held_out_and_base_tests_visible(data_dir: Path, name: str) -> None:
    (task,) = load_benchmark(name, data_dir, limit=1)
    programming = task.programming
    assert len(programming.checks.check_ids) >= 3
    assert isinstance(programming.held_out, Suite)
    assert programming.held_out.check_ids
    assert "inputs = " not in programming.checks.text
    assert programming.held_out_limits is not None


@pytest.mark.parametrize("name", ["humaneval", "mbpp", "quixbugs"])
def test_task_says_nothing_of_the_reference(data_dir: Path, name: str) -> None:
    for task in load_benchmark(name, data_dir):
        shown = json.dumps([task.programming.task.instructions, dict(task.programming.task.inputs)])
        lines = {line.strip() for line in task.canonical.split("\n") if len(line.strip()) > 40}
        known = str(task.programming.task.inputs.get("signature", "")) + task.programming.task.instructions
        assert not [line for line in lines if line not in known and json.dumps(line)[1:-1] in shown]


def test_buggy_program_differs_from_the_correct_one_and_is_shown(data_dir: Path) -> None:
    for task in load_benchmark("quixbugs", data_dir):
        assert task.buggy is not None
        assert task.buggy != task.canonical
        assert task.buggy in task.programming.task.instructions
        assert '"""' not in task.buggy + task.canonical


def test_slow_cases_are_left_out_as_published(data_dir: Path) -> None:
    counts = {
        name: len(load_benchmark("quixbugs", data_dir, ids=[name])[0].programming.checks.check_ids)
        for name in ("knapsack", "levenshtein", "gcd")
    }
    assert counts == {"knapsack": 9, "levenshtein": 6, "gcd": 6}


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_reference_program_survives_a_reply(data_dir: Path, name: str) -> None:
    def survives(task: BenchmarkTask) -> bool:
        code = task.canonical.replace("\r\n", "\n").rstrip() + "\n"
        entry_point = str(task.programming.task.inputs["entry_point"])
        signature = task.programming.task.inputs.get("signature")
        given = signature if isinstance(signature, str) else None
        return extract_code(f"Here it is:\n\n```python\n{code}```\n\nIt's done.", entry_point, given) == code

    assert [task.id for task in load_benchmark(name, data_dir) if not survives(task)] == []


def test_ids_choose_tasks_in_their_order(data_dir: Path) -> None:
    assert [task.id for task in load_benchmark("humaneval", data_dir, ids=["7", "HumanEval/3"])] == [
        "HumanEval/7",
        "HumanEval/3",
    ]


def test_limit_takes_the_first_tasks(data_dir: Path) -> None:
    assert [task.id for task in load_benchmark("mbpp", data_dir, limit=2)] == ["Mbpp/2", "Mbpp/3"]


def test_unknown_task(data_dir: Path) -> None:
    with pytest.raises(InputError, match=r"humaneval has no task '999'; its ids are like 'HumanEval/0'"):
        load_benchmark("humaneval", data_dir, ids=["999"])


def test_excluded_task_is_refused_with_the_reason(data_dir: Path) -> None:
    with pytest.raises(InputError, match=r"HumanEval/32 is left out of humaneval\+: its plus test"):
        load_benchmark("humaneval+", data_dir, ids=["32"])


@pytest.mark.parametrize(
    ("written", "name"),
    [("HumanEval", "humaneval"), ("humaneval-plus", "humaneval+"), ("mbpp_plus", "mbpp+"), ("MBPP+", "mbpp+")],
)
def test_names_are_read_leniently(written: str, name: str) -> None:
    assert benchmark_named(written).name == name


def test_unknown_benchmark_suggests_a_close_one() -> None:
    with pytest.raises(InputError, match=r"unknown benchmark 'quixbug'; did you mean 'quixbugs'\?"):
        benchmark_named("quixbug")
    with pytest.raises(InputError, match="there are humaneval, humaneval"):
        benchmark_named("zzz")


def test_limit_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="limit must be at least 1 task, found 0"):
        load_benchmark("humaneval", tmp_path, limit=0)


def test_missing_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such data folder"):
        load_benchmark("humaneval", tmp_path / "none")
    with pytest.raises(InputError, match=r"expected programming/HumanEval\.jsonl"):
        load_benchmark("humaneval", tmp_path)


ROW = {"task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "    return 1\n"}
TEST = {"test": "def check(candidate):\n    assert candidate() == 1\n"}


def test_uncompressed_file_in_the_folder_itself_is_read(tmp_path: Path) -> None:
    (tmp_path / "HumanEval.jsonl").write_text(json.dumps(ROW | TEST) + "\n\n")
    (task,) = load_benchmark("humaneval", tmp_path)
    assert task.canonical == "def f():\n    return 1\n"
    assert task.programming.task.inputs["signature"] == "def f():"


BROKEN = {
    "line": (json.dumps(ROW | TEST) + "\n{", "the file is broken", 2),
    "no object": ("[]", "expected an object a line, found list", 1),
    "key missing": (json.dumps(ROW), "has no text 'test'", None),
}


@pytest.mark.parametrize(("text", "message", "line"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rows_are_refused(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    (tmp_path / "HumanEval.jsonl").write_text(text)
    with pytest.raises(InputError) as caught:
        load_benchmark("humaneval", tmp_path)
    assert message in caught.value.message
    assert caught.value.line == line


def test_broken_archive_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress((json.dumps(ROW | TEST) + "\n").encode() * 1000)
    (tmp_path / "HumanEval.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="the file is broken"):
        load_benchmark("humaneval", tmp_path)


def test_plus_test_that_forgot_to_assert_is_mended() -> None:
    test = (
        "def assertion(out, exp, atol):\n    if isinstance(out, bool):\n        exact_match = out == exp\n    else:\n"
        "        exact_match = exp == (out is not None)\n\n\ninputs = [[1]]\nresults = [True]\n"
        "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(f(*inp), exp, 0)\n"
    )
    suite = plus_suite(test, "f")
    assert len(suite.check_ids) == 1
    assert "\n    assert exact_match\n" in suite.text


def test_program_named_like_a_builtin_is_the_one_tested(data_dir: Path) -> None:
    (task,) = load_benchmark("mbpp+", data_dir, ids=["126"])
    assert isinstance(task.programming.held_out, Suite)
    assert task.programming.held_out.text.startswith("from solution import sum\n")


def test_inputs_that_cannot_leave_a_jail_are_left_out_and_the_others_stay(data_dir: Path) -> None:
    (task,) = load_benchmark("mbpp+", data_dir, ids=["255"])
    assert isinstance(task.programming.held_out, Suite)
    text = task.programming.held_out.text
    assert "'Bird', 'Fish'], 77]" not in text
    inputs = next(line for line in text.split("\n") if line.startswith("inputs = "))
    assert inputs.count("[[") + inputs.count(", [") > 100


def test_large_literals_stay_text_until_they_are_needed() -> None:
    values = list(range(2000))
    test = f"def check(candidate):\n    inputs = {values!r}\n    for i in inputs:\n        assert candidate(i) == i\n"
    suite = plus_suite(test, "f")
    assert f"inputs = eval({str(values)!r})" in suite.text
    assert suite.text.count("\n") == test.count("\n")


def test_data_folder_comes_from_the_option_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(Path("other")) == Path("other")
    monkeypatch.delenv("AFTERWORD_DATA")
    with pytest.raises(InputError, match="give --data DIR, set AFTERWORD_DATA"):
        data_folder(None)

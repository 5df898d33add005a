"""`afterword audit-tests`: both forms of its file, its numbers, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import SAME, write_replies, write_task

GOOD = "assert truncate_number(3.5) == 0.5"
BAD = "assert truncate_number(3.5) == 3.0"


def write_rows(file: Path, *rows: object) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def outcome(*, passed: bool, accepted: bool | None, tests: tuple[str, ...] = (GOOD,), status: str = "x") -> object:
    """An outcome as `run --json` prints it, as far as an audit reads it."""
    return {
        "task": "HumanEval/2",
        "status": status,
        "best_trial": 1,
        "trials": [
            {"number": 1, "passed": passed, "output": "def truncate_number(number):\n    return number % 1.0\n"}
        ],
        "acceptance": None if accepted is None else {"passed": accepted},
        "own_tests": [{"text": text, "description": ""} for text in tests],
    }


def test_share_of_tests_that_hold(tmp_path: Path, afterword: Command, data_dir: Path) -> None:
    file = write_rows(
        tmp_path / "tests.jsonl",
        {"task_id": "HumanEval/2", "tests": [GOOD, BAD, "assert other(1)"]},
        {"task_id": "HumanEval/0", "tests": ["assert has_close_elements([1.0, 1.2], 0.5)"]},
    )
    ran = afterword("audit-tests", file, "--data", data_dir, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.told["tests"] == {
        "count": 2,
        "total": 4,
        "share": 0.5,
        "interval": pytest.approx([0.150039, 0.849961], abs=1e-6),
        "not_plain": 1,
    }
    assert ran.told["matrix"] is None
    rows = ran.told["rows"]
    assert isinstance(rows, list)
    assert [row["holds"] for row in rows] == [[True, False, False], [True]]


def test_matrix_of_outcomes(tmp_path: Path, afterword: Command, data_dir: Path) -> None:
    verdicts = [(True, True)] * 3 + [(True, False)] + [(False, True)] * 2 + [(False, False), (True, None)]
    file = write_rows(
        tmp_path / "outcomes.jsonl",
        *(outcome(passed=passed, accepted=accepted) for passed, accepted in verdicts),
        outcome(passed=False, accepted=None, status="faulted"),
    )
    ran = afterword("audit-tests", file, "--data", data_dir, "--json")
    assert ran.told["matrix"] == {
        "true_positive": 4,  # one of them judged here, since its run had no held-out check
        "false_positive": 1,
        "false_negative": 2,
        "true_negative": 1,
    }
    assert ran.told["faulted"] == 1
    shown = afterword("audit-tests", file, "--data", data_dir).out
    assert "P(right | tests passed)  4 of 5 (80.0%, 95 % interval 37.6% to 96.4%)" in shown
    assert "P(wrong | tests failed)  1 of 3 (33.3%" in shown
    assert "1 outcome faulted: nothing is concluded from them" in shown


def test_outcome_of_a_run_can_be_audited(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    script = tmp_path / "replies.jsonl"
    model = write_replies(script, SAME)
    with script.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"role": "test_writer", "text": "assert double(0) == 0"}) + "\n")
    ran = afterword("run", task, "--model", model, "--json")
    assert ran.told["status"] == "rejected"
    outcomes = tmp_path / "outcomes.jsonl"
    outcomes.write_text(ran.out, encoding="utf-8")
    audited = afterword("audit-tests", outcomes, "--json").told
    assert audited["matrix"] == {"true_positive": 0, "false_positive": 1, "false_negative": 0, "true_negative": 0}
    assert audited["unknown"] == 1


def test_several_files(tmp_path: Path, afterword: Command) -> None:
    files = [write_rows(tmp_path / f"{n}.jsonl", {"task_id": f"mine/{n}", "tests": [GOOD]}) for n in range(2)]
    ran = afterword("audit-tests", *files)
    assert ran.out == "2 tasks of no known benchmark: no right program to try the tests on\n"


REFUSED = {
    "neither form": ({"id": 1}, ":1:", "expected {task_id, tests: [text, …]} or an outcome"),
    "tests of another form": ({"task_id": "a", "tests": "assert f(1)"}, ":1:", "expected {task_id, tests"),
    "no task": ({"tests": [GOOD]}, ":1:", "'task_id'"),
    "outcome without own tests": (
        {"task": "a", "status": "accepted", "trials": []},
        ":1:",
        "found no own tests in it",
    ),
    "unknown task": ({"task_id": "HumanEval/999", "tests": [GOOD]}, "999", "its ids are like"),
}


@pytest.mark.parametrize(("row", "where", "what"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_file(tmp_path: Path, afterword: Command, data_dir: Path, row: object, where: str, what: str) -> None:
    ran = afterword("audit-tests", write_rows(tmp_path / "bad.jsonl", row), "--data", data_dir)
    assert (ran.code, ran.out) == (2, "")
    assert where in ran.complaint
    assert what in ran.complaint


def test_no_data(tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFTERWORD_DATA", raising=False)
    ran = afterword("audit-tests", write_rows(tmp_path / "a.jsonl", {"task_id": "HumanEval/2", "tests": [GOOD]}))
    assert ran.code == 2
    assert "--data" in ran.complaint


def test_jobs_from_one(tmp_path: Path, afterword: Command) -> None:
    file = write_rows(tmp_path / "a.jsonl", {"task_id": "mine", "tests": [GOOD]})
    assert "--jobs" in afterword("audit-tests", file, "--jobs", "0").complaint

"""`afterword judge check`, and tasks that a model judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import Command

PASS = json.dumps({"reason": "it is there", "verdict": "pass"})
FAIL = json.dumps({"reason": "no source is named", "verdict": "fail"})


def write_lines(file: Path, *rows: Mapping[str, object]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    file = tmp_path / "judge.md"
    file.write_text("The answer names a source.")
    return file


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows: list[dict[str, object]] = [
        {"id": "a", "task": "Where?", "output": "Paris (atlas)", "passed": True},
        {"id": "b", "task": "Where?", "output": "Paris", "passed": False},
        {"id": "c", "task": "Where?", "output": "Lyon", "passed": False},
        {"id": "d", "task": "Where?", "output": "Lyon (map)", "passed": True},
    ]
    return write_lines(tmp_path / "labels.jsonl", *rows)


def script(tmp_path: Path, *texts: str, role: str = "judge") -> str:
    file = tmp_path / f"{role}.jsonl"
    return f"scripted:{write_lines(file, *({'text': text, 'role': role} for text in texts))}"


def test_a_judge_is_compared_with_people(afterword: Command, labels: Path, rubric: Path, tmp_path: Path) -> None:
    ran = afterword("judge", "check", labels, "--rubric", rubric, "--model", script(tmp_path, PASS, PASS, FAIL, FAIL))
    assert ran.code == 0, ran.err
    assert "agreement        2 of 4 (50.0%, 95 % interval" in ran.out
    assert "Cohen's kappa    0.00 (95 % interval" in ran.out
    assert "false positives  1 of 2 (50.0%" in ran.out
    assert "false negatives  1 of 2 (50.0%" in ran.out
    assert "false positive  b" in ran.out
    assert "false negative  d  no source is named" in ran.out


def test_as_json(afterword: Command, labels: Path, rubric: Path, tmp_path: Path) -> None:
    model = script(tmp_path, PASS, FAIL, FAIL, PASS)
    told = afterword("judge", "check", labels, "--rubric", rubric, "--model", model, "--json").told
    assert (told["both_pass"], told["both_fail"], told["wrong"]) == (2, 2, [])
    kappa = told["kappa"]
    assert isinstance(kappa, dict)
    assert kappa["value"] == 1.0
    assert kappa["low"] < 1.0


def test_an_attempt_without_a_verdict_is_left_out_and_ends_with_3(
    afterword: Command, labels: Path, rubric: Path, tmp_path: Path
) -> None:
    model = script(tmp_path, PASS, "hm", "hm", FAIL, PASS)
    ran = afterword("judge", "check", labels, "--rubric", rubric, "--model", model)
    assert ran.code == 3
    assert "agreement        3 of 3" in ran.out
    assert "no verdict       1 attempt, left out above" in ran.out


def test_a_budget_that_ends_leaves_what_was_judged(
    afterword: Command, labels: Path, rubric: Path, tmp_path: Path
) -> None:
    model = script(tmp_path, PASS, FAIL, FAIL, PASS)
    ran = afterword("judge", "check", labels, "--rubric", rubric, "--model", model, "--calls", "2")
    assert ran.code == 3
    assert "agreement        2 of 2" in ran.out
    assert "no verdict       2 attempts" in ran.out


def test_a_model_that_cannot_be_reached_is_one_line(afterword: Command, labels: Path, rubric: Path) -> None:
    address = "http://127.0.0.1:9/v1"
    ran = afterword(
        "judge", "check", labels, "--rubric", rubric, "--model", "openai:x", "--base-url", address, "--api-key", "k"
    )
    assert ran.code == 3
    assert ran.complaint


def test_verdicts_that_are_there_already_need_no_model(afterword: Command, tmp_path: Path) -> None:
    rows = [{"passed": True, "judged": True}, {"passed": False, "judged": True}]
    ran = afterword("judge", "check", write_lines(tmp_path / "labels.jsonl", *rows))
    assert ran.code == 0, ran.err
    assert "agreement        1 of 2" in ran.out
    assert "false positive  line 2" in ran.out


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"output": "x"}], "labels.jsonl:1: expected {output, passed: true or false"),
        ([{"output": "x", "passed": "yes"}], "labels.jsonl:1: expected {output, passed: true or false"),
        ([{"output": "x", "passed": True}, {"passed": True}], "labels.jsonl:2: expected the field 'output'"),
        ([{"output": "x", "passed": True}], "give --rubric judge.md"),
    ],
)
def test_files_that_cannot_be_used_are_refused(
    afterword: Command, tmp_path: Path, rows: list[dict[str, object]], said: str
) -> None:
    ran = afterword("judge", "check", write_lines(tmp_path / "labels.jsonl", *rows))
    assert ran.code == 2
    assert said in ran.complaint


def test_hostile_text_does_not_reach_the_terminal(afterword: Command, tmp_path: Path) -> None:
    rows = [{"id": "\x1b[2Jx\n", "passed": False, "judged": True}]
    ran = afterword("judge", "check", write_lines(tmp_path / "labels.jsonl", *rows))
    assert "\x1b" not in ran.out


class TestRun:
    """A task folder with `judge.md`."""

    @pytest.fixture
    def task(self, tmp_path: Path, rubric: Path) -> Path:
        folder = tmp_path / "task"
        folder.mkdir()
        (folder / "task.toml").write_text('id = "t"\ninstructions = "Add one."\nentry_point = "f"\n')
        (folder / "judge.md").write_text("The function adds one, and has a docstring.")
        (folder / "held_out_tests.py").write_text("from solution import f\n\n\ndef test_f():\n    assert f(1) == 2\n")
        return folder

    def test_a_model_judges_each_trial_and_tests_in_the_end(
        self, afterword: Command, task: Path, tmp_path: Path
    ) -> None:
        actor = script(
            tmp_path,
            "```python\ndef f(x):\n    return x + 1\n```",
            '```python\ndef f(x):\n    """One more."""\n    return x + 1\n```',
            role="actor",
        )
        reflector = script(
            tmp_path, "The judge found that `f` has no docstring. I will write one into `f`.", role="reflector"
        )
        judge = script(tmp_path, FAIL, PASS)
        ran = afterword("run", task, "--model", actor, "--reflector-model", reflector, "--judge-model", judge, "--json")
        assert ran.code == 0, ran.err
        told = ran.told
        assert (told["status"], told["trust"]) == ("accepted", "model")
        assert f"judgedby{judge}" in "".join(ran.err.split())
        usage = told["usage"]
        assert isinstance(usage, dict)
        assert usage["by_role"]["judge"]["calls"] == 2

    def test_a_dry_run_counts_a_judge_that_no_allowance_bounds(
        self, afterword: Command, task: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "two.toml"
        file.write_text(
            f"tasks = [{str(task)!r}]\narms = ['single', 'majority_vote']\n[allowance]\ncalls = 1\n"
            f"[models]\nactor = {script(tmp_path, 'x', role='actor')!r}\n"
        )
        # one shared attempt, and in each arm a verdict, asked for twice where the first answer cannot be read
        most = afterword("experiment", file, "--dry-run", "--json").told["at_most"]
        assert isinstance(most, dict)
        assert most["calls"] == 1 + 2 * 2

    def test_the_actors_own_model_as_judge_is_warned_of(self, afterword: Command, task: Path, tmp_path: Path) -> None:
        file = tmp_path / "all.jsonl"
        write_lines(
            file,
            {"text": "```python\ndef f(x):\n    return x + 1\n```", "role": "actor"},
            {"text": PASS, "role": "judge"},
        )
        ran = afterword("run", task, "--model", f"scripted:{file}")
        assert ran.code == 0, ran.err
        assert "passes its own mistakes" in " ".join(ran.out.split())

    def test_two_visible_judges_are_refused(self, afterword: Command, task: Path) -> None:
        (task / "visible_tests.py").write_text("from solution import f\ndef test_f():\n    assert f(0) == 1\n")
        ran = afterword("run", task)
        assert ran.code == 2
        assert "judge.md" in ran.complaint
        assert "visible_tests.py besides; keep one of them" in ran.complaint

    def test_a_judge_model_without_a_rubric_is_refused(self, afterword: Command, task: Path, tmp_path: Path) -> None:
        (task / "judge.md").unlink()
        (task / "visible_tests.py").write_text("from solution import f\ndef test_f():\n    assert f(0) == 1\n")
        ran = afterword("run", task, "--judge-model", script(tmp_path, PASS))
        assert ran.code == 2
        assert "add judge.md, or leave out --judge-model" in ran.complaint

    def test_own_tests_beside_a_judge_are_refused(self, afterword: Command, task: Path) -> None:
        ran = afterword("run", task, "--own-tests")
        assert ran.code == 2
        assert "leave out --own-tests" in ran.complaint

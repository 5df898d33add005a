"""`afterword run`: what it prints, what it writes, how it exits, and what must never show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import (
    CANARY,
    ENDLESS,
    LESSON_1,
    PLUS_ONE,
    RIGHT,
    SAME,
    TABLE,
    fenced,
    write_replies,
    write_task,
)

TRIAL_KEYS = {
    *("number", "passed", "score", "checks_passed", "checks_total", "failed", "feedback"),
    *("reflection", "retracted", "disputed", "output", "usage"),
    *("reason", "lessons_shown", "end", "evidence", "source", "problems", "retired"),
}


def test_object_of_an_accepted_run(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", SAME, RIGHT), "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert ran.out.count("\n") == 1
    assert set(told) == {
        *("task", "status", "stop_reason", "best_trial", "trials", "acceptance", "usage"),
        *("trust", "isolation", "fault", "run"),
    }
    assert (told["task"], told["status"], told["stop_reason"], told["best_trial"]) == (
        "double",
        "accepted",
        "passed",
        2,
    )
    assert told["acceptance"] == {"passed": True, "checks_passed": 2, "checks_total": 2, "trust": "isolated"}
    assert told["fault"] is None
    first, second = told["trials"]
    assert set(first) == set(second) == TRIAL_KEYS
    assert (first["number"], first["passed"], first["score"]) == (1, False, 0.25)
    assert (first["checks_passed"], first["checks_total"]) == (1, 4)
    assert first["failed"] == ["test_one", "test_two", "test_five"]
    assert "double(1) == 2" in first["feedback"]
    assert first["reflection"] == LESSON_1
    assert (first["retracted"], first["disputed"], first["output"]) == ([], None, SAME)
    assert set(first["usage"]) == {"actor", "reflector"}
    assert first["usage"]["actor"]["calls"] == 1
    assert (second["number"], second["passed"], second["failed"], second["reflection"]) == (2, True, [], None)
    assert (second["output"], second["lessons_shown"]) == (RIGHT, [1])


def test_usage_adds_up(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT)
    told = json.loads(afterword("run", task, "--model", name, "--json").out)
    usage = told["usage"]
    assert set(usage) == {"by_role", "calls", "tokens_in", "tokens_out", "cost_usd"}
    for key in ("calls", "tokens_in", "tokens_out", "cost_usd"):
        assert usage[key] == sum(role[key] for role in usage["by_role"].values())
        for role, used in usage["by_role"].items():
            assert used[key] == sum(trial["usage"].get(role, {key: 0})[key] for trial in told["trials"])
    assert usage["calls"] == 5
    assert usage["cost_usd"] == 0.0


def test_reflector_retracts_and_disputes(tmp_path: Path, afterword: Command) -> None:
    lessons = (
        LESSON_1,
        "My sum made `test_zero` fail with 1, so adding was wrong. I will go back to a factor.\nRETRACT: 1\n"
        "DISPUTE: test_five",
    )
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT, lessons=lessons)
    task = write_task(tmp_path / "task")
    told = json.loads(afterword("run", task, "--model", name, "--json").out)
    assert told["trials"][1]["retracted"] == [1]
    assert told["trials"][1]["disputed"] == "test_five"
    shown = afterword("run", task, "--model", name).out
    assert "takes back the lesson of trial 1" in shown
    assert "disputes the check test_five" in shown


def test_false_positive_is_rejected_with_exit_code_1(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", TABLE), "--json")
    assert (ran.code, ran.told["status"]) == (1, "rejected")
    assert ran.told["acceptance"] == {"passed": False, "checks_passed": 0, "checks_total": 2, "trust": "isolated"}


@pytest.mark.parametrize("program", [TABLE, SAME, RIGHT])
def test_held_out_text_is_never_told(tmp_path: Path, afterword: Command, program: str) -> None:
    task, record = write_task(tmp_path / "task"), tmp_path / "calls.jsonl"
    name = write_replies(tmp_path / "a.jsonl", program)
    arguments = ("run", task, "--model", name, "--max-trials", "1", "--record", record)
    shown, told = afterword(*arguments), afterword(*arguments, "--json")
    for text in (shown.out, shown.err, told.out, told.err, record.read_text()):
        assert CANARY not in text
        assert "test_seven" not in text
    assert "/2 held-out checks" in shown.out


def test_without_held_out_checks_it_is_unverified(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", held_out=None)
    name = write_replies(tmp_path / "a.jsonl", RIGHT)
    ran = afterword("run", task, "--model", name, "--json")
    strict = afterword("run", task, "--model", name, "--json", "--require-acceptance")
    assert (ran.code, ran.told["status"], ran.told["acceptance"]) == (0, "unverified", None)
    assert (strict.code, strict.told["status"]) == (1, "unverified")


def test_require_acceptance_lets_an_accepted_run_pass(tmp_path: Path, afterword: Command) -> None:
    name = write_replies(tmp_path / "a.jsonl", RIGHT)
    assert afterword("run", write_task(tmp_path / "task"), "--model", name, "--require-acceptance").code == 0


def test_out_holds_the_best_program(tmp_path: Path, afterword: Command) -> None:
    out = tmp_path / "best.py"
    task = write_task(tmp_path / "task")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", SAME, RIGHT), "--out", out)
    assert ran.code == 0
    assert out.read_text() == RIGHT
    assert "return n + n" not in ran.out
    assert "return n + n" in afterword("run", task, "--model", f"scripted:{tmp_path / 'a.jsonl'}").out


def test_progress_tells_trials_checks_lessons_and_spend(tmp_path: Path, afterword: Command) -> None:
    name = write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    out = afterword("run", write_task(tmp_path / "task"), "--model", name).out
    lines = out.splitlines()
    assert lines[0] == f"model {name}"
    assert lines[1].startswith("run   ")
    assert any(line.startswith("task  double: 4 visible checks, 2 held out") for line in lines[2:5])
    order = [
        *("trial 1", "1/4 checks", "test_one", "lesson: My trial failed", "trial 2", "4/4 checks"),
        *("2/2 held-out checks", "accepted", "verdict: isolated", "3 calls"),
    ]
    places = [out.index(part) for part in order]
    assert places == sorted(places)


def test_time_limit_of_the_task_ends_an_endless_program(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", toml="timeout_s = 0.5\n")
    name = write_replies(tmp_path / "a.jsonl", ENDLESS)
    ran = afterword("run", task, "--model", name, "--max-trials", "1", "--json")
    assert (ran.code, ran.told["status"]) == (1, "gave_up")
    (trial,) = json.loads(ran.out)["trials"]
    assert trial["reason"] == "timeout"


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202e\u2066\x9b31m\x08\x08"


def test_nothing_hostile_reaches_the_screen(tmp_path: Path, afterword: Command) -> None:
    """Escape sequences in a lesson, in a program and its output, in a check's name and in a reply without code."""
    checks = [
        {"args": [1], "expected": 2, "label": f"one{HOSTILE}"},
        {"args": [2], "expected": 4, "label": "two"},
    ]
    task = write_task(
        tmp_path / "task", visible="".join(json.dumps(row) + "\n" for row in checks), held_out=None, cases=True
    )
    noisy = f"# {HOSTILE}\ndef double(n):\n    print({HOSTILE!r})\n    print({HOSTILE!r}, flush=True)\n"
    failing = noisy + f"    raise ValueError({HOSTILE!r})\n"
    script = tmp_path / "a.jsonl"
    rows = [
        {"role": "actor", "text": fenced(failing)},
        {"role": "reflector", "text": LESSON_1 + HOSTILE},
        {"role": "actor", "text": fenced(noisy + f"    return {HOSTILE!r}\n")},
    ]
    script.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = afterword("run", task, "--model", f"scripted:{script}", "--max-trials", "2")
    assert ran.code == 1
    for character in ran.out + ran.err:
        assert character in "\n\t" or character.isprintable() or character == "\N{REPLACEMENT CHARACTER}", ran.out
    assert "trial 2" in ran.out


def test_hostile_names_in_errors_do_not_reach_the_screen(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task\x1b[31m")
    (task / "visible_tests.py").write_text("def test_a(\x1b]0;x\x07):\n")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT))
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "\x07" not in ran.err


def test_crashed_evaluator_is_faulted(tmp_path: Path, afterword: Command) -> None:
    """A test that kills judge and runner whenever a program gets so far: there is no verdict, and none is invented."""
    kill = "        os.kill(os.getppid(), signal.SIGKILL)\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    crash = f"    if double(3) == 6:\n        import os, signal\n{kill}"
    tests = f"from solution import double\n\n\ndef test_a():\n{crash}    assert double(3) == 6\n"
    task = write_task(tmp_path / "task", visible=tests)
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT), "--json")
    assert (ran.code, ran.told["status"]) == (3, "faulted")
    fault = ran.told["fault"]
    assert isinstance(fault, dict)
    assert "attempts in a row broke off" in fault["message"]

"""`afterword run` on tasks that a command judges, and on statements whose judge is elsewhere."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.processes import COMMAND
from tests.e2e.tasks import CANARY, write_replies

TOML = """\
id = "double-sh"
instructions = "A shell script that prints twice its argument."

[check]
command = "sh check.sh"
file = "bin/double.sh"
result = "tap"
"""
CHECK = """\
echo 1..2
test "$(sh bin/double.sh 1)" = 2 && echo "ok 1 - one" || echo "not ok 1 - one"
test "$(sh bin/double.sh 2)" = 4 && echo "ok 2 - two" || echo "not ok 2 - two"
"""
HELD_OUT = f"""
[held_out_check]
command = "sh {CANARY}.sh"
result = "exit_code"
"""
HELD_OUT_CHECK = f'echo {CANARY}; test "$(sh bin/double.sh 7)" = 14\n'
SAME = "echo $1\n"
TABLE = "case $1 in 1) echo 2;; 2) echo 4;; esac\n"
RIGHT = "echo $(($1 * 2))\n"
LESSON = "`1 - one` was not ok since I printed the argument as it came. I will print twice its value in the next trial."


def write_command_task(folder: Path, *, held_out: bool = True) -> Path:
    (folder / "project" / "bin").mkdir(parents=True)
    (folder / "task.toml").write_text(TOML + (HELD_OUT if held_out else ""))
    (folder / "project" / "check.sh").write_text(CHECK)
    (folder / "project" / "bin" / "double.sh").write_text("exit 1\n")
    if held_out:
        (folder / "held_out").mkdir()
        (folder / "held_out" / f"{CANARY}.sh").write_text(HELD_OUT_CHECK)
    return folder


def replies(path: Path, *programs: str) -> str:
    rows = [{"role": "actor", "text": f"Done:\n```sh\n{program}```\n"} for program in programs]
    rows += [{"role": "reflector", "text": LESSON}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"scripted:{path}"


def trials(told: dict[str, object]) -> list[dict[str, object]]:
    found = told["trials"]
    assert isinstance(found, list)
    return found


def test_a_command_rejects_until_the_program_is_right(tmp_path: Path, afterword: Command) -> None:
    task = write_command_task(tmp_path / "task")
    name = replies(tmp_path / "replies.jsonl", SAME, RIGHT)
    record = tmp_path / "calls.jsonl"
    ran = afterword("run", task, "--model", name, "--record", record, "--json")
    assert (ran.code, ran.told["status"], ran.told["trust"]) == (0, "accepted", "shared_process")
    first, second = trials(ran.told)
    assert (first["checks_passed"], first["failed"]) == (0, ["1 - one", "2 - two"])
    assert second["output"] == RIGHT
    assert ran.told["acceptance"] == {"passed": True, "checks_passed": 1, "checks_total": 1, "trust": "exit_code"}
    text = record.read_text() + ran.out + ran.err
    assert "bin/double.sh" in text
    assert CANARY not in text


def test_the_held_out_command_catches_a_table_of_answers(tmp_path: Path, afterword: Command) -> None:
    task = write_command_task(tmp_path / "task")
    ran = afterword("run", task, "--model", replies(tmp_path / "replies.jsonl", TABLE))
    assert ran.code == 1
    assert "judged by 'sh check.sh', a held-out command" in ran.out
    assert "rejected" in ran.out
    assert CANARY not in ran.out


def test_a_check_that_passes_anything_is_refused(tmp_path: Path, afterword: Command) -> None:
    task = write_command_task(tmp_path / "task", held_out=False)
    (task / "project" / "check.sh").write_text("echo 1..1; echo ok 1\n")
    ran = afterword("run", task, "--model", replies(tmp_path / "replies.jsonl", RIGHT))
    assert ran.code == 2
    assert "the command passes with an empty 'bin/double.sh'" in ran.complaint


def test_own_tests_are_not_for_commands(tmp_path: Path, afterword: Command) -> None:
    task = write_command_task(tmp_path / "task", held_out=False)
    ran = afterword("run", task, "--own-tests", "--model", replies(tmp_path / "replies.jsonl", RIGHT))
    assert ran.code == 2
    assert "a command judges this task" in ran.complaint


STATEMENT = '''\
id = "double"
entry_point = "double"
held_out = "ask"
instructions = """
Return twice the number.

Example 1:
Input: n = 2
Output: 4
"""
'''


@pytest.mark.parametrize(
    ("typed", "status", "code"), [("y\n", "accepted", 0), ("what\nn\n", "rejected", 1), ("", "unverified", 0)]
)
def test_a_person_says_what_the_judge_said(tmp_path: Path, typed: str, status: str, code: int) -> None:
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.toml").write_text(STATEMENT)
    name = write_replies(tmp_path / "replies.jsonl", "def double(n):\n    return n * 2\n")
    line = [*COMMAND, "run", str(task), "--model", name, "--json"]
    ran = subprocess.run(line, input=typed, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, json.loads(ran.stdout)["status"]) == (code, status)
    assert "what did the judge say?" in ran.stderr
    assert "return n * 2" in ran.stderr


def test_the_examples_of_a_statement_fail_a_wrong_program(tmp_path: Path, afterword: Command) -> None:
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.toml").write_text(STATEMENT.replace('held_out = "ask"\n', ""))
    name = write_replies(tmp_path / "replies.jsonl", "def double(n):\n    return n\n")
    ran = afterword("run", task, "--model", name, "--max-trials", "1", "--json")
    assert ran.code == 1
    (trial,) = trials(ran.told)
    assert trial["failed"] == ["case:1"]

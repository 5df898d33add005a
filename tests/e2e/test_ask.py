"""`--ask`: a person has the last word on each lesson, at a terminal and through a pipe."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.e2e.processes import started, terminal
from tests.e2e.tasks import LESSON_1, PLUS_ONE, RIGHT, SAME, prompts, write_replies, write_task
from tests.watching import PATIENCE_S

QUESTION = "keep this lesson?"


def arguments(tmp_path: Path, *options: str) -> list[str | Path]:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    return ["run", task, "--model", name, "--record", tmp_path / "calls.jsonl", "--ask", *options]


def second_prompt(tmp_path: Path) -> str:
    return prompts(tmp_path / "calls.jsonl", "actor")[1]


def test_enter_keeps_the_lesson_which_is_shown_once(tmp_path: Path) -> None:
    with terminal(arguments(tmp_path), columns=200) as screen:
        screen.wait_for(QUESTION)
        screen.type("\r")
        assert screen.finish() == 0
    assert LESSON_1 in second_prompt(tmp_path)
    assert screen.shown.count("My trial failed `test_one`") == 1


def test_edit_begins_with_the_draft(tmp_path: Path) -> None:
    with terminal(arguments(tmp_path), columns=400) as screen:
        screen.wait_for(QUESTION)
        screen.type("e\r")
        screen.wait_for("lesson: My trial failed")
        screen.type(" And I will not forget zero.\r")
        assert screen.finish() == 0
    assert f"{LESSON_1} And I will not forget zero." in second_prompt(tmp_path)


def test_replace_and_drop(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT)
    asked: list[str | Path] = ["run", task, "--model", name, "--record", tmp_path / "calls.jsonl", "--ask"]
    with terminal(asked) as screen:
        screen.wait_for(QUESTION)
        screen.type("r\r")
        screen.wait_for("lesson: ")
        screen.type("Add it to itself.\r")
        screen.wait_for("trial 2")
        screen.wait_for("The check `test_five` expects")
        screen.type("d\r")
        assert screen.finish() == 0
    shown = prompts(tmp_path / "calls.jsonl", "actor")
    assert "Add it to itself." in shown[1]
    assert LESSON_1 not in shown[1]
    assert "The check `test_five` expects" not in shown[2]


def test_answers_through_a_pipe(tmp_path: Path) -> None:
    with started(arguments(tmp_path, "--json"), stdin=subprocess.PIPE) as command:
        out, err = command.communicate(b"r\nAdd it to itself.\n", PATIENCE_S)
    assert command.returncode == 0, err
    told = json.loads(out)
    assert told["trials"][0]["reflection"] == "Add it to itself."
    assert QUESTION in err.decode()
    assert "Add it to itself." in second_prompt(tmp_path)


def test_closed_pipe_keeps_every_lesson(tmp_path: Path) -> None:
    with started(arguments(tmp_path, "--json")) as command:
        out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0, err
    assert json.loads(out)["trials"][0]["reflection"] == LESSON_1


def test_edit_through_a_pipe_keeps_the_draft_when_nothing_is_typed(tmp_path: Path) -> None:
    with started(arguments(tmp_path, "--json"), stdin=subprocess.PIPE) as command:
        out, _ = command.communicate(b"e\n\n", PATIENCE_S)
    assert json.loads(out)["trials"][0]["reflection"] == LESSON_1


def test_ctrl_c_at_the_question_ends_the_run_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with terminal(arguments(tmp_path)) as screen:
        screen.wait_for(QUESTION)
        assert screen.interrupt() == 130
        assert screen.echoes()
    assert screen.shown.rstrip().endswith("afterword: interrupted")

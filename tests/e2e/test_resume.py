"""`afterword resume`, `fork` and `continue`: after a kill, with what was changed, from another lesson."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.processes import started
from tests.e2e.tasks import (
    CANARY,
    HELD_OUT,
    LESSON_1,
    LESSON_2,
    RIGHT,
    SAME,
    TABLE,
    fenced,
    prompts,
    write_replies,
    write_task,
)
from tests.e2e.test_many_tasks import TRIPLE, by_task, row, write_lines
from tests.models.server import Http, completion, provider
from tests.watching import PATIENCE_S, eventually


def program(code: str) -> Http:
    return completion(fenced(code))


def status_of(ran: Ran) -> object:
    return ran.told["status"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_ended_goes_on_and_asks_nothing_twice(
    tmp_path: Path, afterword: Command, how: signal.Signals
) -> None:
    task = write_task(tmp_path / "task")
    # The reflector gets no answer until the run is ended.
    with provider(program(SAME), Http(hang=True), completion(LESSON_1), program(RIGHT)) as served:
        arguments: list[str | Path] = [
            "run",
            task,
            "--model",
            "openai:m",
            "--base-url",
            served.url,
            "--api-key",
            "k" * 20,
            "--json",
        ]
        with started(arguments) as command:
            assert eventually(lambda: len(served.bodies) == 2)
            command.send_signal(how)
            _, err = command.communicate(timeout=PATIENCE_S)
        ran = afterword("resume", "--api-key", "k" * 20, "--json")
        assert (ran.code, status_of(ran)) == (0, "accepted")
        assert len(served.bodies) == 4
        assert served.bodies[1]["messages"] == served.bodies[2]["messages"]  # the one in flight is asked again
    if how is signal.SIGINT:
        assert command.returncode == 130
        assert "go on with: afterword resume" in err.decode()
    again = afterword("resume", run_of(afterword), "--json")
    assert again.told == ran.told
    assert b"kkkkkkkkkkkkkkkkkkkk" not in (tmp_path / "afterword-home" / "journal.sqlite").read_bytes()


def run_of(afterword: Command) -> str:
    latest = json.loads(afterword("runs", "--json").out.splitlines()[0])
    return str(latest.get("run") or latest["id"])


def test_scripts_go_on_behind_what_was_used(tmp_path: Path, afterword: Command) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    script = tmp_path / "a.jsonl"
    texts = [("actor", fenced(SAME)), ("reflector", LESSON_1), ("actor", fenced(RIGHT)), ("actor", fenced(TRIPLE))]
    write_lines(script, *({"role": role, "text": text} for role, text in texts))
    first = afterword("run", tasks, "--model", f"scripted:{script}", "--total-calls", "2", "--json")
    assert first.code == 1
    second = afterword("resume", "--total-calls", "10", "--json")
    assert second.code == 0, second
    assert [json.loads(line)["status"] for line in second.out.splitlines()] == ["accepted", "accepted"]


def test_a_changed_task_is_refused_by_name_and_a_fork_goes_on(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    afterword("run", task, "--model", name)
    run = run_of(afterword)
    (task / "held_out_tests.py").write_text(
        "from solution import double\n\n\ndef test_9():\n    assert double(9) == 18\n"
    )
    refused = afterword("resume", run)
    assert refused.code == 2
    assert "was started with another task:double" in refused.complaint
    forked = afterword("fork", run, "--at", "double:1", "--json")
    assert (forked.code, status_of(forked)) == (0, "accepted")


def test_a_task_that_is_gone_and_a_changed_script_are_refused(tmp_path: Path, afterword: Command) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    name = by_task(tmp_path / "s.jsonl", double=(RIGHT,), triple=(TRIPLE,))
    afterword("run", tasks, "--model", name)
    run = run_of(afterword)
    write_lines(tasks, row("double", 2))
    assert "task:triple" in afterword("resume", run).complaint
    write_lines(tasks, row("double", 2), row("triple", 3))
    by_task(tmp_path / "s.jsonl", double=(SAME,), triple=(TRIPLE,))
    assert "model:actor" in afterword("resume", run).complaint


def test_a_fork_asks_what_another_lesson_would_have_done(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", SAME, TABLE))
    lesson = "Add the number to itself, whatever it is."
    forked = afterword("fork", run_of(afterword), "--at", "double:1", "--lesson", lesson, "--json")
    trials = forked.told["trials"]
    assert isinstance(trials, list)
    assert (trials[0]["reflection"], trials[1]["lessons_shown"]) == (lesson, [1])
    assert trials[0]["output"] == SAME
    again = afterword("resume", run_of(afterword), "--json")
    assert again.told == forked.told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--at", "double"], "--at takes TASK:TRIAL"),
        (["--at", "double:9"], "did not judge a trial 9"),
        (["--at", "triple:1"], "did not work on a task 'triple'"),
        (["--at", "double:1", "--lesson", " "], "--lesson is empty"),
    ],
)
def test_a_fork_from_nowhere_is_refused(
    tmp_path: Path, afterword: Command, arguments: list[str], complaint: str
) -> None:
    afterword("run", write_task(tmp_path / "task"), "--model", write_replies(tmp_path / "a.jsonl", RIGHT))
    refused = afterword("fork", run_of(afterword), *arguments)
    assert refused.code == 2
    assert complaint in refused.complaint


def test_continue_reveals_the_failure_burns_the_checks_and_accepts_nothing(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    record = tmp_path / "calls.jsonl"
    # What is used up to the rejection is one program; the lesson and the next program are for the trial after it.
    name = write_replies(tmp_path / "a.jsonl", TABLE, RIGHT, lessons=(LESSON_2,))
    rejected = afterword("run", task, "--model", name, "--record", record, "--json")
    assert status_of(rejected) == "rejected"
    assert not any(CANARY in prompt for prompt in prompts(record, "actor"))
    run = run_of(afterword)
    assert "--reveal-held-out" in afterword("continue", run, "double").complaint
    more = afterword("continue", run, "double", "--reveal-held-out", "--json")
    told = more.told
    assert (told["status"], told["best_trial"], told["acceptance"]) == ("unverified", 2, None)
    assert told["held_out_burned"] is True
    trials = told["trials"]
    assert isinstance(trials, list)
    assert "held_out:test_seven" in trials[0]["failed"]
    assert CANARY in trials[0]["feedback"]
    assert more.code == 0
    assert "revealed after trial 1; fork at that trial" in afterword("fork", run, "--at", "double:2").complaint
    shown = afterword("resume", run)
    assert "its held-out checks were revealed and are burned" in " ".join(shown.out.split())
    assert "its held-out checks are burned" in afterword("show", run).out
    assert json.loads(afterword("show", run, "--json").out.splitlines()[1])["held_out_burned"] is True
    table = list(csv.DictReader(io.StringIO(afterword("export", run, "--format", "csv").out)))
    assert {line["held_out_burned"] for line in table} == {"True"}
    assert json.loads(afterword("export", run).out.splitlines()[-1])["held_out_burned"] is True
    assert afterword("export", run, "--format", "sft").out == ""
    compared = " ".join(afterword("compare", run).out.split())
    assert "solved 0 % of 1 task" in compared
    assert "it counts as rejected, whatever passed since" in compared


FRESH = "from solution import double\n\n\ndef test_nine():\n    assert double(9) == 18\n"
FRESH_STRICTER = "from solution import double\n\n\ndef test_list():\n    assert double([3]) == [3, 3]\n"


def continued(tmp_path: Path, afterword: Command, *programs: str) -> str:
    """A run whose first program was rejected, and whose second passes what was revealed to it."""
    name = write_replies(tmp_path / "a.jsonl", TABLE, *programs, lessons=(LESSON_2, LESSON_1))
    afterword("run", write_task(tmp_path / "task"), "--model", name)
    run = run_of(afterword)
    assert status_of(afterword("continue", run, "double", "--reveal-held-out", "--json")) == "unverified"
    return run


def test_fresh_checks_accept_what_was_continued(tmp_path: Path, afterword: Command) -> None:
    run = continued(tmp_path, afterword, RIGHT)
    (tmp_path / "fresh.py").write_text(FRESH)
    judged = afterword("continue", run, "double", "--held-out", tmp_path / "fresh.py", "--json")
    told = judged.told
    assert (judged.code, told["status"], told["best_trial"]) == (0, "accepted", 2)
    assert told["acceptance"] == {"passed": True, "checks_passed": 1, "checks_total": 1, "trust": "isolated"}
    assert told["held_out_fresh"] is True
    assert "held_out_burned" not in told
    (tmp_path / "fresh.py").unlink()  # the journal has them
    assert status_of(afterword("resume", run, "--json")) == "accepted"
    assert "burned: only fresh ones" not in afterword("show", run).out
    assert json.loads(afterword("export", run).out.splitlines()[-1])["held_out_burned"] is False
    assert "it counts as rejected" in " ".join(afterword("compare", run).out.split())
    assert "are not burned" in afterword("continue", run, "double", "--held-out", __file__).complaint


def test_fresh_checks_are_kept_whole_or_not_at_all(tmp_path: Path, afterword: Command) -> None:
    run = continued(tmp_path, afterword, RIGHT)
    (tmp_path / "fresh.py").write_text(FRESH)
    place = Path(os.environ["AFTERWORD_HOME"]) / "journal.sqlite"
    with sqlite3.connect(place) as connection:  # the last of what is written finds no room
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON notes WHEN NEW.kind = 'forgotten' "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    connection.close()
    assert "no room" in afterword("continue", run, "double", "--held-out", tmp_path / "fresh.py").complaint
    with sqlite3.connect(place) as connection:
        connection.execute("DROP TRIGGER full")
    connection.close()
    judged = afterword("continue", run, "double", "--held-out", tmp_path / "fresh.py", "--json")
    assert status_of(judged) == "accepted"


def test_what_fresh_checks_reject_can_be_continued_again(tmp_path: Path, afterword: Command) -> None:
    repeats = "def double(n):\n    return n * 2\n"
    run = continued(tmp_path, afterword, "def double(n):\n    return n + n if n != [3] else 0\n", repeats)
    (tmp_path / "fresh.py").write_text(FRESH_STRICTER)
    judged = afterword("continue", run, "double", "--held-out", tmp_path / "fresh.py", "--json")
    assert (judged.code, status_of(judged)) == (1, "rejected")
    more = afterword("continue", run, "double", "--reveal-held-out", "--json")
    told = more.told
    assert (told["status"], told["best_trial"], told["held_out_burned"]) == ("unverified", 3, True)
    assert isinstance(told["trials"], list)
    assert told["trials"][1]["failed"] == ["held_out_2:test_list"]
    again = afterword("continue", run, "double", "--held-out", tmp_path / "fresh.py")
    assert "each of these checks was seen before" in again.complaint
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"args": ["ab"], "expected": "abab"}\n')
    assert status_of(afterword("continue", run, "double", "--held-out", cases, "--json")) == "accepted"


def test_revealed_and_judged_by_fresh_checks_in_one_go(tmp_path: Path, afterword: Command) -> None:
    name = write_replies(tmp_path / "a.jsonl", TABLE, RIGHT, lessons=(LESSON_2,))
    afterword("run", write_task(tmp_path / "task"), "--model", name)
    (tmp_path / "fresh.py").write_text(FRESH)
    options = ("--reveal-held-out", "--held-out", tmp_path / "fresh.py", "--json")
    assert status_of(afterword("continue", run_of(afterword), "double", *options)) == "accepted"


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("fresh.txt", "", "test functions (.py) or labelled cases (.jsonl)"),
        ("missing.py", None, "cannot be read"),
        ("fresh.py", "def test_x(:\n", "fresh.py"),
        ("fresh.py", HELD_OUT.replace("test_seven", "test_other"), "each of these checks was seen before"),
        ("fresh.py", "from solution import double\n\n\ndef test_x(capsys):\n    assert double(9) == 18\n", "capsys"),
    ],
)
def test_checks_that_cannot_be_used_leave_no_mark(
    tmp_path: Path, afterword: Command, file: str, text: str | None, complaint: str
) -> None:
    run = continued(tmp_path, afterword, RIGHT)
    if text is not None:
        (tmp_path / file).write_text(text)
    refused = afterword("continue", run, "double", "--held-out", tmp_path / file)
    assert refused.code == 2
    assert complaint in refused.complaint
    assert status_of(afterword("resume", run, "--json")) == "unverified"
    (tmp_path / "good.py").write_text(FRESH)
    assert status_of(afterword("continue", run, "double", "--held-out", tmp_path / "good.py", "--json")) == "accepted"


def test_only_a_rejected_task_is_continued(tmp_path: Path, afterword: Command) -> None:
    afterword("run", write_task(tmp_path / "task"), "--model", write_replies(tmp_path / "a.jsonl", RIGHT))
    run = run_of(afterword)
    assert "with 'accepted'" in afterword("continue", run, "double", "--reveal-held-out").complaint
    assert "'nope' with no outcome" in afterword("continue", run, "nope", "--reveal-held-out").complaint


def test_finished_run_stays_finished_when_it_is_refused(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT))
    run = run_of(afterword)
    assert afterword("continue", run, "double", "--reveal-held-out").code == 2
    assert afterword("resume", run, "--json").code == 0
    (task / "task.toml").write_text((task / "task.toml").read_text().replace("twice", "two times"))
    assert "another task:double" in afterword("resume", run).complaint
    assert json.loads(afterword("runs", "--json").out)["state"] == "finished"


def test_relative_paths_start_where_the_run_was_started(
    tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_task(tmp_path / "task")
    write_replies(tmp_path / "a.jsonl", RIGHT)
    monkeypatch.chdir(tmp_path)
    afterword("run", "task", "--model", "scripted:a.jsonl", "--journal", "runs.sqlite")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    resumed = afterword("resume", run_of_journal(afterword, "../runs.sqlite"), "--journal", "../runs.sqlite", "--json")
    assert (resumed.code, status_of(resumed)) == (0, "accepted")
    assert Path.cwd() == tmp_path / "elsewhere"


def run_of_journal(afterword: Command, journal: str) -> str:
    latest = json.loads(afterword("runs", "--journal", journal, "--json").out.splitlines()[0])
    return str(latest.get("run") or latest["id"])


def test_nothing_is_kept_where_it_is_not_wanted(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT), "--no-journal")
    assert ran.code == 0
    assert not (tmp_path / "afterword-home" / "journal.sqlite").exists()
    assert "there is no journal here" in afterword("resume").complaint


def test_a_closed_terminal_leaves_a_run_that_goes_on(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    with provider(program(SAME), Http(hang=True), completion(LESSON_1), program(RIGHT)) as served:
        arguments: list[str | Path] = [
            "run",
            task,
            "--model",
            "openai:m",
            "--base-url",
            served.url,
            "--api-key",
            "k" * 20,
        ]
        with started(arguments) as command:
            assert eventually(lambda: len(served.bodies) == 2)
            os.killpg(command.pid, signal.SIGHUP)
            command.communicate(timeout=PATIENCE_S)
        ran = afterword("resume", "--api-key", "k" * 20, "--json")
        assert status_of(ran) == "accepted"

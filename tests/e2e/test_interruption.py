"""Ctrl-C, a lost terminal and a broken pipe: the exit code is right and no process is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from tests.e2e.processes import started, terminal
from tests.e2e.tasks import ENDLESS, PLUS_ONE, RIGHT, SAME, VISIBLE, write_replies, write_task
from tests.models.server import Http, Served, serving
from tests.watching import PATIENCE_S, descendants, eventually, survivors

SLOW = "import time\n\n\ndef double(n):\n    time.sleep(0.3)\n    return n + n\n"


@contextmanager
def silent_provider() -> Iterator[Served]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving(Http(hang=True))) as served:
        yield served


def endless_run(tmp_path: Path) -> list[str | Path]:
    task = write_task(tmp_path / "task", toml="timeout_s = 600\n")
    return ["run", task, "--model", write_replies(tmp_path / "a.jsonl", ENDLESS)]


def read_until(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    assert process.stdout is not None
    shown = b""
    while text not in shown:
        data = process.stdout.readline()
        assert data, shown
        shown += data
    return shown


@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_while_a_program_runs(tmp_path: Path, whole_group: bool) -> None:
    with started(endless_run(tmp_path)) as command:
        read_until(command, b"trial 1")
        assert eventually(lambda: len(descendants(command.pid)) >= 3)  # a zygote, a judge, a jailed program
        below = descendants(command.pid)
        if whole_group:  # as a terminal does it
            os.killpg(command.pid, signal.SIGINT)
        else:
            command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 130
    assert b"given up after 1 call" in out
    assert err == b"afterword: interrupted\n"
    assert eventually(lambda: not survivors(below))


def test_ctrl_c_while_a_model_is_asked(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    with (
        silent_provider() as served,
        started(["run", task, "--model", "openai:m", "--base-url", served.url]) as command,
    ):
        read_until(command, b"trial 1")
        assert eventually(lambda: len(served.bodies) == 1)
        below = descendants(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        _, err = command.communicate(timeout=PATIENCE_S)
    assert (command.returncode, err) == (130, b"afterword: interrupted\n")
    assert eventually(lambda: not survivors(below))


def test_ctrl_c_key_in_a_terminal(tmp_path: Path) -> None:
    with terminal(endless_run(tmp_path)) as screen:
        screen.wait_for("trial 1")
        assert eventually(lambda: len(descendants(screen.process.pid)) >= 3)
        below = descendants(screen.process.pid)
        screen.type("\x03")
        assert screen.finish() == 130
    assert eventually(lambda: not survivors(below))
    assert screen.shown.rstrip().endswith("afterword: interrupted")
    assert "Traceback" not in screen.shown
    assert screen.cursor_seen


def test_ctrl_c_during_evaluate(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = {"tests": VISIBLE, "entry_point": "double"}
    quick, endless = {**row, "id": "quick", "solution": RIGHT}, {**row, "id": "endless", "solution": ENDLESS}
    rows.write_text(f"{json.dumps(quick)}\n{json.dumps(endless)}\n")
    with started(["evaluate", rows, "--timeout-s", "600", "--json", "--jobs", "2"]) as command:
        first = read_until(command, b"\n")
        below = descendants(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        rest, err = command.communicate(timeout=PATIENCE_S)
    assert (command.returncode, err) == (130, b"afterword: interrupted\n")
    assert json.loads(first)["id"] == "quick"
    assert rest == b""
    assert eventually(lambda: not survivors(below))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_whatever_ends_the_command_its_children_end_too(tmp_path: Path, how: signal.Signals) -> None:
    with started(endless_run(tmp_path)) as command:
        read_until(command, b"trial 1")
        assert eventually(lambda: len(descendants(command.pid)) >= 3)
        below = descendants(command.pid)
        command.send_signal(how)
        command.communicate(timeout=PATIENCE_S)
    assert command.returncode != 0
    assert eventually(lambda: not survivors(below)), survivors(below)


@pytest.mark.parametrize("deaf", [False, True], ids=["in front", "behind"])
def test_sigterm_ends_a_run_as_ctrl_c_does(tmp_path: Path, deaf: bool) -> None:
    with started([*endless_run(tmp_path), "--journal", tmp_path / "journal.sqlite"], deaf=deaf) as command:
        shown = read_until(command, b"trial 1")
        assert eventually(lambda: len(descendants(command.pid)) >= 3)
        below = descendants(command.pid)
        if deaf:
            command.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                command.wait(1.0)
        command.send_signal(signal.SIGTERM)
        out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 130
    run = shown.decode().partition("run   ")[2].partition(",")[0]
    assert f"given up after 1 call, 201 + 42 tokens, $0; go on with: afterword resume {run}" in out.decode()
    assert err == b"afterword: interrupted\n"
    assert eventually(lambda: not survivors(below))


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_reader_that_leaves_gets_no_traceback(tmp_path: Path, options: list[str]) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT)
    with started(["run", task, "--model", name, *options]) as command:
        assert command.stdout is not None
        command.stdout.close()
        command.stdout = None
        _, err = command.communicate(timeout=PATIENCE_S)
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert command.returncode == 130


def test_reader_of_verdicts_that_leaves_gets_no_traceback(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = {"id": "a", "solution": RIGHT, "tests": VISIBLE, "entry_point": "double"}
    rows.write_text(f"{json.dumps(row)}\n" * 5)
    with started(["evaluate", rows]) as command:
        assert command.stdout is not None
        command.stdout.close()
        command.stdout = None
        _, err = command.communicate(timeout=PATIENCE_S)
    assert (command.returncode, err) == (130, b"")


def test_finished_run_leaves_no_process(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, SLOW)
    with started(["run", task, "--model", name]) as command:
        read_until(command, b"trial 2")  # all that is ever started has been by now
        seen = descendants(command.pid)
        command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0
    assert seen
    assert not survivors(seen)

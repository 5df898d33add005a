"""`afterword run` when its journal, a judge or a jail breaks in mid-run: one line, the right exit code, a way on."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.processes import PATIENCE_S, descendants, eventually, started
from tests.e2e.tasks import LESSON_1, RIGHT, SAME, fenced, write_replies, write_task
from tests.models.server import Http, Served, completion, provider

pytestmark = pytest.mark.timeout(600)
SLOW = "import time\n\n\ndef double(n):\n    time.sleep(0.4)\n    return n + n\n"
_REPLIES = (fenced(SAME), LESSON_1, fenced(RIGHT))


def in_turn(served: Served) -> Http:
    """A wrong program, a lesson, a right program; a request that comes again is answered the same."""
    seen: list[object] = []
    for body in served.bodies:
        if body not in seen:
            seen.append(body)
    return Http(body=completion(_REPLIES[seen.index(served.bodies[-1])]).body, wait_s=0.3)


@contextmanager
def running(folder: Path, served: Served, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    task = write_task(folder / "task")
    where = ["--model", "openai:m", "--base-url", served.url, "--journal", str(folder / "journal.sqlite")]
    with started(["run", task, *where, *options]) as command:
        yield command


def test_full_disk_is_told_in_one_line_and_the_run_is_resumed(tmp_path: Path, afterword: Command) -> None:
    with provider(plan=in_turn) as served:
        with running(tmp_path, served) as command:
            assert eventually(lambda: len(served.bodies) == 2)
            used = max(file.stat().st_size for file in tmp_path.iterdir() if file.is_file())
            resource.prlimit(command.pid, resource.RLIMIT_FSIZE, (used, resource.RLIM_INFINITY))  # no file may grow
            _, err = command.communicate(timeout=PATIENCE_S)
        assert command.returncode == 3
        assert len(err.splitlines()) == 1, err
        assert b"journal.sqlite" in err
        assert b"resume" in err
        ran = afterword("resume", "--journal", tmp_path / "journal.sqlite", "--json")
    assert ran.code == 0, ran.err
    assert ran.told["status"] == "accepted"
    assert len(served.bodies) <= len(_REPLIES) + 1


def test_journal_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path: Path, afterword: Command) -> None:
    with provider(plan=in_turn) as served:
        ran = afterword(
            *("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url),
            *("--journal", "/proc/journal.sqlite"),
        )
    assert ran.code == 2
    assert "/proc/journal.sqlite" in ran.complaint
    assert served.bodies == []


def test_killed_jail_and_judge_leave_no_mark_on_the_run(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", toml="timeout_s = 60\n")
    name = write_replies(tmp_path / "a.jsonl", SAME, SLOW)
    with started(["run", task, "--model", name, "--journal", tmp_path / "journal.sqlite", "--json"]) as command:
        assert eventually(lambda: len(descendants(command.pid)) >= 3)
        for pid, _ in descendants(command.pid):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0, err
    told = json.loads(out)
    assert (told["status"], [trial["passed"] for trial in told["trials"]]) == ("accepted", [False, True])

"""`afterword run` when its journal, a judge or a jail breaks in mid-run: one line, the right exit code, a way on."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.processes import started
from tests.e2e.tasks import LESSON_1, RIGHT, SAME, fenced, write_replies, write_task
from tests.models.server import Http, Served, completion, provider
from tests.postgres import Postgres
from tests.watching import PATIENCE_S, descendants, eventually

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
def running(folder: Path, served: Served, journal: str = "") -> Iterator[subprocess.Popen[bytes]]:
    task = write_task(folder / "task")
    where = ["--model", "openai:m", "--base-url", served.url, "--journal", journal or str(folder / "journal.sqlite")]
    with started(["run", task, *where]) as command:
        yield command


def read_line(command: subprocess.Popen[bytes]) -> str:
    """The next line on stderr."""
    assert command.stderr is not None
    return command.stderr.readline().decode()


def test_server_that_is_gone_is_told_at_once_and_again_when_it_is_back(tmp_path: Path, postgres: Postgres) -> None:
    where = postgres.database()
    with provider(plan=in_turn) as served, running(tmp_path, served, where) as command:
        assert eventually(lambda: len(served.bodies) == 2)
        postgres.stop()
        try:
            gone = read_line(command)
        finally:
            postgres.start()
        assert "waited for up to 120 s, and nothing that was paid for is lost" in gone
        assert postgres.password not in gone
        assert "takes writes again" in read_line(command)
        _, rest = command.communicate(timeout=PATIENCE_S)
    assert (command.returncode, rest) == (0, b"")
    assert len(served.bodies) == len(_REPLIES)


def test_ctrl_c_while_the_server_is_gone_ends_the_run_soon(tmp_path: Path, postgres: Postgres) -> None:
    where = postgres.database()
    with provider(plan=in_turn) as served, running(tmp_path, served, where) as command:
        assert eventually(lambda: len(served.bodies) == 2)
        postgres.stop()
        try:
            assert "is waited for" in read_line(command)
            command.send_signal(signal.SIGINT)
            out, err = command.communicate(timeout=PATIENCE_S)
        finally:
            postgres.start()
    assert command.returncode == 130
    assert b"go on with: afterword resume" in out
    assert err == b"afterword: interrupted\n"


def test_lock_of_another_process_is_told(tmp_path: Path) -> None:
    with provider(plan=in_turn) as served, running(tmp_path, served) as command:
        assert eventually(lambda: len(served.bodies) == 2)
        other = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held = read_line(command)
        other.execute("ROLLBACK")
        other.close()
        assert "another process" in held
        assert "waited for up to 30 s" in held
        assert "takes writes again" in read_line(command)
        command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0


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
        for pid in descendants(command.pid):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0, err
    told = json.loads(out)
    assert (told["status"], [trial["passed"] for trial in told["trials"]]) == ("accepted", [False, True])

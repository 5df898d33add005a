"""Keys planted in the environment, in options and in addresses show up nowhere: not in files, not on a screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.tasks import LESSON_1, RIGHT, SAME, fenced, write_task
from tests.models.server import Http, Served, completion, error, provider
from tests.postgres import Postgres

IN_ENVIRONMENT = "sk-planted-environment-4711"
UNUSED = "planted-anthropic-0815-unused"
IN_OPTION = "sk-planted-option-4712"
IN_ADDRESS = "planted-address-4713"
PLANTED = (IN_ENVIRONMENT, UNUSED, IN_OPTION, IN_ADDRESS)
_RUN = re.compile(r"\d{6}-\d{4}-[a-z]+")


class Told:
    """Runs commands as a user would, and keeps all that they show."""

    def __init__(self, folder: Path, journal: str) -> None:
        self.folder = folder
        self.journal = journal
        self.shown = ""

    def __call__(self, *arguments: str | Path) -> int:
        environment = {
            **os.environ,
            "OPENAI_API_KEY": IN_ENVIRONMENT,
            "ANTHROPIC_API_KEY": UNUSED,
            "AFTERWORD_HOME": str(self.folder / "home"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "afterword", *map(str, arguments), "--journal", self.journal],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        self.shown += done.stdout + done.stderr
        return done.returncode

    def look_back(self) -> None:
        """Every command that shows what a journal holds."""
        run = _RUN.findall(self.shown)[0]
        for command in (["runs"], ["show", run], ["show", run, "double", "--json"], ["export"], ["journal", "check"]):
            assert self(*command) == 0, self.shown

    def everywhere(self) -> bytes:
        """All files of the folder, and all that was shown."""
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        assert files
        return self.shown.encode() + b"".join(file.read_bytes() for file in files)


def address(served: Served) -> str:
    return served.url.replace("//", f"//somebody:{IN_ADDRESS}@")


def echo(served: Served, text: str, keys: tuple[str, ...]) -> Http:
    """An answer that repeats what the server was sent, and what it may know besides."""
    return completion(f"{text}\n{served.headers[-1]['authorization']} {IN_ADDRESS} {' '.join(keys)}")


def assert_nowhere(secrets: tuple[str, ...], found: bytes) -> None:
    assert [secret for secret in secrets if secret.encode() in found] == []


@pytest.mark.parametrize("keys", [(IN_ENVIRONMENT,), (IN_ENVIRONMENT, IN_OPTION)])
def test_keys_of_a_run_that_is_looked_back_at(tmp_path: Path, keys: tuple[str, ...]) -> None:
    task = write_task(tmp_path / "task")
    told = Told(tmp_path, str(tmp_path / "journal.sqlite"))
    replies = [fenced(SAME), LESSON_1, fenced(RIGHT)]

    def plan(served: Served) -> Http:
        return echo(served, replies[len(served.bodies) - 1], keys)

    with provider(plan=plan) as served:
        options = ("--api-key", IN_OPTION) if IN_OPTION in keys else ()
        where = ("--model", "openai:m", "--base-url", address(served), "--record", tmp_path / "record")
        code = told("run", task, *where, *options)
        assert code == 0, told.shown
    told.look_back()
    assert b"double(n)" in told.everywhere()
    assert_nowhere(PLANTED, told.everywhere())


def test_keys_of_a_run_that_faults_and_is_resumed(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    told = Told(tmp_path, str(tmp_path / "journal.sqlite"))
    refusal = error(401, f"Incorrect API key provided: {IN_OPTION} (or {IN_ENVIRONMENT}) at {IN_ADDRESS}")
    with provider(refusal) as served:
        url = address(served)
        assert told("run", task, "--model", "openai:m", "--base-url", url, "--api-key", IN_OPTION) == 3
        assert told("resume", "--base-url", url) == 3
        assert told("resume") in (2, 3)
    unknown = f"http://somebody:{IN_ADDRESS}@no-such-host.invalid/v1"
    assert told("run", task, "--model", "openai:m", "--base-url", unknown) == 3
    told.look_back()
    assert "Incorrect API key" in told.shown
    assert_nowhere(PLANTED, told.everywhere())


def test_password_of_the_journals_own_server(tmp_path: Path, postgres: Postgres) -> None:
    import psycopg

    where = postgres.database()
    told = Told(tmp_path, where)
    with provider(completion(fenced(RIGHT))) as served:
        url = address(served)
        assert told("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", url) == 0, told.shown
    told.look_back()
    with provider(error(401, "no")) as served:
        url = address(served)
        assert told("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", url) == 3, told.shown
    told.journal = where.replace(f":{postgres.port}/", ":1/")
    assert told("runs") == 2
    assert postgres.password in where
    assert_nowhere((*PLANTED, postgres.password), told.everywhere())
    with psycopg.connect(where) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'afterword'").fetchall()
        assert tables
        for (table,) in tables:
            rows = connection.execute(f'SELECT t::text FROM afterword."{table}" t').fetchall()  # noqa: S608
            assert_nowhere((*PLANTED, postgres.password), str(rows).encode())

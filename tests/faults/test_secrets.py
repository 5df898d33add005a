"""Keys planted in the environment, in options and in addresses show up nowhere: not in files, not on a screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
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

    def __init__(self, folder: Path, journal: str, command: Command) -> None:
        self.folder = folder
        self.journal = journal
        self.shown = ""
        self._command = command

    def __call__(self, *arguments: str | Path) -> int:
        ran = self._command(*arguments, "--journal", self.journal)
        self.shown += ran.out + ran.err
        return ran.code

    def look_back(self) -> None:
        """Every command that shows what a journal holds."""
        run = _RUN.findall(self.shown)[0]
        for command in (["runs"], ["show", run], ["show", run, "double", "--json"], ["export"], ["journal", "check"]):
            assert self(*command) == 0, self.shown

    def everywhere(self) -> dict[str, bytes]:
        """All files of the folder by name, and all that was shown."""
        files = {file.name: file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}
        assert files
        return {"screen": self.shown.encode(), **files}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    monkeypatch.setenv("ANTHROPIC_API_KEY", UNUSED)


def address(served: Served) -> str:
    return served.url.replace("//", f"//somebody:{IN_ADDRESS}@")


def echo(served: Served, text: str, key: str) -> Http:
    """An answer that repeats what the server was sent, or could have been."""
    return completion(f"{text}\n{served.headers[-1]['authorization']} {IN_ADDRESS} {key}")


def assert_nowhere(secrets: tuple[str, ...], found: dict[str, bytes]) -> None:
    assert [(name, secret) for name, text in found.items() for secret in secrets if secret.encode() in text] == []


@pytest.mark.parametrize("key", [IN_ENVIRONMENT, IN_OPTION])
def test_keys_of_a_run_that_is_looked_back_at(tmp_path: Path, afterword: Command, key: str) -> None:
    task = write_task(tmp_path / "task")
    told = Told(tmp_path, str(tmp_path / "journal.sqlite"), afterword)
    replies = [fenced(SAME), LESSON_1, fenced(RIGHT)]

    def plan(served: Served) -> Http:
        return echo(served, replies[len(served.bodies) - 1], key)

    with provider(plan=plan) as served:
        options = ("--api-key", IN_OPTION) if key == IN_OPTION else ()
        where = ("--model", "openai:m", "--base-url", address(served), "--record", tmp_path / "record")
        code = told("run", task, *where, *options)
        assert code == 0, told.shown
    told.look_back()
    assert b"double(n)" in b"".join(told.everywhere().values())
    assert_nowhere(PLANTED, told.everywhere())


def test_keys_of_a_run_that_faults_and_is_resumed(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    told = Told(tmp_path, str(tmp_path / "journal.sqlite"), afterword)
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


def test_password_of_the_journals_own_server(tmp_path: Path, afterword: Command, postgres: Postgres) -> None:
    import psycopg

    where = postgres.database()
    told = Told(tmp_path, where, afterword)
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
            assert_nowhere((*PLANTED, postgres.password), {table: str(rows).encode()})

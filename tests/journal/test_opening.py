"""What can and cannot be opened as a journal, and the one line that is said of it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from afterword.core.protocols import EffectKey
from afterword.errors import InputError, JournalFault
from afterword.journal import RunSpec, database, default_place, open_journal

pytestmark = pytest.mark.anyio


async def refusal(where: str | Path, *, create: bool = True) -> str:
    with pytest.raises(InputError) as refused:
        async with open_journal(where, create=create):
            pass
    return str(refused.value)


async def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    place = tmp_path / "new" / "folder" / "journal.sqlite"
    async with open_journal(place) as journal:
        assert journal.where == str(place)
    assert place.is_file()


async def test_a_url_of_sqlite_is_a_path(tmp_path: Path) -> None:
    async with open_journal(f"sqlite:///{tmp_path}/j.sqlite") as journal:
        assert journal.where == f"{tmp_path}/j.sqlite"


def test_the_default_place_follows_the_home_of_afterword(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    assert default_place() == tmp_path / "journal.sqlite"
    monkeypatch.delenv("AFTERWORD_HOME")
    assert default_place().name == "journal.sqlite"


async def test_another_format_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "j.sqlite"
    async with open_journal(place):
        pass
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE afterword_meta SET value = '7'")
    connection.close()
    assert f"the journal {place} has format 7, this version of afterword reads format 1" in await refusal(place)


async def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "photos.sqlite"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE photos (id INTEGER)")
    connection.close()
    before = place.read_bytes()
    assert f"{place} holds tables of something else (photos)" in await refusal(place)
    assert place.read_bytes() == before
    assert os.listdir(tmp_path) == ["photos.sqlite"]  # noqa: PTH208 - no call of pathlib within a coroutine
    with sqlite3.connect(place) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("photos",)]
    connection.close()


async def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "letter.txt"
    place.write_text("Dear reader, " * 100, encoding="utf-8")
    assert f"the journal {place} is a file of something else" in await refusal(place)
    assert place.read_text(encoding="utf-8").startswith("Dear reader")


async def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "expected the journal's file, found a folder" in await refusal(tmp_path)


async def test_a_journal_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    assert "there is no journal here" in await refusal(tmp_path / "none.sqlite", create=False)
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize("url", ["mysql://localhost/x", "http://localhost/", "nothing://"])
async def test_another_kind_of_database_is_refused(url: str) -> None:
    assert "expected a journal at a path, sqlite:///PATH or postgresql://HOST/NAME" in await refusal(url)


async def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    told = await refusal("postgresql://user:swordfish@127.0.0.1:1/x")
    assert told.startswith("the journal postgresql://user:***@127.0.0.1:1/x cannot be used")
    assert "swordfish" not in told


async def test_a_locked_database_is_waited_for_and_then_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_WAIT_S", 0.2)
    place = tmp_path / "j.sqlite"

    async def call() -> str:
        calls.append("made")
        return "answer"

    calls: list[str] = []
    async with open_journal(place) as journal:
        run = await journal.start(RunSpec())
        other = sqlite3.connect(place, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        key = EffectKey("t", "a", 0, 1, "actor", 0)
        with pytest.raises(JournalFault, match="is locked by another process"):
            await run.recorder.effect(key, (), call, str)
        other.execute("ROLLBACK")
        other.close()
        with pytest.raises(JournalFault, match="is locked by another process"):  # nothing is used unrecorded any more
            await run.recorder.effect(key, (), call, str)
    async with open_journal(place) as journal:
        run = await journal.resume()
        assert await run.recorder.effect(key, (), call, str) == "answer"
        assert [effect.result async for effect in journal.effects(run.id)] == ["answer"]


async def test_a_lock_that_is_given_up_in_time_is_waited_for(tmp_path: Path) -> None:
    place = tmp_path / "j.sqlite"
    async with open_journal(place) as journal:
        run = await journal.start(RunSpec())
        program = (
            "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
            "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(0.5); c.execute('ROLLBACK')"
        )
        command = [sys.executable, "-c", program, str(place)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as child:  # noqa: ASYNC220
            assert child.stdout is not None
            child.stdout.readline()
            await run.note("kind", "task", "written all the same")
    async with open_journal(place) as journal:
        assert [note.text for note in await journal.notes(run.id)] == ["written all the same"]


async def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere; tests/faults has it with another user")
    place = tmp_path / "j.sqlite"
    async with open_journal(place):
        pass
    place.chmod(0o400)
    assert "readonly" in (await refusal(place)).replace("-", "")

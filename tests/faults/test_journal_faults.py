"""What breaks beneath a journal in the middle of a run: the run stops or waits, and goes on with nothing repeated."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from afterword.errors import InputError
from afterword.journal import RunSpec, open_journal
from tests.faults import job
from tests.faults.killing import contents, counting_server, first_difference, repeated, start_job
from tests.faults.nursery import Child, Nursery, open_nursery
from tests.models.server import Served
from tests.postgres import Postgres


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with open_nursery(tmp_path_factory.mktemp("nursery")) as nursery:
        yield nursery


@pytest.fixture(scope="module")
def undisturbed(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a journal holds when nothing breaks."""
    folder = tmp_path_factory.mktemp("undisturbed")
    where = str(folder / "journal.sqlite")
    with counting_server() as served:
        assert start_job(nursery, where, served, folder).wait() == 0
    return anyio.run(contents, where)


pytestmark = pytest.mark.timeout(600)


@contextmanager
def at_work(nursery: Nursery, where: str, folder: Path) -> Iterator[tuple[Child, Served]]:
    """The job in the middle of its work."""
    with counting_server() as served:
        child = start_job(nursery, where, served, folder)
        wait_for_requests(child, served, 10)
        yield child, served


def assert_goes_on(nursery: Nursery, where: str, served: Served, undisturbed: dict[str, object]) -> None:
    """The job is resumed to an end as if nothing had happened, and little is asked again."""
    child = start_job(nursery, where, served, Path(where).parent)
    assert child.wait() == 0, child.said
    assert not first_difference(anyio.run(contents, where), undisturbed)
    assert repeated(served) <= job.AT_ONCE


def wait_for_requests(child: Child, served: Served, number: int) -> None:
    while len(served.bodies) < number:
        assert child.poll(0.001) is None, child.said


def last_line(child: Child) -> str:
    return child.said.strip().splitlines()[-1]


def test_full_disk_stops_the_run_and_it_goes_on_when_there_is_room(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object]
) -> None:
    where = str(tmp_path / "journal.sqlite")
    with at_work(nursery, where, tmp_path) as (child, served):
        used = max(file.stat().st_size for file in tmp_path.iterdir())
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (used, resource.RLIM_INFINITY))  # no file may grow
        assert child.wait() == 1
        assert "JournalFault" in child.said
        assert "resume" in child.said
        assert_goes_on(nursery, where, served, undisturbed)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    unmount = ["umount", "--lazy"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run([*unmount, str(folder)], check=True)


def fill(file: Path) -> None:
    """Takes all the room that is left."""
    with file.open("wb", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)):
                pass
        except OSError as full:
            if full.errno != errno.ENOSPC:
                raise


def test_disk_that_others_fill_stops_the_run_and_it_goes_on_when_there_is_room(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object], small_disk: Path
) -> None:
    where = str(small_disk / "journal.sqlite")
    with at_work(nursery, where, tmp_path) as (child, served):
        fill(small_disk / "filler")
        assert child.wait() == 1
        assert "JournalFault" in child.said
        refused = start_job(nursery, where, served, tmp_path)
        assert refused.wait() == 1
        assert "full" in last_line(refused)
        (small_disk / "filler").unlink()
        assert_goes_on(nursery, where, served, undisturbed)


def test_locked_journal_is_waited_for(tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object]) -> None:
    where = str(tmp_path / "journal.sqlite")
    with at_work(nursery, where, tmp_path) as (child, served):
        other = sqlite3.connect(where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        time.sleep(0.3)
        asked = len(served.bodies)
        time.sleep(0.3)
        assert len(served.bodies) == asked  # nothing goes on unrecorded
        other.execute("ROLLBACK")
        other.close()
        assert child.wait() == 0, child.said
    assert not first_difference(anyio.run(contents, where), undisturbed)
    assert repeated(served) == 0


@pytest.mark.slow
def test_journal_that_stays_locked_stops_the_run(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object]
) -> None:
    where = str(tmp_path / "journal.sqlite")
    with at_work(nursery, where, tmp_path) as (child, served):
        other = sqlite3.connect(where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert child.wait() == 1
        other.close()
        assert "is locked by another process" in child.said
        assert_goes_on(nursery, where, served, undisturbed)


@pytest.mark.parametrize("crash", [False, True])
def test_postgresql_restarted_in_mid_run_is_not_noticed(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object], postgres: Postgres, crash: bool
) -> None:
    where = postgres.database()
    with at_work(nursery, where, tmp_path) as (child, served):
        for requests in (10, 30):
            wait_for_requests(child, served, requests)
            postgres.stop(crash=crash)
            time.sleep(0.2)
            postgres.start()
        assert child.wait() == 0, child.said
    assert not first_difference(anyio.run(contents, where), undisturbed)
    assert repeated(served) == 0


def test_latest_run_is_the_one_started_last_whatever_the_clock_said(tmp_path: Path) -> None:
    where = tmp_path / "journal.sqlite"

    async def main() -> None:
        async with open_journal(where) as journal:
            await journal.start(RunSpec(("first",)))
        with sqlite3.connect(where) as connection:  # the clock is set back after the first one
            connection.execute("UPDATE runs SET started = started + 1e8")
        connection.close()
        async with open_journal(where) as journal:
            latest = await journal.start(RunSpec(("second",)))
        async with open_journal(where) as journal:
            assert [run.command for run in await journal.runs()] == [("second",), ("first",)]
            assert (await journal.resume()).id == latest.id

    anyio.run(main)


def test_clock_that_is_set_back_after_a_kill_changes_nothing(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, object]
) -> None:
    where = str(tmp_path / "journal.sqlite")
    with at_work(nursery, where, tmp_path) as (child, served):
        child.kill()
        connection = sqlite3.connect(where)
        for table, column in (("runs", "started"), ("tasks", "started"), ("effects", "at")):
            connection.execute(f"UPDATE {table} SET {column} = {column} + 1e9")  # noqa: S608
        connection.commit()
        connection.close()
        assert_goes_on(nursery, where, served, undisturbed)


@pytest.mark.parametrize("where", ["/proc/journal.sqlite", "/proc/self/new/journal.sqlite"])
def test_folder_that_cannot_be_written_is_refused_in_one_line(where: str) -> None:
    async def main() -> None:
        async with open_journal(where):
            pytest.fail("it opened")

    with pytest.raises(InputError, match="--journal") as caught:
        anyio.run(main)
    assert "\n" not in str(caught.value)
    assert where in str(caught.value)

"""Who holds a run: alive, dead, on another machine, and whatever the clocks say."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from afterword.core.protocols import EffectKey
from afterword.errors import JournalFault, RunBusy
from afterword.journal import RunSpec, lease, open_journal
from afterword.journal.lease import Holder, holder_of, myself

pytestmark = pytest.mark.anyio

HOLDING = """
import sys, anyio
from afterword.journal import RunSpec, open_journal

async def main():
    async with open_journal(sys.argv[1]) as journal:
        run = await journal.start(RunSpec())
        print(run.id, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def test_this_process_is_here_and_alive() -> None:
    me = myself()
    assert me.here
    assert me.alive
    assert holder_of(me.text()) == me
    assert str(me) == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_number_that_another_process_has_now_is_a_dead_holder() -> None:
    assert not replace(myself(), born="1").alive


def test_a_process_that_has_ended_is_a_dead_holder() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    holder = replace(myself(), pid=child.pid, born=lease._born(child.pid))
    child.wait()
    assert not holder.alive


def test_a_process_before_the_last_boot_is_not_here() -> None:
    assert not replace(myself(), machine="another boot").here


async def test_a_run_of_another_process_is_refused_while_it_lives_and_free_when_it_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "j.sqlite"
    command = [sys.executable, "-c", HOLDING, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:  # noqa: ASYNC220
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        async with open_journal(place) as journal:
            assert (await journal.summary(name)).holder == f"process {child.pid} on {socket.gethostname()}"
            with pytest.raises(RunBusy, match=f"run {name} is being worked on by process {child.pid} on"):
                await journal.resume(name)
            child.kill()
            child.wait()
            assert (await journal.summary(name)).state == "interrupted"
            assert (await journal.resume(name)).id == name


async def held_elsewhere(place: Path) -> str:
    """A run that a process of another machine holds; its clock may show anything."""
    async with open_journal(place) as journal:
        run = await journal.start(RunSpec())
    holder = Holder("elsewhere", "another machine", 4711, "1", "abc")
    set_column(place, "holder", holder.text())
    set_column(place, "started", -1e9)
    return run.id


def set_column(place: Path, name: str, value: object) -> None:
    connection = sqlite3.connect(place, timeout=10)
    with connection:
        connection.execute(f"UPDATE runs SET {name} = ?", (value,))  # noqa: S608
    connection.close()


async def test_a_silent_holder_on_another_machine_is_taken_for_dead_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "SILENCE_S", 0.3)
    monkeypatch.setattr(lease, "BEAT_S", 0.05)
    name = await held_elsewhere(tmp_path / "j.sqlite")
    async with open_journal(tmp_path / "j.sqlite") as journal:
        before = anyio.current_time()
        assert (await journal.resume(name)).id == name
        assert anyio.current_time() - before >= 0.3


async def test_a_holder_on_another_machine_that_is_heard_of_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.1)
    place = tmp_path / "j.sqlite"
    name = await held_elsewhere(place)

    async def beat() -> None:
        await anyio.sleep(0.3)
        set_column(place, "beat", 12)

    async with open_journal(place) as journal, anyio.create_task_group() as group:
        group.start_soon(beat)
        with pytest.raises(RunBusy, match="by process 4711 on elsewhere"):
            await journal.resume(name)


async def test_a_holder_that_was_taken_over_while_it_stood_still_writes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.0)
    place = tmp_path / "j.sqlite"

    async def call() -> str:
        return "answer"

    async with open_journal(place) as journal:
        run = await journal.start(RunSpec())
        set_column(place, "holder", json.dumps({**json.loads(myself().text()), "token": "other"}))
        with pytest.raises(JournalFault, match="was taken over by another process"):
            await run.recorder.effect(EffectKey("t", "a", 0, 1, "actor", 0), (), call, str)
    connection = sqlite3.connect(place)
    assert connection.execute("SELECT count(*) FROM effects").fetchone() == (0,)
    connection.close()


async def test_a_heartbeat_is_heard_while_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.05)
    place = tmp_path / "j.sqlite"
    async with open_journal(place) as journal:
        await journal.start(RunSpec())
        connection = sqlite3.connect(place, timeout=10)
        with anyio.fail_after(20):
            while connection.execute("SELECT beat FROM runs").fetchone()[0] < 2:  # noqa: ASYNC110
                await anyio.sleep(0.05)
        connection.close()

"""The kill test: however often a job is killed, its journal ends up the same, and nothing paid for is repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import anyio
import pytest

from tests.faults import job
from tests.faults.killing import contents, counting_server, first_difference, repeated, run_killed, start_job
from tests.faults.nursery import Nursery, open_nursery
from tests.postgres import Postgres

_SHORT = 6
_LONG = 200

pytestmark = pytest.mark.timeout(7200)  # quick on a machine of its own, and not on a busy one


def survive(runs: int, folder: Path, place: Callable[[int], str]) -> None:
    """Runs the job undisturbed, then so often with kills, each in a journal at a place of its own."""
    with open_nursery(folder) as nursery:
        expected, calls = _undisturbed(nursery, place(-1), folder)
        kills = 0
        for number in range(runs):
            with counting_server() as served:
                killed = run_killed(nursery, place(number), served, _fresh(folder, number), Random(number))  # noqa: S311
            assert not first_difference(anyio.run(contents, place(number)), expected)
            assert len(served.bodies) - repeated(served) == calls
            assert repeated(served) <= killed.kills * job.AT_ONCE
            assert killed.verdicts_repeated <= killed.kills * job.AT_ONCE
            kills += killed.kills
    assert kills > runs


def _undisturbed(nursery: Nursery, where: str, folder: Path) -> tuple[dict[str, object], int]:
    """What the journal holds when nobody disturbs, and how many calls that takes."""
    with counting_server() as served:
        child = start_job(nursery, where, served, _fresh(folder, -1))
        assert child.wait() == 0, child.said
    assert repeated(served) == 0
    return anyio.run(contents, where), len(served.bodies)


def _fresh(folder: Path, number: int) -> Path:
    """A folder for what a run leaves."""
    fresh = folder / f"run{number}"
    fresh.mkdir()
    return fresh


@pytest.mark.parametrize("runs", [_SHORT, pytest.param(_LONG, marks=pytest.mark.slow)])
def test_killed_jobs_end_as_if_nothing_had_happened(tmp_path: Path, runs: int) -> None:
    survive(runs, tmp_path, lambda number: str(tmp_path / f"{number}.sqlite"))


@pytest.mark.parametrize("runs", [_SHORT // 2, pytest.param(_LONG, marks=pytest.mark.slow)])
def test_killed_jobs_in_postgresql_end_as_if_nothing_had_happened(
    tmp_path: Path, postgres: Postgres, runs: int
) -> None:
    places: dict[int, str] = {}
    survive(runs, tmp_path, lambda number: places.get(number) or places.setdefault(number, postgres.database()))

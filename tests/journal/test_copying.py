"""A run that is copied into another journal is the same run there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from afterword.core.protocols import EffectKey
from afterword.errors import InputError, JournalFault, RunBusy
from afterword.journal import RunSpec, copy_run, open_journal
from tests.experiments.report.kept import keep

Everything = Mapping[str, object]
ARMS = {"retry": "+-x", "reflexion": "++!"}


async def kept_in(place: str, *, end: bool = True) -> str:
    async with open_journal(place) as journal:
        await keep(journal, {"other": "+"})
        return await keep(journal, ARMS, fingerprints={"code": "abc"}, settings={"jobs": 2}, end=end)


async def everything(place: str, run: str) -> Everything:
    async with open_journal(place, create=False) as journal:
        return {
            "summary": await journal.summary(run),
            "spec": await journal.spec(run),
            "effects": [one async for one in journal.effects(run)],
            "trials": [one async for one in journal.trials(run)],
            "outcomes": [one async for one in journal.outcomes(run)],
            "notes": await journal.notes(run),
            "damage": (await journal.check()).problems,
        }


def test_it_is_the_same_there_and_back(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    here, back = str(tmp_path / "here.sqlite"), str(tmp_path / "back.sqlite")
    there = request.getfixturevalue("postgres_url")
    run = anyio.run(kept_in, here)
    anyio.run(kept_in, there)  # where it comes to there are runs already
    assert copy_run(here, run.rpartition("-")[2], there) == run
    assert copy_run(there, run, back) == run
    before, between, after = (anyio.run(everything, place, run) for place in (here, there, back))
    assert before == between == after
    assert len(before["outcomes"]) == 6  # type: ignore[arg-type]
    assert before["damage"] == ()


def test_a_copy_is_gone_on_with_and_the_run_stays_as_it_was(tmp_path: Path) -> None:
    here, there = str(tmp_path / "here.sqlite"), str(tmp_path / "there.sqlite")
    run = anyio.run(kept_in, here)

    async def go_on() -> tuple[str, int]:
        async with open_journal(there, create=False) as journal:
            resumed = await journal.resume(run)
            asked = [0]

            async def call() -> str:
                asked[0] += 1
                return "new"

            key = EffectKey("t9", "retry", 0, 1, "evaluator", 0)
            return await resumed.recorder.effect(key, "?", call, str), asked[0]

    before = anyio.run(everything, here, run)
    copy_run(here, run, there)
    assert anyio.run(go_on) == ("new", 1)
    assert anyio.run(everything, here, run) == before
    assert len(anyio.run(everything, there, run)["effects"]) == 1  # type: ignore[arg-type]


def test_what_cannot_be_copied_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    here, there = str(tmp_path / "here.sqlite"), tmp_path / "there.sqlite"
    run = anyio.run(kept_in, here)
    with pytest.raises(InputError, match="holds no run 'none'"):
        copy_run(here, "none", there)
    with pytest.raises(InputError, match="there is no journal here"):
        copy_run(tmp_path / "missing.sqlite", run, there)
    assert not there.exists()
    with pytest.raises(InputError, match="is the journal of the run itself"):
        copy_run(here, run, here)
    copy_run(here, run, there)
    with pytest.raises(InputError, match=f"holds the run {run} already"):
        copy_run(here, run, there)
    (tmp_path / "text").write_text("no journal\n" * 200)
    with pytest.raises(InputError, match="is a file of something else"):
        copy_run(here, run, tmp_path / "text")


@pytest.mark.anyio
async def test_a_run_that_is_at_work_is_not_copied(tmp_path: Path) -> None:
    place = str(tmp_path / "here.sqlite")
    async with open_journal(place) as journal:
        run = await journal.start(RunSpec((), {}, 0, {}))
        with pytest.raises(RunBusy):
            await anyio.to_thread.run_sync(copy_run, place, run.id, tmp_path / "there.sqlite")
    assert copy_run(place, run.id, tmp_path / "there.sqlite") == run.id


def test_a_copy_that_fails_half_way_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = str(tmp_path / "here.sqlite"), str(tmp_path / "there.sqlite")
    run = anyio.run(kept_in, here)
    anyio.run(kept_in, there)

    async def runs() -> list[str]:
        async with open_journal(there, create=False) as journal:
            return [one.id for one in await journal.runs()]

    before = anyio.run(runs)
    with monkeypatch.context() as patch:
        patch.setattr("afterword.journal.database._settle_sqlite", _settle_small)
        with pytest.raises(JournalFault, match="full"):
            copy_run(here, run, there)
    assert anyio.run(runs) == before


def _settle_small(connection: object, fsync: bool, create: bool) -> None:
    """A database that may not grow by a single page."""
    connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

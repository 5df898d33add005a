"""Rows that are written in one transaction keep their order where they are about the same trial."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import anyio
import pytest

from afterword import Feedback, Outcome, Trajectory, Trial
from afterword.core.events import Evaluated, TrialStarted
from afterword.journal import RunSpec, open_journal

pytestmark = pytest.mark.anyio
FEEDBACK = Feedback(False, 0.0, "exact", "failed")


def outcome(task: str) -> Outcome:
    trial = Trial(1, Trajectory(f"what {task} gave"), FEEDBACK)
    return Outcome(task, "gave_up", None, trial, (trial,), None, {})


async def test_trial_that_was_judged_after_another_was_complete_ends_up_complete(tmp_path: Path) -> None:
    where = tmp_path / "journal.sqlite"
    async with open_journal(where) as journal, anyio.create_task_group() as group:
        run = await journal.start(RunSpec())
        events = run.events(arm="a")
        other = sqlite3.connect(where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        group.start_soon(run.note, "waits", "first", "so that all that follows is written at once")
        await anyio.sleep(0.1)
        group.start_soon(partial(run.finish, outcome("first"), arm="a"))
        await anyio.wait_all_tasks_blocked()
        events.emit(TrialStarted("second", 1, ()))
        events.emit(Evaluated("second", 1, FEEDBACK))
        group.start_soon(partial(run.finish, outcome("second"), arm="a"))
        await anyio.wait_all_tasks_blocked()
        other.execute("ROLLBACK")
        other.close()
    async with open_journal(where) as journal:
        found = [outcome async for _, outcome in journal.outcomes(run.id)]
    assert found == [outcome("first"), outcome("second")]

"""What the commands that look back at runs share: which journal, and how facts about a run are put."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from afterword.cli.text import counted

if TYPE_CHECKING:
    from afterword.journal import Journal, RunSummary


@asynccontextmanager
async def existing_journal(where: str | None) -> AsyncIterator[Journal]:
    """A journal that must be there already."""
    from afterword.journal import open_journal

    async with open_journal(where, create=False) as journal:
        yield journal


def moment(seconds: float) -> str:
    """A time of day with its date, in the user's own zone."""
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"


def progress(run: RunSummary) -> str:
    """`20 tasks: 9 accepted, 1 gave up, 2 under way, 8 not begun`; `20 tasks x 3 arms: …` counts each arm by itself."""
    parts = [f"{count:,} {status.replace('_', ' ')}" for status, count in sorted(run.statuses.items())]
    open_tasks = run.jobs - sum(run.statuses.values())
    if open_tasks:
        parts.append(f"{open_tasks:,} {'under way' if run.state == 'running' else 'unfinished'}")
    if run.jobs_left:
        parts.append(f"{run.jobs_left:,} not begun")
    what = [counted(run.tasks + run.not_begun, "task")]
    what += [counted(number, name) for number, name in ((run.arms, "arm"), (run.seeds, "seed")) if number > 1]
    return " x ".join(what) + (f": {', '.join(parts)}" if parts else "")


def run_json(run: RunSummary) -> dict[str, object]:
    """A run as plain data."""
    return {
        "run": run.id,
        "state": run.state,
        "started": run.started,
        "ended": run.ended,
        "command": list(run.command),
        "tasks": run.tasks,
        "not_begun": run.not_begun,
        "arms": run.arms,
        "seeds": run.seeds,
        "jobs": run.jobs,
        "jobs_left": run.jobs_left,
        "statuses": dict(run.statuses),
        "trials": run.trials,
        "usage": asdict(run.usage),
        "fork": None if run.fork is None else asdict(run.fork),
        "holder": run.holder,
    }


async def burned_tasks(journal: Journal, run: str) -> frozenset[str]:
    """The tasks whose held-out checks were shown to the agent, and no fresh ones given: nothing can accept them."""
    from afterword.experiments.results import BURNED, FRESH

    balance: Counter[str] = Counter()
    for note in await journal.notes(run):
        balance[note.task] += (note.kind == BURNED) - (note.kind == FRESH)
    return frozenset(task for task, open_ones in balance.items() if open_ones > 0)


def print_json(value: object) -> None:
    """One object on a line of stdout."""
    sys.stdout.write(json.dumps(value) + "\n")

"""`afterword runs`: what a journal holds, a line for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from afterword.cli import options
from afterword.cli.looking_back import existing_journal, moment, print_json, progress, run_json
from afterword.cli.text import counted, plain, shortened, spend

if TYPE_CHECKING:
    from rich.console import Console

    from afterword.journal import RunSummary

_STYLES = {"running": "green", "interrupted": "yellow", "finished": "default"}


def runs(journal: options.JournalPlace = None, as_json: options.AsJson = False) -> int:
    """List the runs of a journal.

    State, progress and spending, the latest first.
    """
    where, found = anyio.run(_read, journal)
    if as_json:
        for run in found:
            print_json(run_json(run))
        return 0
    from rich.console import Console

    console = Console()
    console.print(f"journal {plain(where)}: {counted(len(found), 'run')}", style="dim", highlight=False, soft_wrap=True)
    for run in found:
        print_run(console, run)
    if any(run.state == "interrupted" for run in found):
        console.print("go on with one: afterword resume RUN", style="dim", highlight=False)
    return 0


async def _read(where: str | None) -> tuple[str, list[RunSummary]]:
    async with existing_journal(where) as journal:
        return journal.where, await journal.runs()


def print_run(console: Console, run: RunSummary) -> None:
    """Two lines: what it is and how far, and what it took."""
    from rich.text import Text

    head = Text(run.id, style="bold")
    head.append(f"  {run.state}", style=f"not bold {_STYLES.get(run.state, 'default')}")
    head.append(f"  {progress(run)}", style="not bold default")
    console.print(head, highlight=False, soft_wrap=True)
    facts = [moment(run.started), f"{counted(run.trials, 'trial')}", spend(run.usage)]
    if run.holder is not None:
        facts.append(run.holder)
    if run.fork is not None:
        facts.append(f"forked off {run.fork.run} at {shortened(run.fork.task, 40)}:{run.fork.trial}")
    if run.command:
        facts.append(shortened(" ".join(run.command), 100))
    console.print(Text(f"  {' · '.join(facts)}", style="dim"), highlight=False, soft_wrap=True)

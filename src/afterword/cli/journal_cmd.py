"""`afterword journal check|compact|copy`: the journal as a whole, and what moves between two of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.looking_back import existing_journal, print_json
from afterword.cli.text import counted, plain

if TYPE_CHECKING:
    from afterword.journal import Findings

app = typer.Typer(help="The journal itself.", no_args_is_help=True, rich_markup_mode=None)
_SHOWN = 20
CopiedRun = Annotated[str, typer.Argument(help="The run, or a part of its name.", metavar="RUN")]
OtherJournal = Annotated[
    str, typer.Option("--to", help="The other journal, which is made if need be.", metavar="PATH|URL")
]


@app.callback()
def journal() -> None:
    """The journal itself."""


@app.command()
def check(journal: options.JournalPlace = None, as_json: options.AsJson = False) -> int:
    """Read all of a journal and say what is wrong in it.

    The exit code is 1 if something is.
    """
    where, found = anyio.run(_check, journal)
    if as_json:
        print_json({"runs": found.runs, "effects": found.effects, "problems": list(found.problems)})
    else:
        for problem in found.problems[:_SHOWN]:
            sys.stdout.write(f"{plain(problem)}\n")
        if len(found.problems) > _SHOWN:
            sys.stdout.write(f"… {counted(len(found.problems) - _SHOWN, 'more problem')}\n")
        verdict = counted(len(found.problems), "problem") if found.problems else "no problem"
        size = f"{counted(found.runs, 'run')}, {counted(found.effects, 'effect')}"
        sys.stdout.write(f"journal {plain(where)}: {size}, {verdict}\n")
    return 1 if found.problems else 0


async def _check(where: str | None) -> tuple[str, Findings]:
    async with existing_journal(where) as journal:
        return journal.where, await journal.check()


@app.command()
def compact(journal: options.JournalPlace = None, as_json: options.AsJson = False) -> int:
    """Give back the room that a journal no longer needs.

    Nothing may be writing to it meanwhile.
    """
    from afterword.journal import compact_journal

    sizes = compact_journal(journal)
    if as_json:
        print_json({"bytes_before": sizes.before, "bytes_after": sizes.after})
    else:
        sys.stdout.write(f"{sizes.before / 1e6:,.1f} MB before, {sizes.after / 1e6:,.1f} MB now\n")
    return 0


@app.command()
def copy(
    run: CopiedRun, to: OtherJournal, journal: options.JournalPlace = None, as_json: options.AsJson = False
) -> int:
    """Copy a run into another journal.

    The copy keeps its name and can be compared, exported and resumed: parts of an experiment that ran on several
    machines come together so, and a run moves from SQLite to PostgreSQL.
    """
    from afterword.journal import copy_run

    name = copy_run(journal, run, to)
    if as_json:
        print_json({"run": name})
    else:
        sys.stdout.write(f"run {name} is copied\n")
    return 0

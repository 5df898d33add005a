"""`afterword compare RUN…`: the arms of one or several runs in a table: solved, how sure that is, and what it cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from afterword.experiments.comparison import Comparison
    from afterword.experiments.report import Gathered

Runs = Annotated[
    list[str], typer.Argument(help="Runs of the journal, each by its name or a part of it.", metavar="RUN…")
]
Baseline = Annotated[
    str | None, typer.Option(help="The arm that the others are held against. [retry, else the first]", metavar="ARM")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print a row of CSV for each arm.")]


def compare(
    runs: Runs,
    baseline: Baseline = None,
    journal: options.JournalPlace = None,
    as_json: options.AsJson = False,
    as_csv: AsCsv = False,
) -> int:
    """Compare the arms of runs.

    What each solved with an interval of 95 %, the difference from a baseline, what it cost, and how often the evaluator
    was wrong.
    """
    if as_json and as_csv:
        raise InputError("--json and --csv both print on stdout; choose one")
    gathered, comparison = compared(runs, baseline, journal)
    if as_json:
        from afterword.cli.looking_back import print_json
        from afterword.experiments.report.data import told

        print_json(told(gathered, comparison))
    elif as_csv:
        from afterword.experiments.report.data import arm_rows, write_csv

        write_csv(arm_rows(comparison), sys.stdout)
    else:
        from rich.console import Console

        print_comparison(Console(), gathered, comparison)
    return 0


def compared(runs: list[str], baseline: str | None, journal: str | None) -> tuple[Gathered, Comparison]:
    """Runs read from a journal and compared.

    Raises:
        InputError: there is no such run or arm, or no finished task.
        MissingExtra: scipy is not installed.
    """
    from afterword.experiments.comparison import compare as compare_results
    from afterword.experiments.report import name_of

    gathered = anyio.run(_gather, runs, journal)
    return gathered, compare_results(gathered.results, baseline=None if baseline is None else name_of(baseline))


async def _gather(runs: list[str], journal: str | None) -> Gathered:
    from afterword.cli.looking_back import existing_journal
    from afterword.experiments.report import gather

    async with existing_journal(journal) as opened:
        return await gather(opened, runs)


def print_comparison(console: Console, gathered: Gathered, comparison: Comparison) -> None:
    """The verdict, a row for each arm, and what the numbers cannot say."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from afterword.cli.text import plain
    from afterword.experiments.report import name_of
    from afterword.experiments.report.arm_table import arm_table
    from afterword.experiments.report.verdict import evaluator_verdict, verdict

    def say(text: str, style: str = "") -> None:
        console.print(Text(plain(text), style=style))

    for notice in gathered.caveats:
        say(notice, "yellow")
    say(verdict(comparison), "bold")
    say(evaluator_verdict(comparison))
    table = arm_table(comparison)
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, head in enumerate(table.heads):
        head = head if len(head) <= _NAME else f"against {name_of(head.removeprefix('against '), _NAME - 8)}"
        shown.add_column(Text(plain(head)), justify="right" if place else "left", no_wrap=not place)
    for row in table.rows:
        cells = []
        for place, cell in enumerate(row):
            main = cell.main if place else name_of(cell.main, _NAME)
            text = Text(plain(main), style="bold" if place == 0 else _STYLES.get(cell.mood, ""))
            for detail in cell.detail.split(", ") if "a task" not in cell.detail else ():  # too wide for 80 columns
                text.append(f"\n{plain(detail)}" if detail else "", style="not bold dim")
            cells.append(text)
        shown.add_row(*cells)
    console.print(shown)
    say(table.key, "dim")
    for caveat in comparison.caveats:
        say(f"· {caveat}", "dim")


_NAME = 18
"""Characters of an arm's name that leave room for its figures in 80 columns."""
_STYLES = {"better": "bold green", "worse": "bold red"}

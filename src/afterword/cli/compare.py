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
    from rich.table import Table

    from afterword.experiments.comparison import Comparison
    from afterword.experiments.report import Gathered
    from afterword.experiments.report.arm_table import ArmTable, Cell

Runs = Annotated[
    list[str], typer.Argument(help="Runs of the journal, each by its name or a part of it.", metavar="RUN")
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
    from afterword.experiments.report import baseline_of

    gathered = anyio.run(_gather, runs, journal)
    return gathered, compare_results(gathered.results, baseline=baseline_of(gathered, baseline))


async def _gather(runs: list[str], journal: str | None) -> Gathered:
    from afterword.cli.looking_back import existing_journal
    from afterword.cli.starting import JournalChoice
    from afterword.experiments.report import gather

    async with existing_journal(journal) as opened:
        return await gather(opened, runs, option=JournalChoice(journal).option)


def print_comparison(console: Console, gathered: Gathered, comparison: Comparison) -> None:
    """The verdict, a row for each arm, and what the numbers cannot say."""
    from rich.text import Text

    from afterword.cli.text import plain
    from afterword.experiments.report.arm_table import arm_table
    from afterword.experiments.report.verdict import evaluator_verdict, verdict

    def say(text: str, style: str = "") -> None:
        console.print(Text(plain(text), style=style))

    for notice in gathered.caveats:
        say(notice, "yellow")
    say(verdict(comparison), "bold")
    say(evaluator_verdict(comparison))
    table = arm_table(comparison)
    shown = _table(table, console.width)
    if shown is not None:
        console.print("", shown, "", sep="\n")
    else:  # a figure that is cut would be another figure
        for row in table.rows:
            say(str(row[0]), "bold")
            for head, cell in zip(table.heads[1:], row[1:], strict=True):
                say(f"  {head}: {cell}", _STYLES.get(cell.mood, ""))
    say(table.key, "dim")
    for caveat in comparison.caveats:
        say(f"· {caveat}", "dim")


def _table(table: ArmTable, width: int) -> Table | None:
    """The table as wide as its figures are, names folded to what is left for them; None where that is too little."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    from afterword.cli.text import plain
    from afterword.experiments.report import name_of

    def head_of(text: str) -> list[str]:
        base = text.removeprefix("against ")
        return text.split() if base == text else ["against", name_of(base, _BASE)]

    columns: list[list[str]] = [head_of(head) for head in table.heads]
    for row in table.rows:
        for column, cell in zip(columns, row, strict=True):
            column += [plain(line) for line in (cell.main, *_details(cell))]
    names, *figures = (max(map(cell_len, column)) for column in columns)
    left = width - sum(figures) - len(figures)
    wide = left - len(figures) >= min(names, _NAME)
    left -= len(figures) if wide else 0
    if left < min(names, _LEAST_NAME):
        return None
    shown = Table(box=SIMPLE_HEAD, padding=(0, int(wide), 0, 0), pad_edge=False, show_edge=False)
    for place, head in enumerate(table.heads):
        text = Text(plain("\n".join(head_of(head))))
        shown.add_column(text, justify="right" if place else "left", width=None if place else min(left, names))
    for row in table.rows:
        cells = []
        for place, cell in enumerate(row):
            text = Text(plain(cell.main), style=_STYLES.get(cell.mood, "") if place else "bold", overflow="fold")
            for detail in _details(cell):
                text.append(f"\n{plain(detail)}", style="not bold dim")
            cells.append(text)
        shown.add_row(*cells)
    return shown


def _details(cell: Cell) -> list[str]:
    """What qualifies a figure, a line each; what it is a task is too wide for 80 columns."""
    if not cell.detail or "a task" in cell.detail:
        return []
    return [detail.removesuffix(" %") for detail in cell.detail.split(", ")]


_NAME, _LEAST_NAME, _BASE = 14, 9, 10
"""Characters of a line of an arm's name that are wished for and needed, and of the baseline's in its head."""
_STYLES = {"better": "bold green", "worse": "bold red"}

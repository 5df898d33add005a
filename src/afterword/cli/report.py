"""`afterword report RUN… --out DIR`: a page that says which arm won, at what price and how sure that is.

Beside it stand a summary for a pull request, the plots as pictures, and the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from afterword.cli import options
from afterword.cli.compare import Baseline, Runs, compared


def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The folder to write; it is made if need be.", metavar="DIR")],
    baseline: Baseline = None,
    journal: options.JournalPlace = None,
    as_json: options.AsJson = False,
) -> int:
    """Write a report on runs.

    One HTML page that holds all it needs, a Markdown summary, the plots as PNG, and the numbers as JSON and CSV.
    """
    from rich.console import Console
    from rich.text import Text

    from afterword.cli.looking_back import print_json
    from afterword.cli.text import plain
    from afterword.experiments.report.files import write_report
    from afterword.experiments.report.verdict import verdict

    gathered, comparison = compared(runs, baseline, journal)
    files = write_report(gathered, comparison, out)
    if as_json:
        print_json({"verdict": verdict(comparison), "files": [str(file) for file in files]})
        return 0
    console = Console()
    for notice in gathered.caveats:
        console.print(Text(plain(notice), style="yellow"))
    console.print(Text(plain(verdict(comparison)), style="bold"))
    console.print(Text(plain(f"report: {files[0]} and {len(files) - 1} files beside it")), soft_wrap=True)
    return 0

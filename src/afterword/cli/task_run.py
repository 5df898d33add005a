"""One task, worked on under the eyes of a person: its header, what happens in each trial, and the program in the end.

Apart from the command, so that `demo` runs a task exactly as `run` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from afterword.cli.bench import Benches
from afterword.cli.display import Display, print_wrapped
from afterword.cli.families import Item, Settings
from afterword.cli.roles import Roles, roles_of
from afterword.cli.text import counted, plain
from afterword.core.faults import first_of_group
from afterword.core.records import Outcome, Trial
from afterword.experiments.shared import open_shared
from afterword.models import open_models

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest


@dataclass(frozen=True, slots=True)
class Watched:
    """How one task is run and shown."""

    settings: Settings
    console: Console
    record: Path | None = None
    show_output: bool = True
    """Whether the best output is printed in the end."""
    written: Callable[[Sequence[OwnTest]], None] | None = None
    """Gets the tests that a model wrote."""


async def run_task(item: Item, how: Watched) -> Outcome:
    """Runs the loop on a task, telling on the console what happens.

    Raises:
        InputError: an option or a file is wrong; nothing was spent yet, unless a script or a recording ended early.
        Fault: a model cannot be reached at all, or no sandbox works.
    """
    try:
        return await _run(item, how)
    except BaseExceptionGroup as group:
        raise first_of_group(group) from None


async def _run(item: Item, how: Watched) -> Outcome:
    settings, console = how.settings, how.console
    display = Display(console)
    roles = roles_of(settings.models, settings.strategy, display.retried)
    async with AsyncExitStack() as stack:
        display.preparing(roles.actor.name)
        stack.callback(display.rest)
        models = await stack.enter_async_context(open_models(record=how.record))
        shared = await stack.enter_async_context(open_shared())
        benches = Benches(settings, roles, models, shared, verdicts=1)
        bench = benches.of_item(item.task.id, display, how.written or (lambda _tests: None))
        loop = await stack.enter_async_context(item.loop(bench))
        display.rest()
        # Only now: what is refused leaves its one line alone.
        _say_what_runs(console, item, roles, settings, benches.warnings)
        try:
            outcome = await loop.run(item.task, seed=settings.seed, events=display)
        except anyio.get_cancelled_exc_class():
            display.interrupted(how.record)  # what was paid for is told before the run is given up
            raise
    if how.show_output and outcome.best is not None:
        show_output(console, outcome.best, item.language)
    return outcome


def show_output(console: Console, best: Trial, language: str) -> None:
    """Prints the best output, saying when it is a failing one."""
    text = plain(best.trajectory.output).rstrip("\n")
    if not text.strip():
        return
    what = "the program" if language else "the output"
    label = f"{what} of trial {best.number}" + ("" if best.feedback.passed else ", which is failing")
    console.print()
    print_wrapped(console, Text(label, style="bold" if best.feedback.passed else "bold red"))
    if console.is_terminal and language:
        coloured = Syntax(text, language, background_color="default").highlight(text)
        coloured.rstrip()
        console.print(coloured, soft_wrap=True)
    else:
        console.print(Text(text), soft_wrap=True)


def _say_what_runs(console: Console, item: Item, roles: Roles, settings: Settings, warnings: Sequence[str]) -> None:
    """The first lines: which model, which task, how it is judged."""
    console.print(Text(plain(told_models(roles, settings))), highlight=False, soft_wrap=True)
    limit = f"{settings.strategy}, at most {counted(settings.max_trials, 'trial')}"
    print_wrapped(console, Text(plain(f"task  {item.task.id}: {item.told}; {limit}")), hang=6)
    for warning in warnings:
        print_wrapped(console, Text(f"warning: {warning}", style="yellow"), hang=2)


def told_models(roles: Roles, settings: Settings) -> str:
    """Which models work, in one line."""
    reflector = f", lessons by {roles.reflector.name}" if roles.reflector.name != roles.actor.name else ""
    said = "" if settings.models.model else "  (the default; choose with --model or AFTERWORD_MODEL)"
    return f"model {roles.actor.name}{reflector}{said}"

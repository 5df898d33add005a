"""What `run`, `resume`, `fork` and `continue` have in common once they know what to start from: a session, conducted.

The screen depends on the tasks: one is watched closely, many are told in a line each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import anyio
from rich.console import Console

from afterword.cli.compact import CompactScreen
from afterword.cli.results import Results
from afterword.cli.session import Screen, Start, work
from afterword.cli.watched import WatchedScreen
from afterword.core.faults import first_of_group
from afterword.errors import InputError


class LeavableConsole(Console):
    """A console whose reader may leave: the run is given up then, and can be resumed.

    Rich would end the process from inside the event loop, and with a code that means "rejected" here.
    """

    gone: Callable[[], None] | None = None
    """Told when the reader has left."""

    def on_broken_pipe(self) -> None:
        """Says no more, and gives the run up."""
        self.quiet = True
        if self.gone is not None:
            self.gone()


def conduct(starting: AbstractAsyncContextManager[Start], results: Results) -> None:
    """Works on the tasks of a start until all have an outcome; `results` gets them.

    Raises:
        InputError: an option, a source or a file is wrong.
        JournalFault: what happens can no longer be kept.
    """
    try:
        anyio.run(_conduct, starting, results)
    except BaseExceptionGroup as group:
        raise first_of_group(group) from None


async def _conduct(starting: AbstractAsyncContextManager[Start], results: Results) -> None:
    async with starting as start:
        compares = start.plan.is_experiment and not start.is_fork
        many = start.jobs > 1 or compares
        if many and results.out is not None:
            raise InputError("--out is for one task; several are read with --json, or later with: afterword export")
        if start.plan.is_experiment and start.items.asks:
            raise InputError("a person judges one of the tasks, and an experiment asks none; leave that task out")
        asking = start.plan.settings.ask or start.items.asks
        if many and asking and start.plan.at_once > 1:
            raise InputError("a person is asked about one task after the other: add --jobs 1")
        console = LeavableConsole(stderr=results.as_json)
        results.kept = start.kept
        results.compares = compares
        results.burned = frozenset(task for task, how in start.departures.items() if how.burned)
        results.fresh = frozenset(task for task, how in start.departures.items() if how.fresh and not how.burned)
        if start.plan.pilot is not None:
            await _conduct_pilot(start, console, results)
            return
        screen: Screen = CompactScreen(console, results, start.plan)
        if not many or asking:
            screen = WatchedScreen(console, results, show_output=not results.as_json and results.out is None)
        with anyio.CancelScope() as scope:
            console.gone = scope.cancel
            await work(start, screen)
        if scope.cancel_called:
            raise BrokenPipeError


async def _conduct_pilot(start: Start, console: LeavableConsole, results: Results) -> None:
    from afterword.cli.pilot_screen import PilotScreen

    screen = PilotScreen(console, start.plan, [item.task.id for item in start.items], as_json=results.as_json)
    with anyio.CancelScope() as scope:
        console.gone = scope.cancel
        await work(start, screen, screen)
    if scope.cancel_called:
        raise BrokenPipeError
    results.answered = screen.code

"""`WatchedScreen`: one task after the other under the eyes of a person, each trial as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from afterword.cli.display import Display, print_wrapped
from afterword.cli.families import Item, Settings
from afterword.cli.results import Results
from afterword.cli.roles import Roles
from afterword.cli.session import Ending, Opening
from afterword.cli.text import counted, plain, spend
from afterword.core.protocols import EventSink
from afterword.core.records import FaultRecord, Outcome, StopReason, Trial
from afterword.experiments.scheduler import Job
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest


class WatchedScreen:
    """Prints all that happens in a task; meant for one at a time."""

    def __init__(self, console: Console, results: Results, *, show_output: bool = True) -> None:
        self._console = console
        self._results = results
        self._show_output = show_output
        self._display = Display(console)
        self._opened: set[str] = set()
        self._language = ""

    def preparing(self, model: str) -> None:
        """Shows that the jail and the model are being started."""
        self._display.preparing(model)

    def retried(self, notice: RetryNotice) -> None:
        """Says that a model call is tried again."""
        self._display.retried(notice)

    def opened(self, item: Item, opening: Opening) -> None:
        """The first lines: which model, which task, how it is judged. Only now: a refusal leaves its one line alone."""
        self._display.rest()
        self._language = item.language
        if item.task.id in self._opened:
            return  # its trial is taken anew
        if not self._opened:
            self._console.print(
                Text(plain(told_models(opening.roles, opening.settings))), highlight=False, soft_wrap=True
            )
            if opening.run:
                print_wrapped(self._console, Text(plain(f"run   {opening.run}")), hang=6)
        self._opened.add(item.task.id)
        limit = f"{opening.settings.strategy}, at most {counted(opening.settings.max_trials, 'trial')}"
        print_wrapped(self._console, Text(plain(f"task  {item.task.id}: {item.told}; {limit}")), hang=6)
        if len(self._opened) == 1:
            for warning in opening.warnings:
                print_wrapped(self._console, Text(f"warning: {warning}", style="yellow"), hang=2)

    def begun(self, job: Job) -> EventSink:  # noqa: ARG002
        """All that happens is shown."""
        return self._display

    def begun_again(self, job: Job, fault: FaultRecord) -> None:  # noqa: ARG002
        """Says that a trial is taken anew."""
        self._display.rest()
        text = f"trial {fault.trial} starts again: the world answered otherwise than it was recorded"
        print_wrapped(self._console, Text(text, style="yellow"), hang=2)

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:
        """The best output; an outcome of an earlier session is told again."""
        self._display.rest()
        if earlier:
            print_wrapped(self._console, Text(plain(f"task  {job.task.id}: it has its outcome already")), hang=6)
            self._display.outcome(outcome)
        if job.task.id in self._results.burned and outcome.status == "unverified":
            text = (
                "its held-out checks were revealed and are burned: give fresh ones to have it accepted "
                "(afterword continue RUN TASK --held-out FILE)"
            )
            print_wrapped(self._console, Text(text, style="yellow"), "  ", hang=2)
        if self._show_output and outcome.best is not None:
            show_output(self._console, outcome.best, self._language)
        self._results.add(outcome)

    def left(self, job: Job, reason: StopReason) -> None:
        """Says that a task is not begun."""
        print_wrapped(self._console, Text(plain(f"task  {job.task.id}: not begun"), style="yellow"), hang=6)
        self._results.left(job.task.id, reason)

    def own_tests(self, task_id: str, tests: Sequence[OwnTest]) -> None:
        """Keeps the tests that a model wrote."""
        self._results.own_tests(task_id, tests)

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """Shows the tests that a model wrote."""
        self._display.tests_written(tests)

    def draft(self, text: str) -> None:
        """Shows a drafted lesson to the person who is asked about it."""
        self._display.draft(text)

    def program(self, text: str) -> None:
        """Shows a program to the person who is asked what its judge said."""
        self._display.program(text)

    def interrupted(self, ending: Ending) -> None:
        """Says what a run that is given up has spent, and how to go on with it."""
        self._display.rest()
        tell_ending(self._console, f"given up after {spend(ending.spent)}", ending)

    def over(self, ending: Ending) -> None:
        """Says how to go on where something is left."""
        self._display.rest()
        if ending.resume or ending.lasting:
            tell_ending(self._console, ending.why or "not concluded", ending)


def tell_ending(console: Console, what: str, ending: Ending) -> None:
    """One line: what happened, where the calls are kept, how to go on."""
    kept = f"; the calls are kept in {ending.record}" if ending.record is not None else ""
    resume = f"; go on with: {ending.resume}" if ending.resume else ""
    console.print(Text(plain(f"{what}{kept}{resume}"), style="yellow"), highlight=False, soft_wrap=True)


def told_models(roles: Roles, settings: Settings) -> str:
    """Which models work, in one line."""
    reflector = f", lessons by {roles.reflector.name}" if roles.reflector.name != roles.actor.name else ""
    said = "" if settings.models.model else "  (the default; choose with --model or AFTERWORD_MODEL)"
    rules = f", rules of {settings.rules}" if settings.rules is not None else ""
    return f"model {roles.actor.name}{reflector}{rules}{said}"


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

"""`CompactScreen`: many tasks at once, a line for each that is done, and where the run stands.

On a terminal the last line is live; elsewhere there are plain lines only.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from afterword.cli.display import print_wrapped
from afterword.cli.families import Item
from afterword.cli.live_line import LiveLine
from afterword.cli.plan import Plan
from afterword.cli.results import NOT_BEGUN, Results
from afterword.cli.session import Ending, Opening
from afterword.cli.text import counted, money, plain, shortened, spend
from afterword.cli.watched import tell_ending, told_models
from afterword.core import events
from afterword.core.protocols import EventSink
from afterword.core.records import FaultRecord, Outcome, StopReason, Usage
from afterword.experiments.scheduler import Job
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

_ORDER = ("accepted", "unverified", "rejected", "gave_up", "faulted", NOT_BEGUN)
_MARKS = {"accepted": ("✓", "green"), "unverified": ("✓", "yellow"), "faulted": ("?", "red")}
_MOST_NAMED = 3


class CompactScreen:
    """Counts, and prints one line for each task that is done."""

    def __init__(self, console: Console, results: Results, plan: Plan | None = None) -> None:
        self._console = console
        self._results = results
        self._plan = plan if plan is not None and plan.is_experiment else None
        self._live = LiveLine(console)
        self._tasks = 0
        self._done = 0
        self._retries = 0
        self._spent = Usage()
        self._at_work: dict[str, str] = {}
        self._opened = False
        self._started = time.monotonic()

    def preparing(self, model: str) -> None:
        """Shows that the jail and the model are being started."""
        self._live.show(f"starting {shortened(model, 60)}")

    def retried(self, notice: RetryNotice) -> None:
        """Counts calls that are tried again; with many at a time each would hide the rest."""
        self._retries += 1
        self._refresh(f"{shortened(notice.model, 40)}: {notice.reason}")

    def opened(self, item: Item, opening: Opening) -> None:  # noqa: ARG002
        """The first lines: which models, how many tasks."""
        if self._opened:
            return
        self._opened = True
        self._tasks = opening.tasks
        self._live.rest()
        if self._plan is not None:
            self._opened_experiment(self._plan, opening)
            return
        self._console.print(Text(plain(told_models(opening.roles, opening.settings))), highlight=False, soft_wrap=True)
        if opening.run:
            print_wrapped(self._console, Text(plain(f"run   {opening.run}")), hang=6)
        settings = opening.settings
        limit = f"{settings.strategy}, at most {counted(settings.max_trials, 'trial')} each"
        line = f"tasks {opening.tasks:,}, {opening.at_once} at a time; {limit}"
        print_wrapped(self._console, Text(plain(line)), hang=6)
        self._warn(opening)

    def _opened_experiment(self, plan: Plan, opening: Opening) -> None:
        if opening.run:
            print_wrapped(self._console, Text(plain(f"run   {opening.run}")), hang=6)
        arms = ", ".join(arm.name for arm in plan.arms)
        print_wrapped(self._console, Text(plain(f"arms  {arms}; {plan.at_once} of them at a time")), hang=6)
        self._warn(opening)

    def _warn(self, opening: Opening) -> None:
        for warning in opening.warnings:
            print_wrapped(self._console, Text(f"warning: {warning}", style="yellow"), hang=2)

    def begun(self, job: Job) -> EventSink:
        """What happens in a job is counted."""
        self._at_work[self._name(job)] = "starting"
        return _Heard(self._name(job), self)

    def heard(self, name: str, event: events.Event) -> None:
        """Notes where a job stands and what was spent."""
        match event:
            case events.TrialStarted():
                self._at_work[name] = f"trial {event.trial}"
            case events.ModelCalled():
                self._spent = self._spent + event.usage
            case events.Stopped():
                self._at_work[name] = "held-out check"
            case _:
                return
        self._refresh()

    def _name(self, job: Job) -> str:
        if self._plan is None:
            return job.task.id
        seed = f" seed {job.seed}" if len(self._plan.seeds) > 1 else ""
        return f"{shortened(job.task.id, 40)}  {shortened(job.arm, 30)}{seed}"

    def begun_again(self, job: Job, fault: FaultRecord) -> None:
        """Says that a trial is taken anew."""
        self._print(
            Text(
                f"{plain(job.task.id)}: trial {fault.trial} starts again, its world answered otherwise", style="yellow"
            )
        )

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:
        """A line for the task."""
        name = self._name(job)
        self._at_work.pop(name, None)
        self._done += 1
        if not earlier or outcome.status != "accepted":
            self._print(_line(name, outcome, earlier=earlier, burned=job.task.id in self._results.burned))
        self._results.add(outcome, None if self._plan is None else job)
        self._refresh()

    def left(self, job: Job, reason: StopReason) -> None:
        """Counts a task that is not begun."""
        self._results.left(job.task.id, reason, None if self._plan is None else job)

    def own_tests(self, task_id: str, tests: Sequence[OwnTest]) -> None:
        """Keeps the tests that a model wrote."""
        self._results.own_tests(task_id, tests)

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """They are not shown."""

    def draft(self, text: str) -> None:
        """Nobody is asked where several tasks are worked on at a time."""

    def program(self, text: str) -> None:
        """Nobody is asked where several tasks are worked on at a time."""

    def interrupted(self, ending: Ending) -> None:
        """Says what a run that is given up has done and spent, and how to go on with it."""
        self._live.rest()
        tell_ending(
            self._console, f"given up after {self._done} of {self._tasks} {self._noun}, {spend(ending.spent)}", ending
        )

    def over(self, ending: Ending) -> None:
        """The last lines: how many came to what, what it cost, and how to go on where something is left."""
        self._live.rest()
        counts = ", ".join(f"{self._results.statuses[name]} {name}" for name in _ORDER if self._results.statuses[name])
        retries = f", {counted(self._retries, 'call')} tried again" if self._retries else ""
        took = f"{time.monotonic() - self._started:.0f} s"
        self._print(Text(f"{counts}  ·  {spend(ending.spent)}, {took}{retries}".replace("_", " "), style="bold"))
        if ending.resume or ending.lasting:
            tell_ending(self._console, ending.why or "some have no verdict", ending)

    @property
    def _noun(self) -> str:
        return "tasks" if self._plan is None else "tasks x arms x seeds"

    def _print(self, line: Text) -> None:
        print_wrapped(self._console, line, hang=2)

    def _refresh(self, note: str = "") -> None:
        minutes = max(time.monotonic() - self._started, 1.0) / 60
        named = list(self._at_work.items())
        at_work = ", ".join(f"{shortened(task, 24)} ({where})" for task, where in named[:_MOST_NAMED])
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        counts = " · ".join(f"{self._results.statuses[name]} {name}" for name in _ORDER if self._results.statuses[name])
        parts = [
            f"{self._done}/{self._tasks} done",
            counts.replace("_", " "),
            money(self._spent.cost_usd) if self._plan is None else "",  # what arms share would count for each of them
            f"{self._done / minutes:.0f} a minute",
            note,
            f"{at_work}{more}",
        ]
        self._live.show("  ·  ".join(part for part in parts if part))


class _Heard:
    """What happens in one job."""

    def __init__(self, name: str, screen: CompactScreen) -> None:
        self._name = name
        self._screen = screen

    def emit(self, event: events.Event) -> None:
        """Hands an event on with the name of the job."""
        self._screen.heard(self._name, event)


def _line(name: str, outcome: Outcome, *, earlier: bool, burned: bool) -> Text:
    """`✓ accepted    double  2 trials  3 calls, 120 + 30 tokens, $0`."""
    mark, style = _MARKS.get(outcome.status, ("✗", "red"))
    line = Text(f"{mark} {outcome.status.replace('_', ' '):<10}", style=style)
    line.append(f"  {shortened(name, 90)}", style="default")
    facts = [counted(len(outcome.trials), "trial")]
    if outcome.fault is not None:
        facts.append(f"{outcome.fault.kind}: {shortened(outcome.fault.message, 160)}")
    elif outcome.stop_reason not in (None, StopReason.PASSED, StopReason.MAX_TRIALS):
        facts.append(str(outcome.stop_reason).replace("_", " "))
    if burned:
        facts.append("its held-out checks are burned")
    facts.append("in an earlier session" if earlier else spend(outcome.total_usage))
    line.append("  " + " · ".join(facts), style="dim")
    return line

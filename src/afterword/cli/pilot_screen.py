"""`PilotScreen`: a pilot as a person watches it, and the referee that ends it when its answer is clear.

Tasks count in the order in which they were drawn, whichever is done first: otherwise those that are quick to solve
would count more.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from afterword.cli.display import print_wrapped
from afterword.cli.families import Item
from afterword.cli.live_line import LiveLine
from afterword.cli.pilot_result import HANG, pilot_json, pilot_text
from afterword.cli.plan import PilotPlan, Plan
from afterword.cli.session import Ending, Opening
from afterword.cli.text import counted, money, plain, shortened
from afterword.cli.watched import tell_ending, told_models
from afterword.core import events
from afterword.core.protocols import EventSink
from afterword.core.records import FaultRecord, Outcome, StopReason
from afterword.experiments.pilot import ARMS, Answer, Rules, Standing, TaskSeen, answer_of, is_clear, task_seen
from afterword.experiments.pilot import counted as counted_tasks
from afterword.experiments.pilot import standing as standing_of
from afterword.experiments.pilot.sentences import points
from afterword.experiments.results import Result
from afterword.experiments.scheduler import Job
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

MOST_FAULTS = 3
"""So many tasks with a fault one after the other, and no more money is spent on finding out why."""


def rules_of(plan: PilotPlan) -> Rules:
    """What is clear when, as it was stated."""
    return Rules(
        alpha=plan.alpha,
        margin=plan.margin,
        false_positives=plan.false_positives,
        exam_named=plan.exam_named,
        exam_bugs=plan.exam_bugs,
    )


class PilotScreen:
    """Counts tasks, says where the pilot stands, and gives the answer in the end."""

    def __init__(self, console: Console, plan: Plan, tasks: Sequence[str], *, as_json: bool) -> None:
        if plan.pilot is None:
            raise TypeError("a pilot's screen needs a pilot's plan")
        self.code = 0
        """The exit code."""
        self._console = console
        self._plan = plan
        self._rules = rules_of(plan.pilot)
        self._order = list(tasks)
        self._as_json = as_json
        self._seen: list[TaskSeen] = []
        self._outcomes: dict[str, dict[str, Outcome]] = {}
        self._cut_short: set[tuple[str, str]] = set()
        self._clear = False
        self._fault: FaultRecord | None = None
        self._faults_in_a_row = 0
        self._live = LiveLine(console)
        self._at = "nothing known yet"
        self._opened = False

    def stopped(self) -> StopReason | None:
        """Whether the answer is clear, or nothing but faults came of the last tasks."""
        return StopReason.CANCELLED if self._clear or self._faults_in_a_row >= MOST_FAULTS else None

    def cut_short(self, job: Job) -> None:
        """What the budget of the pilot has ended says nothing of the arm."""
        self._cut_short.add((job.task.id, job.arm))

    def preparing(self, model: str) -> None:
        """Shows that the jail and the model are being started."""
        self._live.show(f"starting {shortened(model, 60)}")

    def retried(self, notice: RetryNotice) -> None:
        """Shows that a call is tried again."""
        self._live.show(f"{shortened(notice.model, 40)}: {notice.reason}")

    def opened(self, item: Item, opening: Opening) -> None:  # noqa: ARG002
        """The first lines: which model, and what each arm may spend on a task."""
        if self._opened:
            return
        self._opened = True
        self._live.rest()
        self._print(Text(plain(told_models(opening.roles, opening.settings))))
        if opening.run:
            self._print(Text(plain(f"run   {opening.run}")))
        self._print(Text(f"pilot of up to {counted(len(self._order), 'task')}, drawn at random; {self._allowance()}"))
        for warning in opening.warnings:
            self._print(Text(f"warning: {warning}", style="yellow"))

    def _allowance(self) -> str:
        allowed = self._plan.settings.allowance
        parts = [
            *([counted(allowed.calls, "call")] if allowed.calls is not None else []),
            *([counted(allowed.tokens, "token")] if allowed.tokens is not None else []),
            *([money(allowed.cost_usd)] if allowed.cost_usd is not None else []),
        ]
        return f"retry and reflexion may each take {' and '.join(parts)} a task"

    def begun(self, job: Job) -> EventSink:  # noqa: ARG002
        """What happens in a job is counted."""
        return self

    def emit(self, event: events.Event) -> None:
        """Notes where a task stands."""
        if isinstance(event, events.TrialStarted):
            self._live.show(
                f"task {len(self._seen) + 1}: {shortened(event.task, 30)}, trial {event.trial}  ·  {self._at}"
            )

    def begun_again(self, job: Job, fault: FaultRecord) -> None:
        """Says that a trial is taken anew."""
        text = f"{plain(job.task.id)}: trial {fault.trial} starts again, its world answered otherwise"
        self._print(Text(text, style="yellow"))

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:  # noqa: ARG002
        """Counts a task once it has come to an end in all arms, and those before it have."""
        if outcome.fault is not None:
            self._fault = outcome.fault
        self._outcomes.setdefault(job.task.id, {})[job.arm] = outcome
        while len(self._seen) < len(self._order) and self._count(self._order[len(self._seen)]):
            pass

    def _count(self, task: str) -> bool:
        arms = self._outcomes.get(task, {})
        if len(arms) < len(ARMS) or any((task, arm) in self._cut_short for arm in ARMS):
            return False
        if self._clear:
            return False  # it was under way when the answer became clear
        seen = task_seen(*(arms[arm] for arm in ARMS))
        del self._outcomes[task]
        self._seen.append(seen)
        self._faults_in_a_row = self._faults_in_a_row + 1 if seen.faulted else 0
        counts = counted_tasks(self._seen)
        self._clear = is_clear(counts, self._rules)
        if self._console.is_terminal:
            self._at = _told(standing_of(self._seen, self._rules))
        marks = "  ".join(f"{arm} {_mark(result)}" for arm, result in zip(ARMS, seen.arms, strict=True))
        answer = answer_of(counts, self._rules)
        told = "" if answer is Answer.MORE else f"  ·  {answer}"
        self._print(Text(f"{len(self._seen):>3}  {shortened(task, 30):<30}  {marks}{told}"))
        return True

    def left(self, job: Job, reason: StopReason) -> None:
        """A task that is not begun does not count."""

    def own_tests(self, task_id: str, tests: Sequence[OwnTest]) -> None:
        """They are not shown."""

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """They are not shown."""

    def draft(self, text: str) -> None:
        """Nobody is asked in a pilot."""

    def program(self, text: str) -> None:
        """Nobody is asked in a pilot."""

    def interrupted(self, ending: Ending) -> None:
        """Says how to go on with a pilot that is given up."""
        self._live.rest()
        tell_ending(self._console, f"given up after {counted(len(self._seen), 'task')}", ending)

    def over(self, ending: Ending) -> None:
        """The answer."""
        self._live.rest()
        seen = standing_of(self._seen, self._rules)
        why = self._why(ending)
        self.code = self._code(seen, why)
        if self._as_json:
            told = pilot_json(seen, self._seen, ending.spent, ended=why, drawn=len(self._order))
            sys.stdout.write(json.dumps(told) + "\n")
        for line in pilot_text(seen, self._seen, ending.spent):
            print_wrapped(self._console, line, hang=HANG if line.plain[HANG - 2 : HANG] == "  " else 0)
        if why in ("faults", "budget") and seen.answer is Answer.MORE:
            said = ending.lasting or f"the {ending.exhausted} budget of the pilot is used up"
            if not ending.lasting and why == "faults" and self._fault is not None:
                said = f"{MOST_FAULTS} tasks in a row faulted: {shortened(self._fault.message, 160)}"
            tell_ending(self._console, said, ending)

    def _why(self, ending: Ending) -> str:
        if self._clear:
            return "clear"
        if ending.lasting or self._faults_in_a_row >= MOST_FAULTS:
            return "faults"
        return "budget" if ending.exhausted else "tasks"

    def _code(self, seen: Standing, why: str) -> int:
        """0 with an answer, 1 without one, 3 if that is since nothing could be concluded of any task."""
        if seen.answer is not Answer.MORE:
            return 0
        return 3 if (seen.faults or seen.unattempted) and (not seen.tasks or why == "faults") else 1

    def _print(self, line: Text) -> None:
        print_wrapped(self._console, line, hang=2)


def _told(seen: Standing) -> str:
    """Where a pilot stands, in half a line."""
    if not seen.tasks:
        return "nothing known yet"
    more = f", about {seen.more:,} more" if seen.answer is Answer.MORE and seen.more is not None else ""
    return f"{seen.answer}{more}  ·  reflexion against retry {points(seen.difference)}"


def _mark(result: Result) -> str:
    """As in other commands; what the evaluator passed and the held-out check did not is no success."""
    if result.faulted or not result.trials:
        return "?"
    return "✓" if result.solved else "✗"

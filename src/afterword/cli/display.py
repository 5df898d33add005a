"""What a person sees while a task runs: a listener on the event stream that prints a line per happening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from afterword.cli.live_line import LiveLine
from afterword.cli.text import counted, findings, lessons_of, plain, score, shortened, spend
from afterword.core import events
from afterword.core.records import Acceptance, Feedback, Leak, Outcome, Reflection, StopReason, Trial, Usage
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

MEANINGS = {
    "accepted": "the evaluator passed and so did the held-out check",
    "rejected": "the evaluator passed and the held-out check did not: a false positive, caught",
    "unverified": "the evaluator passed; no held-out check has confirmed it",
    "gave_up": "no trial passed; the best one is shown and it is failing",
    "faulted": "something other than the agent failed; nothing is concluded about the task",
}

NOTHING_TRIED = "it ended before a first trial was judged"

STOPS = {
    StopReason.PASSED: "passed",
    StopReason.MAX_TRIALS: "all trials are used",
    StopReason.CALLS: "the call budget is used up",
    StopReason.COST: "the cost budget is used up",
    StopReason.TOKENS: "the token budget is used up",
    StopReason.TIME: "the time is up",
    StopReason.PLATEAU: "the score no longer rises",
    StopReason.REPEATED_REFLECTION: "the lesson repeats an earlier one",
    StopReason.REPEATED_OUTPUT: "the output repeats an earlier one",
    StopReason.CANCELLED: "cancelled",
}

_COLOURS = {"accepted": "green", "unverified": "yellow"}


class Display:
    """Prints the run as it goes; a spinner shows who is at work where there is a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = LiveLine(console)
        self._draft: str | None = None
        self._spent = Usage()

    def emit(self, event: events.Event) -> None:
        """Prints an event."""
        match event:
            case events.TrialStarted():
                self._trial_started(event)
            case events.ModelCalled():
                self._spent = event.spent
                self._live.show(f"{event.role} answered, {spend(event.spent)} so far")
            case events.Evaluated():
                self._evaluated(event.feedback)
            case events.Reflected():
                self._reflected(event.reflection)
            case events.Retired():
                self._line(f"no longer shown: {lessons_of(event.lessons)} (the score fell after it)", "  ", style="dim")
            case events.Stopped():
                self.rest()
                if event.reason is not StopReason.PASSED:
                    self._line(f"stopped: {STOPS[event.reason]}", "  ", style="dim")
                self._live.show("held-out check")
            case events.AcceptanceReached():
                self._accepted(event.acceptance)
            case events.Leaked():
                self.rest()
                self._leaked(event.leaks)
            case events.RunEnded():
                self.rest()
                self.outcome(event.outcome)
            case events.RunStarted() | events.Faulted():
                pass  # the header is the command's; a fault is told with the outcome

    def preparing(self, model: str) -> None:
        """Shows that the jail and the model are being started."""
        self._live.show(f"starting {shortened(model, 60)}")

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """Shows the tests that a model wrote."""
        self.rest()
        self._line(f"{counted(len(tests), 'test')} written", style="bold")
        for test in tests:
            self._line(shortened(test.text, 110), "    ", style="dim")

    def draft(self, text: str) -> None:
        """Shows a drafted lesson to the person who is asked about it."""
        self.rest()
        self._draft = text
        self._lesson("draft of a lesson: ", text)

    def program(self, text: str) -> None:
        """Shows a program to the person who is asked what its judge said."""
        self.rest()
        self._console.print(Text(plain(text)), highlight=False, soft_wrap=True)

    def retried(self, notice: RetryNotice) -> None:
        """Says that a model call is tried again."""
        self.rest()
        waits = f"{notice.model}: {notice.reason}, trying again in {notice.wait_s:.0f} s"
        self._line(f"{plain(waits)} (try {notice.tried} of {notice.max_tries} failed)", "  ", style="yellow")

    def _trial_started(self, event: events.TrialStarted) -> None:
        self.rest()
        lessons = f"  with {lessons_of(event.lessons)}" if event.lessons else ""
        self._line(f"trial {event.trial}{lessons}", style="bold")
        self._live.show("actor")

    def _evaluated(self, feedback: Feedback) -> None:
        self.rest()
        mark, style = ("✓", "green") if feedback.passed else ("✗", "red")
        line = Text(f"{mark} ", style=style)
        line.append(score(feedback))
        if not feedback.passed and feedback.reason not in ("failed", ""):
            line.append(f"  {feedback.reason}")
        if feedback.failed_ids:
            line.append(f"  failed: {shortened(', '.join(feedback.failed_ids), 100)}", style="dim")
        print_wrapped(self._console, line, "  ", hang=2)
        if not feedback.passed and feedback.message:
            lines = findings(feedback)
            for shown in lines[:4]:
                depth = len(shown) - len(shown.lstrip())
                self._line(shortened(shown, 110), " " * (4 + min(depth, 8)), style="dim")
            if len(lines) > 4:
                self._line(f"… {counted(len(lines) - 4, 'more line')}", "    ", style="dim")
        self._live.show("reflector")

    def _reflected(self, reflection: Reflection) -> None:
        self.rest()
        if reflection.text != self._draft:  # else the person has just read it
            self._lesson("lesson: ", reflection.text)
        if reflection.retracts:
            self._line(f"takes back {lessons_of(reflection.retracts)}", "  ", style="dim")
        if reflection.disputes is not None:
            self._line(f"disputes the check {shortened(reflection.disputes, 80)}", "  ", style="yellow")
        if reflection.problems:
            problems = "; ".join(reflection.problems).replace("_", " ")
            self._line(f"weak lesson: {shortened(problems, 100)}", "  ", style="yellow")

    def _lesson(self, label: str, text: str) -> None:
        lesson = Text(label, style="cyan")
        lesson.append(plain(text).strip() or "(none)", style="default")
        print_wrapped(self._console, lesson, "  ")

    def _accepted(self, acceptance: Acceptance) -> None:
        self.rest()
        mark, style = ("✓", "green") if acceptance.passed else ("✗", "red")
        counts = f"{acceptance.checks_passed}/{acceptance.checks_total} held-out checks"
        self._line(f"{mark} {counts}  ({acceptance.trust})", style=style)

    def _leaked(self, leaks: Sequence[Leak]) -> None:
        where = ", ".join(dict.fromkeys(f"{leak.where} of trial {leak.trial}" for leak in leaks))
        shown = shortened(leaks[0].text, 80)
        self._line(f"warning: held-out text was seen before the end ({where}), e.g. {shown}", style="yellow")

    def outcome(self, outcome: Outcome) -> None:
        """Shows what a task came to."""
        status = Text(outcome.status, style=f"bold {_COLOURS.get(outcome.status, 'red')}")
        meaning = NOTHING_TRIED if outcome.status == "gave_up" and not outcome.trials else MEANINGS[outcome.status]
        status.append(f"  {meaning}", style="default not bold")
        print_wrapped(self._console, status, hang=2)
        if outcome.fault is not None:
            self._line(f"{outcome.fault.kind}: {plain(outcome.fault.message)}", "  ", style="red")
        facts = [f"verdict: {_trust(outcome.best)}" if outcome.best is not None else "", spend(outcome.total_usage)]
        self._line(" · ".join(fact for fact in facts if fact), "  ", style="dim")

    def _line(self, text: str, indent: str = "", style: str = "") -> None:
        print_wrapped(self._console, Text(text, style=style), indent, hang=2)

    def rest(self) -> None:
        """Takes the spinner away."""
        self._live.rest()


def print_wrapped(console: Console, text: Text, indent: str = "", *, hang: int = 0) -> None:
    """Prints text broken between words, without spaces at the ends of lines; what follows the first line hangs."""
    width = max(16, console.width - len(indent) - hang)
    for number, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        console.print(Text(indent + " " * (hang if number else 0)) + line, highlight=False, soft_wrap=True)


def _trust(best: Trial) -> str:
    feedback = best.feedback
    return f"{feedback.trust} ({feedback.isolation})" if feedback.isolation else feedback.trust

"""`afterword show RUN [TASK]`: a run task by task, or a task trial by trial with what changed between its outputs."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.looking_back import burned_tasks, existing_journal, moment, print_json, run_json
from afterword.cli.result import trial_json
from afterword.cli.runs import print_run
from afterword.cli.steps import step_lines
from afterword.cli.text import counted, findings, lessons_of, plain, score, shortened, spend
from afterword.core.records import Outcome, Reflection, Trajectory, Trial, Usage
from afterword.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from afterword.journal import Journal, TaskSummary, TrialRow

_LONGEST = 200
"""Lines of an output or a difference that are shown."""

_STEP_STYLES = {"thought": "dim italic", "action": "bold", "observation": "default", "mark": "dim"}

TaskName = Annotated[str | None, typer.Argument(help="A task of it.", metavar="TASK")]


def show(
    run: Annotated[str, typer.Argument(help="Its name, the beginning of it or its last word.", metavar="RUN")],
    task: TaskName = None,
    journal: options.JournalPlace = None,
    as_json: options.AsJson = False,
) -> int:
    """Show what became of a run's tasks.

    Or the trials of one task: steps, feedback, lessons, what changed in the output.
    """
    anyio.run(_show, run, task, journal, as_json)
    return 0


async def _show(run: str, task: str | None, where: str | None, as_json: bool) -> None:
    from rich.console import Console

    async with existing_journal(where) as journal:
        summary = await journal.summary(run)
        tasks = [found async for found in journal.tasks(run, task=task)] if task is not None else []
        if task is not None and not tasks:
            raise InputError(f"run {summary.id} has no task {task!r}; afterword show {summary.id} lists those it has")
        if as_json:
            await _show_json(journal, run, task)
            return
        console = Console()
        print_run(console, summary)
        for note in await journal.notes(run):
            if task in (None, note.task):
                console.print(
                    f"  {moment(note.at)} {plain(note.kind)}: {shortened(f'{note.task}: {note.text}', 160)}",
                    style="yellow",
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )
        if task is None and summary.jobs == 1:
            tasks = [found async for found in journal.tasks(run)]
        if tasks:
            for found in tasks:
                await _show_task(console, journal, run, found)
            return
        async for found in journal.tasks(run):
            _print_task(console, found)


async def _show_json(journal: Journal, run: str, task: str | None) -> None:
    print_json(run_json(await journal.summary(run)))
    burned = await burned_tasks(journal, run)
    async for found in journal.tasks(run, task=task):
        print_json(
            {
                "task": found.task,
                "arm": found.arm,
                "seed": found.seed,
                "status": found.status,
                "best_score": found.best_score,
                "trials": [
                    trial_json(trial.trial)
                    async for trial in journal.trials(run, task=found.task)
                    if (trial.arm, trial.seed) == (found.arm, found.seed)
                ],
                "usage": asdict(found.usage),
                **({"held_out_burned": True} if found.task in burned else {}),
            }
        )


def _print_task(console: Console, task: TaskSummary) -> None:
    from rich.text import Text

    line = Text("  ")
    line.append(f"{(task.status or 'unfinished').replace('_', ' '):<11}", style=_colour(task.status))
    line.append(shortened(task.task, 60))
    where = ", ".join(filter(None, (task.arm, f"seed {task.seed}" if task.seed else "")))
    # A verdict that is no grade scores 0 or 1, which the status says better.
    best = f", best score {task.best_score:.2f}" if task.best_score is not None and 0 < task.best_score < 1 else ""
    line.append(f"  {counted(task.trials, 'trial')}{best}, {spend(task.usage)}  {shortened(where, 60)}", style="dim")
    console.print(line, highlight=False, soft_wrap=True)


def _colour(status: str | None) -> str:
    return {"accepted": "green", "unverified": "yellow", None: "dim"}.get(status, "red")


async def _show_task(console: Console, journal: Journal, run: str, task: TaskSummary) -> None:
    console.print()
    _print_task(console, task)
    before: TrialRow | None = None
    async for trial in journal.trials(run, task=task.task):
        if (trial.arm, trial.seed) != (task.arm, task.seed):
            continue
        _print_trial(console, trial, before)
        before = trial
    async for summary, outcome in journal.outcomes(run, task=task.task):
        if (summary.arm, summary.seed) == (task.arm, task.seed):
            _print_end(console, outcome)
            if task.task in await burned_tasks(journal, run):
                _say(console, "  its held-out checks are burned: only fresh ones can accept it", "yellow")


def _print_trial(console: Console, row: TrialRow, before: TrialRow | None) -> None:
    trial, feedback = row.trial, row.trial.feedback
    shown = f", with {lessons_of(trial.lessons_shown)}" if trial.lessons_shown else ""
    _say(console, f"\ntrial {trial.number}{shown}", "bold")
    mark, style = ("✓", "green") if feedback.passed else ("✗", "red")
    told = score(feedback)
    reason = "" if feedback.reason in ("", told) else f"  {feedback.reason}"
    _say(console, f"{mark} {told}{reason}  ({feedback.trust})", style)
    for line in findings(feedback)[:_LONGEST] if not feedback.passed else ():
        _say(console, f"    {line}", "dim")
    if row.complete:
        for part, line in () if _is_bare(trial.trajectory) else step_lines(trial.trajectory.steps):
            _say(console, f"  {line}", _STEP_STYLES[part])
        _print_output(console, trial, before.trial if before is not None else None)
    else:
        _say(console, "  the task has not ended: its output is among the recorded calls (afterword export)", "dim")
    if trial.reflection is not None and trial.reflection.text:
        _print_lesson(console, trial.reflection)
    if trial.retired:
        _say(console, f"  retired: {lessons_of(trial.retired)}", "yellow")
    if trial.usage:
        _say(console, f"  {spend(sum(trial.usage.values(), Usage()))}", "dim")


def _is_bare(trajectory: Trajectory) -> bool:
    """Whether its one step is the reply that holds the output, which is shown anyway."""
    if not trajectory.output or len(trajectory.steps) != 1:
        return False
    (step,) = trajectory.steps
    return not (step.thought or step.observation)


def _print_lesson(console: Console, lesson: Reflection) -> None:
    _say(console, f"  lesson{' of a person' if lesson.source == 'person' else ''}: {lesson.text}", "cyan")
    if lesson.retracts:
        _say(console, f"  takes back {lessons_of(lesson.retracts)}", "dim")
    if lesson.disputes is not None:
        _say(console, f"  disputes the check {lesson.disputes}", "yellow")
    if lesson.problems:
        _say(console, f"  weak lesson: {'; '.join(lesson.problems).replace('_', ' ')}", "yellow")


def _print_output(console: Console, trial: Trial, before: Trial | None) -> None:
    """The first output as it is, and of a later one what changed."""
    new = plain(trial.trajectory.output).splitlines()
    if before is None:
        lines, styles = new, {}
    else:
        old = plain(before.trajectory.output).splitlines()
        names = (f"output of trial {before.number}", f"output of trial {trial.number}")
        lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
        styles = {"+": "green", "-": "red", "@": "magenta"}
        if not lines and new:
            _say(console, f"    the same output as in trial {before.number}", "yellow")
    for line in lines[:_LONGEST]:
        _say(console, f"    {line}", styles.get(line[:1], "default"))
    if len(lines) > _LONGEST:
        _say(console, f"    … {counted(len(lines) - _LONGEST, 'more line')}; afterword export has all", "dim")


def _print_end(console: Console, outcome: Outcome) -> None:
    reason = f"  stopped: {outcome.stop_reason.replace('_', ' ')}" if outcome.stop_reason is not None else ""
    _say(console, f"\n{outcome.status.replace('_', ' ')}{reason}", f"bold {_colour(outcome.status)}")
    if outcome.acceptance is not None:
        held_out = outcome.acceptance
        _say(console, f"  {held_out.checks_passed}/{held_out.checks_total} held-out checks ({held_out.trust})", "dim")
    if outcome.fault is not None:
        _say(console, f"  {outcome.fault.kind} in trial {outcome.fault.trial}: {outcome.fault.message}", "red")


def _say(console: Console, text: str, style: str) -> None:
    console.print(plain(text), style=style, highlight=False, markup=False, soft_wrap=True)

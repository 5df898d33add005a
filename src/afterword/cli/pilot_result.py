"""The answer of a pilot as lines for a person and as one object for a program: the same numbers in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.text import Text

from afterword.cli.text import counted, money, spend
from afterword.core.records import Usage
from afterword.experiments.pilot import ArmSeen, Standing, TaskSeen, ladder, ladder_lines, verdict
from afterword.experiments.pilot.sentences import exam_of, percent, points

HANG = 12
"""Where what belongs to a label begins."""


def pilot_text(seen: Standing, tasks: Sequence[TaskSeen], spent: Usage) -> Iterator[Text]:
    """The sentence, the numbers behind it, and the ladder."""
    yield Text("")
    yield Text(verdict(seen), style="bold")
    if not seen.tasks:
        yield Text(spend(spent), style="dim")
        return
    if (would := _more(seen, spent)) is not None:
        cost = f" and {money(would.cost_usd)}" if would.cost_usd else ""
        yield Text(f"So many would take about {would.tokens:,} tokens{cost}.")
    yield Text("")
    for arm in seen.arms:
        yield Text(f"{arm.arm:<10}  {_arm(arm)}")
    pairs = f"only reflexion solved {seen.only_reflexion}, only retry {seen.only_retry}"
    yield Text(f"{'difference':<10}  {pairs}; {points(seen.difference)}")
    yield Text(f"{'evaluator':<10}  {_evaluator(seen)}")
    yield Text(f"{'lessons':<10}  {_lessons(seen)}")
    if seen.rules.exam_bugs:
        yield Text(f"{'':<10}  {exam_of(seen.rules)}")
    if seen.faults:
        yield Text(f"{'faults':<10}  {counted(seen.faults, 'task')} left out", style="yellow")
    if seen.unattempted:
        told = f"{counted(seen.unattempted, 'task')} left out, of which the allowance carried no attempt"
        yield Text(f"{'too long':<10}  {told}", style="yellow")
    yield Text("")
    for number, line in enumerate(ladder_lines(ladder(tasks, seen)), start=1):
        yield Text(f"{'ladder' if number == 1 else '':<10}  {line}")
    yield Text("")
    yield Text(
        f"Intervals hold however often they are looked at; each end is wrong in at most {100 * seen.rules.alpha:g} % "
        "of pilots.",
        style="dim",
    )
    yield Text(spend(spent), style="dim")


def _more(seen: Standing, spent: Usage) -> Usage | None:
    """What the tasks that are missing would take, at what those before took; None where none is or too many are."""
    if not seen.tasks or not seen.more:
        return None
    factor = seen.more / (seen.tasks + seen.faults + seen.unattempted)
    cost = None if spent.cost_usd is None else spent.cost_usd * factor
    return Usage(
        round(spent.calls * factor), round(spent.tokens_in * factor), round(spent.tokens_out * factor), cost_usd=cost
    )


def _arm(arm: ArmSeen) -> str:
    cost = f", {money(arm.cost_usd)}" if arm.cost_usd else ""
    return f"solved {arm.solved}, {percent(arm.share)}; {arm.calls:.1f} calls, {arm.tokens:,.0f} tokens{cost} a task"


def _evaluator(seen: Standing) -> str:
    if seen.false_positives.value is None:
        return "no held-out check judged what it passed: how often it is wrong is not known"
    bound = f"{100 * seen.rules.false_positives:g} %"
    return f"wrong about {percent(seen.false_positives)} of what it passed; the bound is {bound}"


def _lessons(seen: Standing) -> str:
    if seen.useful.value is None:
        return "none was needed" if seen.arms[0].solved == seen.tasks else "no trial had one"
    return (
        f"a trial got further with one in {percent(seen.useful)} of {counted(seen.useful.n, 'task')}; "
        f"{percent(seen.sound)} quote what happened, prescribe a change and say something new"
    )


def pilot_json(seen: Standing, tasks: Sequence[TaskSeen], spent: Usage, *, ended: str, drawn: int) -> dict[str, object]:
    """One object: `answer` is one of five texts, `ended` one of clear, tasks, budget, faults."""
    found = asdict(seen)
    climbed = ladder(tasks, seen)
    would = _more(seen, spent)
    return {
        "answer": seen.answer,
        "sentence": verdict(seen),
        "more_tasks": found["more"],
        "more_usage": None
        if would is None
        else {"calls": would.calls, "tokens": would.tokens, "cost_usd": would.cost_usd},
        "ended": ended,
        "tasks": seen.tasks,
        "tasks_drawn": drawn,
        "faults": seen.faults,
        "unattempted": seen.unattempted,
        "only_retry": seen.only_retry,
        "only_reflexion": seen.only_reflexion,
        "difference": found["difference"],
        "false_positives": found["false_positives"],
        "useful_lessons": found["useful"],
        "sound_lessons": found["sound"],
        "arms": list(found["arms"]),
        "ladder": [asdict(rung) for rung in climbed.rungs],
        "check_passes": climbed.check_passes,
        "rules": found["rules"],
        "usage": asdict(spent),
    }

"""`afterword lessons`: from the lessons of many tasks to rules for others, with a person in between.

`distil` drafts, `review` decides, `afterword run --rules` shows what was accepted, and `transfer` measures whether it
helped.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.option_groups import AskingGroup, spread
from afterword.cli.roles import ModelChoice
from afterword.cli.text import counted, plain, shortened
from afterword.core.budget import Allowance
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.cli.past_runs import PastRun
    from afterword.experiments.lessons import FirstTrial, Rule, SourceLesson, Transfer

app = typer.Typer(no_args_is_help=True, help="Rules across tasks: drafted, approved by a person, measured.")

RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        help="Runs of the journal, or files that `run --json` printed. [the latest with lessons]", metavar="RUN"
    ),
]


@app.callback()
def lessons() -> None:
    """Rules across tasks: drafted from lessons, approved by a person, measured by transfer."""


@app.command("distil")
@spread
def distil(
    runs: RunNames = None,
    *,
    out: Annotated[Path, typer.Option(help="The file of drafts to write.")] = Path("rules.json"),
    model: Annotated[str | None, typer.Option(help="Have it word the drafts. [none: the most typical lesson]")] = None,
    min_tasks: Annotated[int, typer.Option(help="Tasks that must have given a lesson of the kind.")] = 2,
    most: Annotated[int, typer.Option(help="At most so many drafts.")] = 30,
    temperature: options.Temperature = None,
    asking: AskingGroup,
    journal: options.JournalPlace = None,
    record: options.Record = None,
    as_json: options.AsJson = False,
) -> int:
    """Draft general rules.

    Brings lessons of one kind together, across tasks, and writes a draft for each with its evidence. Nothing of it is
    used before a person has accepted it.
    """
    for name, value in (("min-tasks", min_tasks), ("most", most)):
        if value < 1:
            raise InputError(f"--{name} takes a number from 1, found {value}")
    if out.exists():
        raise InputError("this file is there already, maybe with decisions in it; give another --out", file=out)
    choice = None if model is None else asking.choice(model, temperature)
    from afterword.cli.past_runs import lessons_run, past_run

    past = [past_run(name, journal) for name in runs] if runs else [lessons_run(None, journal)]
    found, rules = anyio.run(_distil, past, choice, asking.allowance, min_tasks, most, record)
    if not rules:
        tasks = len({lesson.task for lesson in found})
        raise InputError(
            f"no kind of lesson comes from {counted(min_tasks, 'task')} or more, among "
            f"{counted(len(found), 'lesson')} of {counted(tasks, 'task')}; give more runs, or a smaller --min-tasks"
        )
    from afterword.experiments.lessons import RuleFile, write_rule_file

    write_rule_file(out, RuleFile(rules, source=" ".join(run.name for run in past)))
    if as_json:
        sys.stdout.write(json.dumps({"file": str(out), "rules": [asdict(rule) for rule in rules]}) + "\n")
        return 0
    for rule in rules:
        told = f"{rule.id}  {counted(len(rule.evidence), 'lesson')} of {counted(len(rule.tasks), 'task')}"
        sys.stdout.write(f"{told}  {shortened(rule.text, 90)}\n")
    sys.stdout.write(plain(f"{counted(len(rules), 'draft')} in {out}; next: afterword lessons review {out}") + "\n")
    return 0


@app.command("review")
def review(
    file: Annotated[Path, typer.Argument(help="A file of rules.", metavar="FILE")],
    again: Annotated[bool, typer.Option("--again", help="Also ask about rules that were decided on.")] = False,
) -> int:
    """Accept, edit or reject each drafted rule.

    Stop whenever you like: each decision is kept at once, and the next review goes on with the rest.
    """
    from rich.console import Console

    from afterword.cli.ask import read_line
    from afterword.cli.lessons_review import review as ask
    from afterword.experiments.lessons import read_rule_file

    rules = read_rule_file(file)
    waiting = [rule for rule in rules.rules if again or rule.state == "draft"]
    if waiting:
        rules = ask(file, rules, waiting, Console(), read_line)
    states = [rule.state for rule in rules.rules]
    accepted, rejected, drafts = (states.count(state) for state in ("accepted", "rejected", "draft"))
    told = f"version {rules.version}: {accepted} accepted, {rejected} rejected, {drafts} left"
    use = f"; use it with: afterword run --rules {file}" if accepted else ""
    sys.stdout.write(plain(f"{told}{use}") + "\n")
    return 0


@app.command("transfer")
def transfer(
    without: Annotated[str, typer.Argument(help="A run without the rules.", metavar="WITHOUT")],
    ruled: Annotated[str, typer.Argument(help="A run of the same tasks with them.", metavar="WITH")],
    rules: Annotated[Path, typer.Option(help="The file of rules that WITH was run with.")],
    journal: options.JournalPlace = None,
    as_json: options.AsJson = False,
) -> int:
    """Measure whether rules help.

    Compares first trials with and without, task by task, on the tasks that gave no lesson to any accepted rule.
    """
    from afterword.experiments.lessons import transfer as compare
    from afterword.experiments.lessons.rules import open_rule_book

    own = {task for rule in open_rule_book(rules).rules for task in rule.tasks}
    first, second = anyio.run(_first_trials, without, ruled, journal)
    seen = compare(first, second, own)
    sys.stdout.write(json.dumps(asdict(seen)) + "\n" if as_json else _transfer_text(seen))
    return 0


async def _distil(
    runs: list[PastRun],
    choice: ModelChoice | None,
    allowance: Allowance,
    min_tasks: int,
    most: int,
    record: Path | None,
) -> tuple[list[SourceLesson], tuple[Rule, ...]]:
    from afterword.cli.asking import actor_role, open_asked
    from afterword.cli.past_runs import tasks_of
    from afterword.experiments.lessons import distil as draft
    from afterword.experiments.lessons.sources import lessons_of

    found = [lesson for run in runs async for past in tasks_of(run) for lesson in lessons_of(past)]
    if choice is None:
        return found, await draft(found, min_tasks=min_tasks, most=most)
    role = actor_role(choice)
    async with open_asked([("distiller", role)], allowance, record) as asked:
        rules = await draft(
            found,
            model=asked.models[0],
            effects=asked.effects("distil"),
            min_tasks=min_tasks,
            most=most,
            temperature=role.temperature,
        )
    return found, rules


async def _first_trials(without: str, ruled: str, journal: str | None) -> tuple[list[FirstTrial], list[FirstTrial]]:
    from afterword.cli.past_runs import past_run, tasks_of
    from afterword.experiments.lessons.sources import first_trial_of

    async def of(name: str) -> list[FirstTrial]:
        firsts = [first_trial_of(past) async for past in tasks_of(past_run(name, journal))]
        return [first for first in firsts if first is not None]

    return await of(without), await of(ruled)


def _transfer_text(seen: Transfer) -> str:
    from afterword.cli.shares import share

    if not seen.pairs:
        return (
            "no task is in both runs and gave no lesson to the rules: nothing can be said "
            f"({counted(seen.own, 'task')} of the rules' own, {seen.unpaired} in one run only)\n"
        )
    n = seen.pairs
    passed_without = round((seen.without.value or 0) * n)
    passed_with = round((seen.with_rules.value or 0) * n)
    gain, low, high = (
        f"{value or 0:+.1%}" for value in (seen.difference.value, seen.difference.low, seen.difference.high)
    )
    alone = f"{seen.gained} passed with them alone, {seen.lost} without them alone"
    lines = [
        f"first trials on {counted(n, 'task')} that gave no lesson to the rules",
        f"  without rules  {share(passed_without, n)}",
        f"  with rules     {share(passed_with, n)}",
        f"  gain           {gain}, 95 % interval {low} to {high}",
        f"                 {alone}; p = {seen.p_value:.3g}",
        f"left out: {counted(seen.own, 'task')} that gave a lesson, {seen.unpaired} in one run only",
    ]
    return "\n".join(lines) + "\n"

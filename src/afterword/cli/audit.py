"""`afterword audit RUN`: what the lessons of a run hold, what followed them, and what a person says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from afterword.cli.past_runs import PastRun
    from afterword.experiments.audit import AuditedLesson, Group, LabelFile
    from afterword.experiments.statistics import Estimate

RunOrFile = Annotated[
    str | None,
    typer.Argument(
        help="A run of the journal, or a file that `afterword run --json` printed. [the latest with lessons]",
        metavar="RUN",
    ),
]
Labelling = Annotated[bool, typer.Option("--label", help="Class the lessons yourself, one by one.")]
Labels = Annotated[Path | None, typer.Option("--labels", help="The file of labels. [RUN.labels.jsonl]")]

Causal = Annotated[
    bool, typer.Option("--causal", help="Make trials again with a lesson, without it, and with another task's.")
]
SampleSize = Annotated[int, typer.Option("--sample", help="How many lessons --causal looks at, one of a task.")]


def audit(
    run: RunOrFile = None,
    journal: options.JournalPlace = None,
    label: Labelling = False,
    labels: Labels = None,
    causal: Causal = False,
    sample: SampleSize = 20,
    seed: options.Seed = 0,
    api_key: options.ApiKey = None,
    base_url: options.BaseUrl = None,
    as_json: options.AsJson = False,
) -> int:
    """Measure the lessons of a run.

    What they hold and what followed them, with intervals of 95 %.
    """
    from rich.console import Console

    from afterword.cli.past_runs import lessons_run
    from afterword.experiments.audit import LabelFile

    if label and as_json:
        raise InputError("--label asks at the terminal, and --json prints for a program; leave one of them out")
    if label and causal:
        raise InputError("--label asks a person and --causal asks the models; do one after the other")
    named = lessons_run(run, journal)
    file = LabelFile(labels or named.beside(".labels.jsonl"))
    console = Console(stderr=as_json)
    if causal:
        _try_again(named, sample, seed, api_key, base_url, console, as_json=as_json)
    else:
        anyio.run(_audit, named, file, console, label, as_json)
    return 0


def _try_again(
    run: PastRun, sample: int, seed: int, api_key: str | None, base_url: str | None, console: Console, *, as_json: bool
) -> None:
    from afterword.cli.audit_causal import CausalChoice, make_trials_again, print_report
    from afterword.cli.looking_back import print_json
    from afterword.cli.starting import Changes

    choice = CausalChoice(sample, seed, Changes(api_key=api_key, base_url=base_url))
    report = anyio.run(make_trials_again, run, choice, console)
    if as_json:
        print_json(asdict(report))
    else:
        print_report(console, report)


async def _audit(run: PastRun, file: LabelFile, console: Console, label: bool, as_json: bool) -> None:
    from afterword.cli.audit_label import ask_for_labels, trial_text
    from afterword.cli.looking_back import print_json
    from afterword.cli.past_runs import reflected_on, tasks_of
    from afterword.cli.text import counted
    from afterword.experiments.audit import audited, summarise

    known = file.read()
    lessons: list[AuditedLesson] = []
    trials: dict[str, str] = {}
    reflected = await reflected_on(run) if label else {}
    tasks = 0
    async for past in tasks_of(run):
        tasks += 1
        by_number = {trial.number: trial for trial in past.trials}
        for lesson in audited(past):
            lessons.append(lesson)
            if label and lesson.key not in known:
                place = (past.task, past.arm, past.seed, lesson.trial)
                trials[lesson.key] = reflected.get(place) or trial_text(by_number[lesson.trial])
    if not lessons:
        found = counted(tasks, "task")
        raise InputError(f"the run {run.name} has {found} and no lesson; audit one with a strategy that reflects")
    if label:
        known |= ask_for_labels([one for one in lessons if one.key in trials], trials, file, console)
    groups = summarise(lessons, known)
    if as_json:
        each = [{**asdict(lesson), "key": lesson.key, "label": known.get(lesson.key)} for lesson in lessons]
        print_json({"groups": [asdict(group) for group in groups], "lessons": each})
        return
    for group in groups:
        _print_group(console, group)


def _print_group(console: Console, group: Group) -> None:
    from afterword.cli.text import counted, plain

    name = "all" if group.family in ("all", "unknown") else f"{group.family}, {group.model}"
    arms = "" if group.arms == 1 else f" in {counted(group.arms, 'arm')}"
    lines = [plain(f"{name}: {counted(group.lessons, 'lesson')} of {counted(group.tasks, 'task')}{arms}")]
    lines += _shares(group.aspects)
    followed = next(iter(group.effects.values())).n
    lines.append(f"  in the next trial, for {counted(followed, 'lesson')} that it had in its prompt:")
    if followed:
        lines += _shares({f"  {effect}": share for effect, share in group.effects.items()})
        lines.append(f"    {group.checks_gained:,} checks gained, {group.checks_lost:,} lost")
    if group.labels:
        lines.append(f"  as a person classed {counted(next(iter(group.labels.values())).n, 'lesson')}:")
        lines += _shares({f"  {label}": share for label, share in group.labels.items()})
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _shares(shares: Mapping[str, Estimate]) -> Sequence[str]:
    return [
        f"  {name:<24}{100 * (share.value or 0):5.0f} %   {100 * share.low:3.0f} to {100 * share.high:3.0f} %"
        for name, share in shares.items()
    ]

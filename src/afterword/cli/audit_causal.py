"""`afterword audit --causal`: trials of a run made again with a lesson, without it, and with another task's lesson.

The models are asked anew, as the run's own settings say, and the trials are kept in the journal as a run of their own,
so that an interrupted audit goes on where it was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from afterword.cli.bench import Benches, RunLimits
from afterword.cli.display import print_wrapped
from afterword.cli.families import Family, Item, family_named
from afterword.cli.own_run import taken_up
from afterword.cli.past_runs import PastRun, tasks_of
from afterword.cli.plan import Plan, plan_of, run_fingerprints
from afterword.cli.roles import roles_of
from afterword.cli.starting import Changes, JournalChoice
from afterword.cli.text import counted, plain
from afterword.core.effects import Effects
from afterword.core.judging import status_of
from afterword.core.records import Outcome
from afterword.errors import BudgetExhausted, Fault, InputError, JournalFault, RunChanged
from afterword.experiments.audit.causal import (
    CONDITIONS,
    CausalReport,
    Condition,
    Made,
    Sample,
    draw_samples,
    make_again,
    report_of,
)
from afterword.experiments.shared import open_shared
from afterword.journal import Journal, Run, RunSpec
from afterword.models import open_models

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest


@dataclass(frozen=True, slots=True)
class CausalChoice:
    """How many lessons are looked at, and what the journal does not keep."""

    sample: int = 20
    seed: int = 0
    changes: Changes = field(default_factory=Changes)

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise InputError(f"--sample takes a number from 1, found {self.sample}")


async def make_trials_again(run: PastRun, choice: CausalChoice, console: Console) -> CausalReport:
    """Makes the trials again, telling on `console` what came of each.

    Raises:
        InputError: the run's lessons, tasks or models do not allow it.
        JournalFault: what happens can no longer be kept.
    """
    if run.file is not None:
        raise InputError("--causal makes trials again and needs the run's settings; name a run of the journal")
    samples = draw_samples([past async for past in tasks_of(run)], choice.sample, choice.seed)
    async with JournalChoice(run.journal, secrets=choice.changes.secrets).opened(create=False) as journal:
        spec = await journal.spec(run.name)
        plan = choice.changes.made(plan_of(spec.settings))
        if plan.is_experiment:
            raise InputError("each arm of an experiment has settings of its own; take a run of `afterword run`")
        plan = replace(plan, settings=replace(plan.settings, ask=False))
        try:
            folder = contextlib.chdir(plan.folder)
            with folder:
                return await _in_folder(journal, (await journal.summary(run.name)).id, plan, samples, choice, console)
        except OSError as error:
            raise InputError(f"the run's tasks cannot be read: {error.strerror}; bring {plan.folder} back") from None


async def _in_folder(
    journal: Journal, run_id: str, plan: Plan, samples: Sequence[Sample], choice: CausalChoice, console: Console
) -> CausalReport:
    family = family_named(plan.family)
    items = _items(family, plan, {sample.past.task for sample in samples})
    fingerprints = {
        **run_fingerprints(plan, family),
        **{f"task:{item.task.id}": item.fingerprint for item in items.values()},
    }
    _refuse_changed(run_id, (await journal.spec(run_id)).fingerprints, fingerprints)
    command = ("afterword", "audit", run_id, "--causal", "--sample", str(choice.sample), "--seed", str(choice.seed))
    settings = {"command": "audit", "run": run_id, "sample": choice.sample}
    own = await taken_up(journal, RunSpec(command, settings, choice.seed, fingerprints))
    told = f"{counted(len(samples), 'lesson')}, three trials each; kept as run {own.id}"
    console.print(Text(plain(told)), highlight=False, soft_wrap=True)
    made, faults = await _all_made(samples, items, plan, own, console)
    if not faults:
        await own.end()
    return report_of(made, faults)


def _items(family: Family, plan: Plan, wanted: set[str]) -> dict[str, Item]:
    items = {item.task.id: item for item in family.items(plan.sources, plan.settings) if item.task.id in wanted}
    if missing := sorted(wanted - set(items)):
        raise InputError(f"the run's sources hold no task {missing[0]!r} any more; put it back")
    return items


def _refuse_changed(run_id: str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """A trial that is made again under other prompts or checks is no comparison; other code of ours may be."""
    changed = tuple(name for name, value in now.items() if name != "code" and before.get(name, value) != value)
    if changed:
        raise RunChanged(run_id, changed)


async def _all_made(
    samples: Iterable[Sample], items: Mapping[str, Item], plan: Plan, own: Run, console: Console
) -> tuple[list[Made], int]:
    made: list[Made] = []
    faults = 0
    roles = roles_of(plan.settings.models, plan.settings.strategy)
    async with open_models() as models, open_shared() as shared:
        benches = Benches(plan.settings, roles, models, shared, limits=RunLimits())
        for sample in samples:
            one = await _made(sample, items[sample.past.task], benches, own)
            if not isinstance(one, Made):
                faults += 1
                line = f"{sample.past.task}: {type(one).__name__}: {one}"
                print_wrapped(console, Text(plain(line), style="yellow"), "  ", hang=2)
                continue
            made.append(one)
            marks = ", ".join(f"{name} {'✓' if one.passed[name] else '✗'}" for name in CONDITIONS)
            print_wrapped(console, Text(plain(f"{one.task}, lesson of trial {one.trial}: {marks}")), "  ", hang=2)
    return made, faults


async def _made(sample: Sample, item: Item, benches: Benches, own: Run) -> Made | Fault | BudgetExhausted:
    """The sample's three trials, or what kept one of them from a verdict."""
    screen = _Unseen()
    seed = sample.past.seed
    used: dict[str, Effects] = {}
    async with item.loop(benches.of_item(item.task.id, screen, screen.tests_written)) as loop:

        def effects_of(condition: str) -> Effects:
            arm = f"{condition}:{sample.past.arm}:{sample.lesson.trial}"
            used[condition] = loop.effects(item.task, arm=arm, seed=seed, recorder=own.recorder)
            return used[condition]

        try:
            trials = await make_again(sample, item.task, loop.parts, effects_of)
        except JournalFault:
            raise
        except (Fault, BudgetExhausted) as error:  # here, before the item's task groups wrap it
            return error
    for condition, trial in trials.items():
        status = status_of(trial, None, faulted=False)
        usage = dict(used[condition].total_usage)
        outcome = Outcome(item.task.id, status, None, trial, (trial,), None, usage)
        await own.finish(outcome, arm=used[condition].arm, seed=seed)
    return Made(
        sample.past.task,
        sample.lesson.trial,
        sample.lesson.text,
        sample.placebo.text,
        {name: trial.feedback.passed for name, trial in trials.items()},
        {name: trial.feedback.score for name, trial in trials.items()},
    )


class _Unseen:
    """A screen on which nothing of a loop is shown: only what came of the trials is told."""

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """Shows nothing."""

    def draft(self, text: str) -> None:
        """Shows nothing."""

    def program(self, text: str) -> None:
        """Shows nothing."""


def print_report(console: Console, report: CausalReport) -> None:
    """Prints what the lessons caused."""
    titles: dict[Condition, str] = {
        "with": "passed with the lesson",
        "without": "passed without it",
        "placebo": "passed with another's",
    }
    faults = f", {counted(report.faults, 'fault')} counted nowhere" if report.faults else ""
    lines = [f"{counted(len(report.made), 'lesson')} tried again{faults}"]
    lines += [
        f"  {title:<24}{100 * (share.value or 0):5.0f} %   {100 * share.low:3.0f} to {100 * share.high:3.0f} %"
        for name, title in titles.items()
        if (share := report.passed[name])
    ]
    for contrast in report.contrasts:
        passing = contrast.passing
        if passing.value is not None and contrast.mean_score_gain is not None:
            against = {"without": "without it", "placebo": "another's"}[contrast.against]
            lines.append(
                f"  with it less {against}: {100 * passing.value:+.0f} points ({100 * passing.low:+.0f} to "
                f"{100 * passing.high:+.0f}); score higher in {contrast.higher}, same in {contrast.same}, lower in "
                f"{contrast.lower}, {contrast.mean_score_gain:+.3f} on average"
            )
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)

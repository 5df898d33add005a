"""`afterword pilot`: does reflexion pay on these tasks with this model? It stops as soon as that is clear."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterword.cli import options
from afterword.cli.option_groups import FamilyGroup, JournalGroup, ModelGroup, spread
from afterword.core.budget import Allowance
from afterword.errors import InputError, UnknownPrice

if TYPE_CHECKING:
    from afterword.cli.families.interface import Item, Settings, Sizes

MOST_TASKS = 1000
TRIALS = 3
ARMS_AT_A_TIME = 3
MOST_TRIALS = 50
"""Where calls are no limit."""


@spread
def pilot(
    sources: Annotated[
        list[str], typer.Argument(help="Task folders, JSON Lines of tasks, or a benchmark.", metavar="TASKS")
    ],
    *,
    max_cost_usd: Annotated[float | None, typer.Option(help="Most money of the pilot; needs a known price.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of the pilot.")] = None,
    margin: Annotated[
        float, typer.Option(help="A gain over retry of less than this share of tasks is not worth it.")
    ] = 0.1,
    false_positives: Annotated[
        float, typer.Option(help="The evaluator may be wrong about so many of the outputs it passes.")
    ] = 0.1,
    exam: Annotated[
        Path | None, typer.Option(help="What `afterword exam --json` printed: how its lessons did on planted bugs.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="How often each answer may be wrong.")] = 0.05,
    calls: Annotated[
        int | None, typer.Option(help="What each arm may spend on a task: model calls. [as 3 trials with lessons take]")
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="The same in tokens.")] = None,
    cost_usd: Annotated[float | None, typer.Option(help="The same in money.")] = None,
    most_tasks: Annotated[
        int, typer.Option("--limit", help="At most so many tasks, drawn at random from all.")
    ] = MOST_TASKS,
    family: options.FamilyName = None,
    data: options.Data = None,
    jobs: Annotated[int | None, typer.Option(help="Arms at a time. [3; scripted: 1]")] = None,
    models: ModelGroup,
    memory: options.MemorySize = None,
    reply_tokens: Annotated[int | None, typer.Option(help="Most tokens of one reply of the actor.")] = None,
    seed: options.Seed = 0,
    of_family: FamilyGroup,
    keeping: JournalGroup,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Find out whether lessons pay on your tasks.

    Tasks are drawn at random, and each is worked on by a single attempt, by retrying and by reflexion, under the same
    allowance, until the answer is clear or the budget is gone. `afterword resume` goes on with a pilot.
    """
    from afterword.cli.cases import ArmPlan
    from afterword.cli.commands import conduct
    from afterword.cli.experiment_bound import refuse_out_of_reach
    from afterword.cli.families import Settings, family_of
    from afterword.cli.pilot_screen import rules_of
    from afterword.cli.plan import PilotPlan, Plan
    from afterword.cli.results import Results
    from afterword.cli.roles import SAMPLING_TEMPERATURE
    from afterword.experiments.pilot import ARMS

    if max_cost_usd is None and max_tokens is None:
        raise InputError("a pilot needs a budget: add --max-cost-usd X or --max-tokens N")
    if most_tasks < 1:
        raise InputError(f"--limit takes a number from 1, found {most_tasks}")
    chosen = family_of(sources, family)
    settings = Settings(
        models=models.choice(chosen.name, str(SAMPLING_TEMPERATURE)),
        memory=memory,
        max_tokens=reply_tokens,
        seed=seed,
        allow_weak_isolation=allow_weak_isolation,
        data=data,
        options=of_family.stated(chosen),
    )
    stated = Allowance(calls=calls, tokens=tokens, cost_usd=cost_usd)
    if stated == Allowance():
        first = next(iter(chosen.items(tuple(sources), settings)))
        stated = Allowance(calls=_calls(first, chosen.sizes(settings), settings))
    allowance = stated
    settings = replace(settings, allowance=allowance, max_trials=allowance.calls or MOST_TRIALS)
    how = PilotPlan(alpha, margin, false_positives, most_tasks)
    if exam is not None:
        named, bugs = _examined(exam, chosen.name, settings)
        how = replace(how, exam_named=named, exam_bugs=bugs)
    rules_of(how)  # numbers out of range are refused
    plan = Plan(
        chosen.name,
        tuple(sources),
        settings,
        str(Path.cwd()),
        jobs,
        total=Allowance(tokens=max_tokens, cost_usd=max_cost_usd),
        arms=tuple(ArmPlan(name, name) for name in ARMS),
        seeds=(seed,),
        pilot=how,
    )
    for case in plan.cases:
        refuse_out_of_reach(case, chosen.sizes(case.settings), "lower --reply-tokens")
    plan = replace(plan, jobs=min(ARMS_AT_A_TIME, plan.at_once))
    results = Results(as_json)
    try:
        conduct(keeping.starting(plan), results)
    except UnknownPrice as error:
        raise InputError(
            f"the price of {error.model!r} is not known; state it (--price IN,OUT in USD per million tokens), "
            "or say --max-tokens instead of --max-cost-usd"
        ) from None
    return results.exit_code(require_acceptance=False)


def _examined(file: Path, family: str, settings: Settings) -> tuple[int, int]:
    """How many planted bugs the lessons of the pilot's reflector named, and how many there were."""
    from afterword.cli.exam_result import named_in
    from afterword.cli.roles import roles_of
    from afterword.core.records import Strategy

    if family != "programming":
        raise InputError("an exam is one of programs and tells nothing of other lessons; leave --exam out")
    return named_in(file, roles_of(settings.models, Strategy.REFLEXION).reflector.name)


def _calls(item: Item, sizes: Sizes, settings: Settings) -> int:
    """What each arm may spend on a task where nothing is stated: as many calls as three trials with lessons take.

    Retry may spend them on trials, so it has more of these.
    """
    votes = settings.number("judge_votes", 1) if item.judge_calls else 0
    suites = settings.number("consensus", 1) + settings.flag("mutation_check") if item.own_tests else 0
    return TRIALS * (sizes.steps + sizes.looks + votes) + (TRIALS - 1) + suites

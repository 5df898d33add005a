"""`afterword pilot`: does reflexion pay on these tasks with this model? It stops as soon as that is clear."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterword.cli import options
from afterword.core.budget import Allowance
from afterword.errors import InputError, UnknownPrice

if TYPE_CHECKING:
    from afterword.cli.families.interface import OptionValue, Sizes

MOST_TASKS = 1000
TRIALS = 3
ARMS_AT_A_TIME = 3
MOST_TRIALS = 50
"""Where calls are no limit."""


def pilot(
    sources: Annotated[
        list[str], typer.Argument(help="Task folders, JSON Lines of tasks, or a benchmark.", metavar="TASKS...")
    ],
    max_cost_usd: Annotated[float | None, typer.Option(help="Most money of the pilot; needs a known price.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of the pilot.")] = None,
    margin: Annotated[
        float, typer.Option(help="A gain over retry of less than this share of tasks is not worth it.")
    ] = 0.1,
    false_positives: Annotated[
        float, typer.Option(help="The evaluator may be wrong about so many of the outputs it passes.")
    ] = 0.1,
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
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    reflector_model: options.ReflectorModel = None,
    temperature: Annotated[str | None, typer.Option(help="Of the actor in all arms: 0 to 2, or none. [0.7]")] = None,
    reflector_temperature: options.ReflectorTemperature = None,
    own_tests: options.OwnTests = False,
    test_writer_model: options.WriterModel = None,
    memory: options.MemorySize = None,
    reply_tokens: Annotated[int | None, typer.Option(help="Most tokens of one reply of the actor.")] = None,
    seed: options.Seed = 0,
    price: options.Price = None,
    timeout_s: options.CallTimeout = 300.0,
    requests_per_minute: options.RequestsPerMinute = None,
    threads: options.Threads = None,
    mode: options.Mode = None,
    articles: options.Articles = None,
    examples: options.Examples = None,
    match: options.Match = None,
    max_steps: options.MaxSteps = None,
    split: options.Split = None,
    language: options.Language = None,
    url: options.Url = None,
    tasks: options.Tasks = None,
    journal: options.JournalPlace = None,
    no_journal: options.NoJournal = False,
    fsync: options.Fsync = False,
    record: options.Record = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Find out whether lessons pay on your tasks.

    Tasks are drawn at random, and each is worked on by a single attempt, by retrying and by reflexion, under the same
    allowance, until the answer is clear or the budget is gone. `afterword resume` goes on with a pilot.
    """
    from afterword.cli.cases import ArmPlan
    from afterword.cli.commands import conduct
    from afterword.cli.families import Settings, family_of
    from afterword.cli.pilot_screen import rules_of
    from afterword.cli.plan import PilotPlan, Plan
    from afterword.cli.results import Results
    from afterword.cli.roles import SAMPLING_TEMPERATURE, ModelChoice
    from afterword.cli.run import stated_options, without_key
    from afterword.cli.starting import JournalChoice, new_run, secrets_of, unkept_run
    from afterword.experiments.pilot import ARMS

    if max_cost_usd is None and max_tokens is None:
        raise InputError("a pilot needs a budget: add --max-cost-usd X or --max-tokens N")
    if most_tasks < 1:
        raise InputError(f"--limit takes a number from 1, found {most_tasks}")
    of_family: dict[str, OptionValue] = {
        "own_tests": own_tests or None,
        "mode": mode,
        "articles": articles,
        "examples": examples,
        "match": match,
        "max_steps": max_steps,
        "split": split,
        "language": language,
        "url": url,
        "tasks": None if tasks is None else str(tasks),
    }
    chosen = family_of(sources, family)
    settings = Settings(
        models=ModelChoice(
            model=model,
            base_url=base_url,
            api_key=api_key,
            reflector_model=reflector_model,
            temperature=temperature or str(SAMPLING_TEMPERATURE),
            reflector_temperature=reflector_temperature,
            test_writer_model=test_writer_model,
            price=price,
            timeout_s=timeout_s,
            requests_per_minute=requests_per_minute,
            threads=threads,
        ),
        memory=memory,
        max_tokens=reply_tokens,
        seed=seed,
        allow_weak_isolation=allow_weak_isolation,
        data=data,
        options=stated_options(of_family, chosen),
    )
    allowance = _allowance(Allowance(calls=calls, tokens=tokens, cost_usd=cost_usd), chosen.sizes(settings), own_tests)
    settings = replace(settings, allowance=allowance, max_trials=allowance.calls or MOST_TRIALS)
    how = PilotPlan(alpha, margin, false_positives, most_tasks)
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
    plan = replace(plan, jobs=min(ARMS_AT_A_TIME, plan.at_once))
    if no_journal:
        if journal is not None or fsync:
            raise InputError("--no-journal keeps the run nowhere; leave it out, or leave out --journal and --fsync")
        start = unkept_run(plan, record)
    else:
        choice = JournalChoice(journal, fsync, secrets_of(api_key, base_url))
        start = new_run(plan, choice, ("afterword", *without_key(sys.argv[1:])), record)
    results = Results(as_json)
    try:
        conduct(start, results)
    except UnknownPrice as error:
        raise InputError(
            f"the price of {error.model!r} is not known; state it (--price IN,OUT in USD per million tokens), "
            "or say --max-tokens instead of --max-cost-usd"
        ) from None
    return results.exit_code(require_acceptance=False)


def _allowance(stated: Allowance, sizes: Sizes, own_tests: bool) -> Allowance:
    """What each arm may spend on a task. What is not stated is as many calls as three trials with lessons take at most.

    Retry may spend them on trials, so it has more of these.
    """
    if stated.calls is not None or stated.tokens is not None or stated.cost_usd is not None:
        return stated
    return replace(stated, calls=TRIALS * (sizes.steps + sizes.looks) + (TRIALS - 1) + own_tests)

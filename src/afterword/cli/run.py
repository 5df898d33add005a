"""`afterword run`: the loop on one task or on many, with progress that a person can follow."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterword.cli import options
from afterword.core.records import Strategy
from afterword.errors import InputError
from afterword.memories import MemoryKind

if TYPE_CHECKING:
    from afterword.cli.families import Family
    from afterword.cli.families.interface import OptionValue


def run(
    sources: Annotated[
        list[str], typer.Argument(help="Task folders, JSON Lines of tasks, or a benchmark.", metavar="SOURCE...")
    ],
    family: options.FamilyName = None,
    data: options.Data = None,
    limit: options.Limit = None,
    jobs: options.TasksAtATime = None,
    model_calls: options.ModelCalls = None,
    verdicts: options.Verdicts = None,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    reflector_model: options.ReflectorModel = None,
    temperature: options.Temperature = None,
    reflector_temperature: options.ReflectorTemperature = None,
    own_tests: options.OwnTests = False,
    test_writer_model: options.WriterModel = None,
    test_writer_temperature: options.WriterTemperature = None,
    judge_model: options.JudgeModel = None,
    judge_temperature: options.JudgeTemperature = None,
    judge_votes: options.JudgeVotes = None,
    rules: options.RulesFile = None,
    rules_limit: options.RulesLimit = None,
    max_trials: options.MaxTrials = 4,
    memory: options.MemorySize = None,
    memory_kind: options.KindOfMemory = MemoryKind.WINDOW,
    strategy: options.StrategyName = Strategy.LAST_ATTEMPT_AND_REFLEXION,
    cost_usd: options.CostUsd = None,
    tokens: options.Tokens = None,
    calls: options.Calls = None,
    seconds: options.Seconds = None,
    total_cost_usd: options.TotalCostUsd = None,
    total_tokens: options.TotalTokens = None,
    total_calls: options.TotalCalls = None,
    total_seconds: options.TotalSeconds = None,
    max_tokens: options.MaxTokens = None,
    min_gain: options.MinGain = None,
    patience: options.Patience = None,
    seed: options.Seed = 0,
    price: options.Price = None,
    timeout_s: options.CallTimeout = 300.0,
    requests_per_minute: options.RequestsPerMinute = None,
    threads: options.Threads = None,
    prompt_cache: options.PromptCache = False,
    mode: options.Mode = None,
    articles: options.Articles = None,
    examples: options.Examples = None,
    match: options.Match = None,
    max_steps: options.MaxSteps = None,
    split: options.Split = None,
    language: options.Language = None,
    url: options.Url = None,
    tasks: options.Tasks = None,
    judge: options.Judge = None,
    watch: options.Watch = None,
    stuck_cycles: options.StuckCycles = None,
    stuck_actions: options.StuckActions = None,
    journal: options.JournalPlace = None,
    no_journal: options.NoJournal = False,
    fsync: options.Fsync = False,
    record: options.Record = None,
    out: options.Out = None,
    ask: options.Ask = False,
    require_acceptance: options.RequireAcceptance = False,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Work on tasks until their checks pass.

    An agent tries, is judged, and takes a lesson into the next trial; in the end the held-out checks judge it once.
    The run is kept in a journal, and `afterword resume` goes on with one that was interrupted.
    """
    from afterword.cli.commands import conduct
    from afterword.cli.families import Settings, family_of
    from afterword.cli.plan import Plan
    from afterword.cli.results import Results, refuse_unwritable
    from afterword.cli.roles import ModelChoice
    from afterword.cli.starting import JournalChoice, new_run, secrets_of, unkept_run
    from afterword.core.budget import Allowance

    if out is not None:
        refuse_unwritable(out)
    if no_journal and (journal is not None or fsync):
        raise InputError("--no-journal keeps the run nowhere; leave it out, or leave out --journal and --fsync")
    of_family: dict[str, OptionValue] = {
        "own_tests": own_tests or None,
        "judge_votes": judge_votes,
        "mode": mode,
        "articles": articles,
        "examples": examples,
        "match": match,
        "max_steps": max_steps,
        "split": split,
        "language": language,
        "url": url,
        "tasks": None if tasks is None else str(tasks),
        "judge": judge,
        "watch": watch,
        "stuck_cycles": stuck_cycles,
        "stuck_actions": stuck_actions,
    }
    chosen = family_of(sources, family)
    of_roles = {
        "judge_model": judge_model,
        "judge_temperature": judge_temperature,
        "test_writer_model": test_writer_model,
        "test_writer_temperature": test_writer_temperature,
    }
    refuse_idle(chosen.name, of_roles)
    settings = Settings(
        models=ModelChoice(
            model=model,
            base_url=base_url,
            api_key=api_key,
            reflector_model=reflector_model,
            temperature=temperature,
            reflector_temperature=reflector_temperature,
            test_writer_model=test_writer_model,
            test_writer_temperature=test_writer_temperature,
            judge_model=judge_model,
            judge_temperature=judge_temperature,
            price=price,
            timeout_s=timeout_s,
            requests_per_minute=requests_per_minute,
            threads=threads,
            prompt_cache=prompt_cache,
        ),
        strategy=strategy,
        max_trials=max_trials,
        memory=memory,
        memory_kind=memory_kind,
        max_tokens=max_tokens,
        allowance=Allowance(calls=calls, tokens=tokens, cost_usd=cost_usd, seconds=seconds),
        min_gain=min_gain,
        patience=patience,
        seed=seed,
        ask=ask,
        allow_weak_isolation=allow_weak_isolation,
        rules=rules,
        rules_limit=rules_limit,
        data=data,
        limit=limit,
        options=stated_options(of_family, chosen),
    )
    plan = Plan(
        chosen.name,
        tuple(sources),
        settings,
        str(Path.cwd()),
        jobs,
        model_calls,
        verdicts,
        Allowance(calls=total_calls, tokens=total_tokens, cost_usd=total_cost_usd, seconds=total_seconds),
    )
    if no_journal:
        start = unkept_run(plan, record)
    else:
        choice = JournalChoice(journal, fsync, secrets_of(api_key, base_url))
        start = new_run(plan, choice, ("afterword", *without_key(sys.argv[1:])), record)
    results = Results(as_json, out)
    conduct(start, results)
    return results.exit_code(require_acceptance=require_acceptance)


def stated_options(of_family: dict[str, OptionValue], family: Family) -> dict[str, OptionValue]:
    """The options of a family that were stated; those of another one would do nothing.

    Raises:
        InputError: one of another family was stated.
    """
    stated: dict[str, OptionValue] = {name: value for name, value in of_family.items() if value is not None}
    for name in stated:
        if name not in family.options:
            raise InputError(
                f"--{name.replace('_', '-')} is no option of the family {family.name}; leave it out, or say --family"
            )
    return stated


_IDLE = {
    "qa": ("no model judges answers or writes tests", ("judge", "test_writer")),
    "decision": ("no model writes tests for a world", ("test_writer",)),
}


def refuse_idle(family: str, stated: Mapping[str, str | None]) -> None:
    """Refuses options of a model that no task of the family has a use for.

    Raises:
        InputError: one was stated.
    """
    why, roles = _IDLE.get(family, ("", ()))
    for name, value in stated.items():
        if value is not None and name.startswith(roles):
            raise InputError(f"{why}; leave out --{name.replace('_', '-')}, or say --family")


def without_key(arguments: list[str]) -> list[str]:
    """The command line without the value of --api-key."""
    kept = list(arguments)
    for place, argument in enumerate(arguments):
        if argument.startswith("--api-key="):
            kept[place] = "--api-key=…"
        elif argument == "--api-key" and place + 1 < len(kept):
            kept[place + 1] = "…"
    return kept

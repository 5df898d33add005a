"""`afterword run`: the loop on one task or on many, with progress that a person can follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from afterword.cli import options
from afterword.cli.option_groups import FamilyGroup, JournalGroup, ModelGroup, spread
from afterword.core.records import Strategy
from afterword.memories import MemoryKind


@spread
def run(
    sources: Annotated[
        list[str], typer.Argument(help="Task folders, JSON Lines of tasks, or a benchmark.", metavar="SOURCE")
    ],
    *,
    family: options.FamilyName = None,
    data: options.Data = None,
    limit: options.Limit = None,
    jobs: options.TasksAtATime = None,
    model_calls: options.ModelCalls = None,
    verdicts: options.Verdicts = None,
    models: ModelGroup,
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
    of_family: FamilyGroup,
    keeping: JournalGroup,
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
    from afterword.core.budget import Allowance

    if out is not None:
        refuse_unwritable(out)
    chosen = family_of(sources, family)
    settings = Settings(
        models=models.choice(chosen.name),
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
        options=of_family.stated(chosen),
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
    results = Results(as_json, out)
    conduct(keeping.starting(plan), results)
    return results.exit_code(require_acceptance=require_acceptance)

"""`afterword run`: the loop on one task, with progress a person can follow."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.result import exit_code, outcome_json
from afterword.core.records import Strategy
from afterword.errors import InputError
from afterword.memories import MemoryKind

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest


def run(
    sources: Annotated[
        list[str], typer.Argument(help="Task folders, JSON Lines of tasks, or a benchmark.", metavar="SOURCE...")
    ],
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
    max_tokens: options.MaxTokens = None,
    min_gain: options.MinGain = None,
    patience: options.Patience = None,
    seed: options.Seed = 0,
    price: options.Price = None,
    timeout_s: options.CallTimeout = 300.0,
    requests_per_minute: options.RequestsPerMinute = None,
    threads: options.Threads = None,
    record: options.Record = None,
    out: options.Out = None,
    ask: options.Ask = False,
    require_acceptance: options.RequireAcceptance = False,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Work on a task until its checks pass.

    An agent tries, is judged, and takes a lesson into the next trial; in the end the held-out checks judge it once.
    """
    from rich.console import Console

    from afterword.cli.families import Settings, family_of
    from afterword.cli.roles import ModelChoice
    from afterword.cli.task_run import Watched, run_task
    from afterword.core.budget import Allowance

    if out is not None:
        _refuse_unwritable(out)
    choice = ModelChoice(
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
    )
    settings = Settings(
        models=choice,
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
        options={
            **({"own_tests": True} if own_tests else {}),
            **({"judge_votes": judge_votes} if judge_votes is not None else {}),
        },
    )
    console = Console(stderr=as_json)
    written: list[OwnTest] = []
    item = next(family_of(sources, None).items(sources, settings))
    how = Watched(settings, console, record, not as_json and out is None, written.extend)
    outcome = anyio.run(run_task, item, how)
    best = outcome.best
    if as_json:
        sys.stdout.write(json.dumps(outcome_json(outcome, written)) + "\n")
    if out is not None and best is not None:
        try:
            out.write_text(best.trajectory.output, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise _unwritable(out, error) from None
    return exit_code(outcome, require_acceptance=require_acceptance)


def _refuse_unwritable(out: Path) -> None:
    """Found now and not after the money is spent."""
    there = out.exists()
    try:
        with out.open("ab"):
            pass
        if not there:
            out.unlink()
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"the program cannot be written here: {error.strerror}; give another --out", file=out)

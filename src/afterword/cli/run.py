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
from afterword.core.stopping import Plateau
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest


def run(
    task: Annotated[Path, typer.Argument(help="A task folder; `afterword new` makes one.", metavar="TASK")],
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    reflector_model: options.ReflectorModel = None,
    temperature: options.Temperature = None,
    reflector_temperature: options.ReflectorTemperature = None,
    own_tests: options.OwnTests = False,
    test_writer_model: options.WriterModel = None,
    test_writer_temperature: options.WriterTemperature = None,
    max_trials: options.MaxTrials = 4,
    memory: options.MemorySize = 1,
    strategy: options.StrategyName = Strategy.LAST_ATTEMPT_AND_REFLEXION,
    cost_usd: options.CostUsd = None,
    tokens: options.Tokens = None,
    calls: options.Calls = None,
    seconds: options.Seconds = None,
    max_tokens: options.MaxTokens = 1024,
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

    from afterword.cli.roles import ModelChoice
    from afterword.cli.task_run import RunSettings, run_task
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
        price=price,
        timeout_s=timeout_s,
        requests_per_minute=requests_per_minute,
        threads=threads,
    )
    settings = RunSettings(
        folder=task,
        models=choice,
        strategy=strategy,
        max_trials=max_trials,
        memory=memory,
        max_tokens=max_tokens,
        allowance=Allowance(calls=calls, tokens=tokens, cost_usd=cost_usd, seconds=seconds),
        stop=_plateau(min_gain, patience),
        seed=seed,
        record=record,
        ask=ask,
        allow_weak_isolation=allow_weak_isolation,
        show_program=not as_json and out is None,
        own_tests=own_tests,
    )
    console = Console(stderr=as_json)
    written: list[OwnTest] = []
    outcome = anyio.run(run_task, settings, console, written.extend)
    best = outcome.best
    if as_json:
        sys.stdout.write(json.dumps(outcome_json(outcome, written)) + "\n")
    if out is not None and best is not None:
        try:
            out.write_text(best.trajectory.output, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise _unwritable(out, error) from None
    return exit_code(outcome, require_acceptance=require_acceptance)


def _plateau(min_gain: float | None, patience: int | None) -> tuple[Plateau, ...]:
    if min_gain is not None:
        return (Plateau(min_gain) if patience is None else Plateau(min_gain, patience),)
    if patience is not None:
        raise InputError("--patience says over how many trials --min-gain looks; give --min-gain too, e.g. 0.05")
    return ()


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

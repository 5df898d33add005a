"""`afterword resume`: goes on with a run that was interrupted, from what its journal holds."""

from __future__ import annotations

from typing import Annotated

import typer

from afterword.cli import options


def resume(
    run: Annotated[
        str | None, typer.Argument(help="The run, or a part of its name. [the latest unfinished]", metavar="RUN")
    ] = None,
    jobs: options.TasksAtATime = None,
    model_calls: options.ModelCalls = None,
    verdicts: options.Verdicts = None,
    total_cost_usd: options.TotalCostUsd = None,
    total_tokens: options.TotalTokens = None,
    total_calls: options.TotalCalls = None,
    total_seconds: options.TotalSeconds = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    data: options.Data = None,
    journal: options.JournalPlace = None,
    fsync: options.Fsync = False,
    record: options.Record = None,
    require_acceptance: options.RequireAcceptance = False,
    as_json: options.AsJson = False,
) -> int:
    """Go on with a run: nothing that was paid for is asked again.

    Tasks, prompts, models and code must be what they were. A run whose budget was used up goes on with a larger one,
    and tasks without a verdict are tried again.
    """
    from afterword.cli.commands import conduct
    from afterword.cli.results import Results
    from afterword.cli.starting import Changes, JournalChoice, resumed_run
    from afterword.core.budget import Allowance

    total = Allowance(calls=total_calls, tokens=total_tokens, cost_usd=total_cost_usd, seconds=total_seconds)
    changes = Changes(api_key, base_url, jobs, model_calls, verdicts, total, data)
    results = Results(as_json)
    conduct(resumed_run(run, JournalChoice(journal, fsync, changes.secrets), changes, record), results)
    if results.compares and results.answered is None:  # a pilot has told its answer
        from afterword.cli.experiment import tell_compared

        tell_compared(results, journal)
    return results.exit_code(require_acceptance=require_acceptance)

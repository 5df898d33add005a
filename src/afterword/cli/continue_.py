"""`afterword continue`: one more trial after a rejection, with the held-out failure revealed.

Those checks are burned by it: they cannot accept anything any more, and the task stays `unverified`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from afterword.cli import options
from afterword.errors import InputError


def continue_run(
    run: Annotated[str, typer.Argument(help="The run, or a part of its name.")],
    task: Annotated[str, typer.Argument(help="The task that was rejected.")],
    reveal_held_out: Annotated[
        bool, typer.Option("--reveal-held-out", help="Show the agent the held-out failure; this burns those checks.")
    ] = False,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    data: options.Data = None,
    journal: options.JournalPlace = None,
    fsync: options.Fsync = False,
    out: options.Out = None,
    require_acceptance: options.RequireAcceptance = False,
    as_json: options.AsJson = False,
) -> int:
    """Add a trial to a rejected task.

    Its held-out failure is revealed to the agent.

    The held-out checks are visible ones from then on. A program that passes them all is `unverified` until fresh
    checks judge it.
    """
    from afterword.cli.commands import conduct
    from afterword.cli.results import Results, refuse_unwritable
    from afterword.cli.starting import Changes, JournalChoice, continued_run

    if not reveal_held_out:
        raise InputError(
            "one more trial needs something new to go by: --reveal-held-out shows the agent the held-out failure, "
            "and burns those checks"
        )
    if out is not None:
        refuse_unwritable(out)
    changes = Changes(api_key, base_url, data=data)
    results = Results(as_json, out)
    conduct(continued_run(run, task, JournalChoice(journal, fsync, changes.secrets), changes), results)
    return results.exit_code(require_acceptance=require_acceptance)

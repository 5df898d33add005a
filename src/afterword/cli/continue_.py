"""`afterword continue`: one more trial after a rejection, with the held-out failure revealed.

Those checks are burned by it: they cannot accept anything any more, and the task stays `unverified` until fresh ones
are given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.cli.departures import FreshChecks


def continue_run(
    run: Annotated[str, typer.Argument(help="The run, or a part of its name.", metavar="RUN")],
    task: Annotated[str, typer.Argument(help="The task that was rejected.", metavar="TASK")],
    reveal_held_out: Annotated[
        bool, typer.Option("--reveal-held-out", help="Show the agent the held-out failure; this burns those checks.")
    ] = False,
    held_out: Annotated[
        Path | None,
        typer.Option(help="Fresh held-out checks in place of burned ones: test functions (.py) or cases (.jsonl)."),
    ] = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    data: options.Data = None,
    journal: options.JournalPlace = None,
    fsync: options.Fsync = False,
    out: options.Out = None,
    require_acceptance: options.RequireAcceptance = False,
    as_json: options.AsJson = False,
) -> int:
    """Add a trial to a rejected task, or give it fresh checks.

    --reveal-held-out shows the agent its held-out failure.

    The held-out checks are visible ones from then on. A program that passes them all is `unverified` until fresh
    checks judge it: --held-out FILE, at once or later.
    """
    from afterword.cli.commands import conduct
    from afterword.cli.results import Results, refuse_unwritable
    from afterword.cli.starting import Changes, JournalChoice, continued_run

    if not reveal_held_out and held_out is None:
        raise InputError(
            "one more trial needs something new to go by: --reveal-held-out shows the agent the held-out failure, "
            "and burns those checks; --held-out FILE judges by fresh ones what was continued before"
        )
    if out is not None:
        refuse_unwritable(out)
    changes = Changes(api_key, base_url, data=data)
    fresh = None if held_out is None else fresh_checks(held_out)
    starting = continued_run(run, task, JournalChoice(journal, fsync, changes.secrets), changes, reveal_held_out, fresh)
    results = Results(as_json, out)
    conduct(starting, results)
    return results.exit_code(require_acceptance=require_acceptance)


def fresh_checks(file: Path) -> FreshChecks:
    """The checks of a file.

    Raises:
        InputError: it is of another kind, or cannot be read.
    """
    from afterword.cli.departures import FreshChecks

    if file.suffix not in (".py", ".jsonl"):
        raise InputError("expected held-out checks as test functions (.py) or labelled cases (.jsonl)", file=file)
    try:
        return FreshChecks(file.name, file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the checks cannot be read: {reason}", file=file) from None

"""`afterword fork`: asks what would have come of a task from one of its trials on, e.g. with another lesson."""

from __future__ import annotations

from typing import Annotated

import typer

from afterword.cli import options
from afterword.errors import InputError


def fork(
    run: Annotated[str, typer.Argument(help="The run, or a part of its name.", metavar="RUN")],
    at: Annotated[str, typer.Option(help="TASK:TRIAL: after the verdict on this trial; 0 is before the first.")],
    lesson: Annotated[str | None, typer.Option(help="Stands in place of the lesson of that trial.")] = None,
    arm: Annotated[str | None, typer.Option(help="Of an experiment: the arm. [the only one]")] = None,
    seed: Annotated[int | None, typer.Option(help="Of an experiment: the seed. [the only one]")] = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    data: options.Data = None,
    journal: options.JournalPlace = None,
    fsync: options.Fsync = False,
    out: options.Out = None,
    require_acceptance: options.RequireAcceptance = False,
    as_json: options.AsJson = False,
) -> int:
    """Start a new run from a trial of another one.

    What was recorded up to there is taken over; from there on the task is worked on anew, with today's prompts and
    models. The other run stays as it is.
    """
    from afterword.cli.commands import conduct
    from afterword.cli.results import Results, refuse_unwritable
    from afterword.cli.starting import Changes, JournalChoice, forked_run

    if out is not None:
        refuse_unwritable(out)
    point = fork_point(at)
    if lesson is not None and not lesson.strip():
        raise InputError("--lesson is empty; leave it out to have the lesson drawn anew")
    if lesson is not None and point[1] == 0:
        raise InputError("--lesson belongs to a trial, and 0 is before the first; name another --at TASK:TRIAL")
    changes = Changes(api_key, base_url, data=data)
    results = Results(as_json, out)
    choice = JournalChoice(journal, fsync, changes.secrets)
    conduct(forked_run(run, point, lesson, choice, changes, arm, seed), results)
    return results.exit_code(require_acceptance=require_acceptance)


def fork_point(at: str) -> tuple[str, int]:
    """The task and the trial of `TASK:TRIAL`; the task may hold colons.

    Raises:
        InputError: it is not of this form.
    """
    task, colon, trial = at.rpartition(":")
    if not colon or not task or not trial.isdecimal():
        raise InputError(f"--at takes TASK:TRIAL, such as double:1, found {at!r}")
    return task, int(trial)

"""`afterword rescore`: published runs executed and scored again, claimed against found."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.text import plain
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.experiments.rescore import Log, RunScore


def rescore(
    folder: Annotated[Path, typer.Argument(help="A folder with runs_*/*.jsonl and benchmarks/.", metavar="DIR")],
    run: Annotated[list[str] | None, typer.Option(help="Only this run; may be given several times.")] = None,
    language: Annotated[str | None, typer.Option(help="Only programs in this language: python or rust.")] = None,
    emulate_shared_namespace: Annotated[
        bool, typer.Option("--emulate-shared-namespace", help="Let Python programs find what earlier items left.")
    ] = False,
    paper: Annotated[Path | None, typer.Option(help="Also write the paper's tables as Markdown to this file.")] = None,
    jobs: options.Jobs = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Execute and score published runs again.

    Shows for each what it claims and what is found, item by item where they differ, with the cause.
    """
    from afterword.experiments.rescore import find_logs

    if language not in (None, "python", "rust"):
        raise InputError(f"--language is python or rust, found {language!r}")
    if paper is not None:
        _refuse_before(paper, emulate_shared_namespace)
    logs = [log for log in find_logs(folder, run or ()) if language in (None, _language(log))]
    if not logs:
        raise InputError(f"there is no run of programs in {language}", file=folder)
    scores = anyio.run(_rescore, logs, options.jobs_of(jobs), allow_weak_isolation, emulate_shared_namespace, as_json)
    if not as_json:
        _tell_findings(scores)
    if paper is not None:
        _write_paper(paper, scores, whole=not run and language is None and len(scores) == len(logs))
    return 0


async def _rescore(logs: list[Log], jobs: int, allow_weak: bool, emulate: bool, as_json: bool) -> list[RunScore]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from afterword.experiments.rescore import open_bench
    from afterword.experiments.rescore import rescore as score_again

    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        at_work = bar.add_task("", total=None)

        def progress(log: Log, done: int, of: int) -> None:
            bar.update(at_work, description=plain(log.run), completed=done, total=of)

        async with open_bench(logs, jobs=jobs, allow_weak=allow_weak) as bench:
            return await score_again(
                logs,
                bench,
                shared_namespace=emulate,
                tell=partial(_tell, as_json),
                left_out=lambda log, why: errors.print(plain(f"left out: {log.run}: {why}"), highlight=False),
                progress=progress,
            )


def _tell(as_json: bool, score: RunScore) -> None:
    if as_json:
        sys.stdout.write(json.dumps(score.told()) + "\n")
        sys.stdout.flush()
        return
    mark = "=" if score.claimed == score.found and not score.differences else "≠"
    lines = [f"{mark} {score.run}: {score.claimed} claimed, {score.found} found of {score.items}"]
    if score.by_trial:
        lines.append("    by trial: " + " ".join(str(at.found) for at in score.by_trial))
    if score.tests is not None:
        lines.append(f"    tests: {score.tests[1]} of {score.tests[0]} hold on the reference programs")
    if score.own_tests is not None:
        matrix, truth = score.own_tests.claimed, score.own_tests.found
        lines.append(
            f"    own tests passed, program wrong: {_share(matrix.false_positive, matrix.passed)} as logged, "
            f"{_share(truth.false_positive, truth.passed)} as found"
        )
    lines += [f"    {one.task_id}: {_said(one.claimed)} → {_said(one.found)}: {one.cause}" for one in score.differences]
    lines += [
        f"    {one.task_id}: passes {one.passed} of {one.of} times"
        for one in score.unstable
        if one.task_id not in {different.task_id for different in score.differences}
    ]
    sys.stdout.write("".join(plain(line) + "\n" for line in lines))
    sys.stdout.flush()


def _said(solved: bool) -> str:
    return "solved" if solved else "failed"


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({count / of:.2%})" if of else "0 of 0"


def _tell_findings(scores: list[RunScore]) -> None:
    from afterword.experiments.rescore import findings

    for finding in findings(scores):
        sys.stdout.write(plain(f"\n{finding.run}: {finding.text}") + "\n")


def _refuse_before(paper: Path, emulated: bool) -> None:
    """Before minutes are spent on what could not be written."""
    if emulated:
        raise InputError("the paper's tables are about isolated programs; leave out --emulate-shared-namespace")
    target = paper if paper.exists() else paper.parent
    if paper.is_dir() or not paper.parent.is_dir() or not os.access(target, os.W_OK):
        raise InputError(
            "expected a file that can be written for --paper, found none here; give another one", file=paper
        )


def _write_paper(paper: Path, scores: list[RunScore], *, whole: bool) -> None:
    from afterword.experiments.rescore.paper import paper_page

    try:
        paper.write_text(paper_page(scores, whole=whole), encoding="utf-8")
    except OSError as error:
        raise InputError(f"the page cannot be written here: {error.strerror}", file=paper) from None


def _language(log: Log) -> str | None:
    return str(log.rows()[0].get("language")) if log.kind == "programs" else None

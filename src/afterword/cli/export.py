"""`afterword export`: a run as data for other programs, and its accepted outputs as training data.

Everything is written as it is read, row by row, so that a large run needs no more memory than a small one.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NamedTuple

import anyio
import typer

from afterword._version import __version__
from afterword.cli import options
from afterword.cli.looking_back import burned_tasks, existing_journal, run_json
from afterword.core.effects import SHARED
from afterword.core.records import Outcome, Trial, Usage
from afterword.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from afterword.journal import EffectRow, Journal, TaskSummary, TrialRow

Json = dict[str, object]


class Format(StrEnum):
    """How a run is written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    SFT = "sft"


def export(
    run: Annotated[
        str | None, typer.Argument(help="Its name, or a part of it. [every run]", metavar="RUN", show_default=False)
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="`jsonl`: all that is recorded. `csv`, `parquet`: a row for each trial. "
            "`sft`: accepted outputs only, with their prompts, as training data.",
        ),
    ] = Format.JSONL,
    out: Annotated[Path | None, typer.Option(help="The file to write. [stdout]")] = None,
    journal: options.JournalPlace = None,
) -> int:
    """Write a run, or all runs of a journal, as data."""
    if form is Format.PARQUET and out is None:
        raise InputError("parquet is not text; say with --out where to write it")
    anyio.run(_export, run, form, out, journal)
    return 0


async def _export(run: str | None, form: Format, out: Path | None, where: str | None) -> None:
    async with existing_journal(where) as journal:
        names = [(await journal.summary(run)).id] if run is not None else [r.id for r in reversed(await journal.runs())]
        if form is Format.PARQUET:
            await _write_parquet(journal, names, out or Path("-"))
            return
        with _opened(out) as stream:
            if form is Format.CSV:
                await _write_csv(journal, names, stream)
            else:
                read = _records if form is Format.JSONL else _samples
                written = 0
                for name in names:
                    async for row in read(journal, name):
                        written += stream.write(json.dumps(row) + "\n")
                if not written:
                    why = "no task was accepted" if names else "the journal holds no run"
                    sys.stderr.write(f"{why}: nothing is written\n")


@contextmanager
def _opened(out: Path | None) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    try:
        with out.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}; give another --out", file=out) from None


async def _records(journal: Journal, run: str) -> AsyncIterator[Json]:
    """All that is recorded of a run, a kind at a time."""
    spec = await journal.spec(run)
    yield {"record": "run", **run_json(await journal.summary(run)), **asdict(spec), "command": list(spec.command)}
    for note in await journal.notes(run):
        yield {"record": "note", **asdict(note)}
    async for effect in journal.effects(run):
        yield {"record": "effect", **_effect_json(effect)}
    async for trial in journal.trials(run):
        yield {"record": "trial", **asdict(trial)}
    burned = await burned_tasks(journal, run)
    async for summary, outcome in journal.outcomes(run):
        rest = {name: value for name, value in asdict(outcome).items() if name not in ("trials", "best", "task_id")}
        best = None if outcome.best is None else outcome.best.number
        place = {"task": summary.task, "arm": summary.arm, "seed": summary.seed}
        yield {"record": "outcome", **place, **rest, "best_trial": best, "held_out_burned": summary.task in burned}


def _effect_json(effect: EffectRow) -> Json:
    names = ("task", "arm", "seed", "trial", "role", "n", "kind", "request", "result", "tries", "at", "superseded")
    row: Json = {name: getattr(effect, name) for name in names}
    return {**row, "usage": None if effect.usage is None else asdict(effect.usage)}


COLUMNS = (
    "run",
    "task",
    "arm",
    "seed",
    "trial",
    "status",
    "stop_reason",
    "submitted",
    "accepted",
    "complete",
    "passed",
    "score",
    "reason",
    "trust",
    "end",
    "checks_passed",
    "checks_total",
    "lessons_shown",
    "lesson",
    "lesson_source",
    "feedback",
    "output",
    "calls",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "held_out_burned",
)


class _Ended(NamedTuple):
    """What a task came to, for the rows of its trials."""

    status: str | None = None
    stop_reason: str | None = None
    best: int | None = None
    accepted: bool | None = None
    """What the held-out check said of the output that was submitted; None where there was none."""


async def _trial_table(journal: Journal, run: str) -> AsyncIterator[Json]:
    ends = {(task.task, task.arm, task.seed): _ended(outcome) async for task, outcome in journal.outcomes(run)}
    burned = await burned_tasks(journal, run)
    async for row in journal.trials(run):
        ended = ends.get((row.task, row.arm, row.seed), _Ended())
        yield _trial_line(run, row, ended, burned=row.task in burned)


def _ended(outcome: Outcome) -> _Ended:
    return _Ended(
        outcome.status,
        None if outcome.stop_reason is None else str(outcome.stop_reason),
        None if outcome.best is None else outcome.best.number,
        None if outcome.acceptance is None else outcome.acceptance.passed,
    )


def _trial_line(run: str, row: TrialRow, ended: _Ended, *, burned: bool) -> Json:
    trial, feedback, lesson = row.trial, row.trial.feedback, row.trial.reflection
    usage = sum(trial.usage.values(), Usage())
    values = (
        run,
        row.task,
        row.arm,
        row.seed,
        trial.number,
        ended.status,
        ended.stop_reason,
        None if ended.status is None else trial.number == ended.best,
        ended.accepted,
        row.complete,
        feedback.passed,
        feedback.score,
        feedback.reason,
        feedback.trust,
        trial.trajectory.end,
        feedback.checks_passed,
        len(feedback.checks),
        " ".join(map(str, trial.lessons_shown)),
        None if lesson is None else lesson.text,
        None if lesson is None else lesson.source,
        feedback.message,
        trial.trajectory.output if row.complete else None,
        usage.calls,
        usage.tokens_in,
        usage.tokens_out,
        usage.cost_usd,
        burned,
    )
    return dict(zip(COLUMNS, values, strict=True))


async def _write_csv(journal: Journal, runs: list[str], stream: IO[str]) -> None:
    writer = csv.DictWriter(stream, COLUMNS)
    writer.writeheader()
    for run in runs:
        async for row in _trial_table(journal, run):
            writer.writerow(row)


async def _write_parquet(journal: Journal, runs: list[str], out: Path) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("parquet", "pyarrow") from None
    kinds = {
        **dict.fromkeys(COLUMNS, pyarrow.string()),
        **dict.fromkeys(
            ("seed", "trial", "checks_passed", "checks_total", "calls", "tokens_in", "tokens_out"), pyarrow.int64()
        ),
        **dict.fromkeys(("score", "cost_usd"), pyarrow.float64()),
        **dict.fromkeys(("submitted", "accepted", "complete", "passed", "held_out_burned"), pyarrow.bool_()),
    }
    schema = pyarrow.schema([(name, kinds[name]) for name in COLUMNS])
    try:
        with parquet.ParquetWriter(out, schema) as writer:
            for run in runs:
                piece: list[Json] = []
                async for row in _trial_table(journal, run):
                    piece.append({name: _text(value) for name, value in row.items()})
                    if len(piece) >= 1000:
                        writer.write_table(pyarrow.Table.from_pylist(piece, schema))
                        piece = []
                writer.write_table(pyarrow.Table.from_pylist(piece, schema))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}; give another --out", file=out) from None


def _text(value: object) -> object:
    """Text without lone surrogates, which UTF-8 cannot hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


async def _samples(journal: Journal, run: str) -> AsyncIterator[Json]:
    """What the actor was asked and answered in the accepted trial of each accepted task."""
    async for summary, outcome in journal.outcomes(run):
        if outcome.status == "accepted" and outcome.best is not None:
            async for sample in _samples_of(journal, run, summary, outcome):
                yield sample


async def _samples_of(journal: Journal, run: str, task: TaskSummary, outcome: Outcome) -> AsyncIterator[Json]:
    best, acceptance = outcome.best, outcome.acceptance
    if best is None or acceptance is None:
        return
    calls = [
        effect
        async for effect in journal.effects(run, task=task.task)
        if (effect.arm, effect.seed, effect.trial) == (task.arm, task.seed, best.number)
        and effect.usage is not None
        and effect.role.partition("/")[0] == "actor"
        and not effect.superseded
    ]
    if best.number == 1 or not calls:  # an experiment asks once for all arms what they ask alike
        calls = await _shared_calls(journal, run, task, best) + calls
    for number, call in enumerate(calls, start=1):
        match call.request, call.result:
            case [str(model), {"messages": list(messages)}], {"text": str(text)}:
                yield {
                    "messages": [*messages, {"role": "assistant", "content": text}],
                    "output": best.trajectory.output,
                    "provenance": {
                        "run": run,
                        "task": task.task,
                        "arm": task.arm,
                        "seed": task.seed,
                        "trial": best.number,
                        "call": number,
                        "calls": len(calls),
                        "model": model,
                        "lessons_shown": list(best.lessons_shown),
                        "trust": best.feedback.trust,
                        "held_out_passed": acceptance.checks_passed,
                        "held_out_total": acceptance.checks_total,
                        "held_out_trust": acceptance.trust,
                        "leaks": len(outcome.leaks),
                        "afterword": __version__,
                    },
                }
            case _:
                pass  # a call that was kept without its request


async def _shared_calls(journal: Journal, run: str, task: TaskSummary, best: Trial) -> list[EffectRow]:
    """The calls of a trial that several arms share; none where different arms asked differently."""
    calls = [
        effect
        async for effect in journal.effects(run, task=task.task)
        if (effect.arm, effect.seed, effect.trial) == (SHARED, task.seed, best.number)
        and effect.role.partition(":")[0] == "actor"
        and not effect.superseded
    ]
    places = [call.n for call in calls]
    return calls if len(set(places)) == len(places) else []

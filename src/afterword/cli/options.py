"""The options that commands share, each said once: its type, its help, and what is read from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from afterword.core.records import Strategy
from afterword.errors import InputError
from afterword.memories import MemoryKind

ModelName = Annotated[str | None, typer.Option(help="provider:name. [AFTERWORD_MODEL, else local]")]
BaseUrl = Annotated[str | None, typer.Option(help="Where an OpenAI- or Anthropic-compatible server listens.")]
ApiKey = Annotated[str | None, typer.Option(help="Better set in the environment, e.g. as OPENAI_API_KEY.")]
ReflectorModel = Annotated[str | None, typer.Option(help="Another model for the lessons.")]
Temperature = Annotated[str | None, typer.Option(help="Of the actor: 0 to 2, or none. [0; retry: 0.7]")]
ReflectorTemperature = Annotated[str | None, typer.Option(help="Of the reflector: 0 to 2, or none. [0.2]")]
OwnTests = Annotated[
    bool, typer.Option("--own-tests", help="Let a model write the visible tests, as it does where a task has none.")
]
WriterModel = Annotated[str | None, typer.Option("--test-writer-model", help="Another model for own tests.")]
WriterTemperature = Annotated[
    str | None, typer.Option("--test-writer-temperature", help="Of the test writer: 0 to 2, or none. [0.2]")
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="The model that judges by judge.md; another than the actor's.")
]
JudgeTemperature = Annotated[
    str | None, typer.Option("--judge-temperature", help="Of the judge: 0 to 2, or none. [0; several votes: 0.7]")
]
JudgeVotes = Annotated[int | None, typer.Option("--judge-votes", help="Replies of the judge; most of them decide. [1]")]
RulesFile = Annotated[
    Path | None, typer.Option("--rules", help="Accepted rules of `afterword lessons`, for the actor's system prompt.")
]
RulesLimit = Annotated[
    int | None, typer.Option("--rules-limit", help="At most so many a task, the most similar. [all]")
]
Price = Annotated[str | None, typer.Option(help="IN,OUT in USD per million tokens, where the price is not known.")]
CallTimeout = Annotated[float, typer.Option(help="Most seconds of one model call.")]
RequestsPerMinute = Annotated[int | None, typer.Option(help="Most model calls a minute.")]
Threads = Annotated[int | None, typer.Option(help="Of the local model. [what is idle]")]

MaxTrials = Annotated[int, typer.Option(help="Most trials.")]
MemorySize = Annotated[int | None, typer.Option(help="How many lessons are kept. [programs: 1, else 3]")]
KindOfMemory = Annotated[
    MemoryKind, typer.Option("--memory-kind", help="How lessons are kept: the last, condensed, grouped, looked up.")
]
StrategyName = Annotated[Strategy, typer.Option(help="What a trial hands to the next.")]
MaxTokens = Annotated[int | None, typer.Option(help="Most tokens of one reply of the actor. [programs: 1024]")]
CostUsd = Annotated[float | None, typer.Option(help="Most money; needs a known price.")]
Tokens = Annotated[int | None, typer.Option(help="Most tokens, prompt and reply together.")]
Calls = Annotated[int | None, typer.Option(help="Most model calls.")]
Seconds = Annotated[float | None, typer.Option(help="Most wall time.")]
MinGain = Annotated[float | None, typer.Option(help="Stop when the score rises by less. [off]")]
Patience = Annotated[int | None, typer.Option(help="Over so many trials, with --min-gain. [2]")]
Seed = Annotated[int, typer.Option(help="Of everything that is random here.")]

Record = Annotated[Path | None, typer.Option(help="Keep every model call in this file.")]
Out = Annotated[Path | None, typer.Option(help="Write the best program to this file.")]
Ask = Annotated[bool, typer.Option("--ask", help="Accept, edit or replace each lesson yourself.")]
RequireAcceptance = Annotated[bool, typer.Option("--require-acceptance", help="`unverified` exits with 1.")]
AllowWeakIsolation = Annotated[
    bool, typer.Option("--allow-weak-isolation", help="Run programs even where a hostile one cannot be kept in.")
]
Jobs = Annotated[int | None, typer.Option(help="Verdicts at a time. [one a processor]")]
JournalPlace = Annotated[
    str | None,
    typer.Option(
        "--journal",
        metavar="PATH|URL",
        help="Where runs are kept: a file or postgresql://HOST/NAME. [below the user's data folder]",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


def jobs_of(stated: int | None) -> int:
    """How many verdicts are reached at a time.

    Raises:
        InputError: a number below 1 is stated.
    """
    if stated is not None and stated < 1:
        raise InputError(f"--jobs takes a number from 1, found {stated}")
    return stated or os.cpu_count() or 1

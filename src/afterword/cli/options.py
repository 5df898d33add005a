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
Temperature = Annotated[str | None, typer.Option(help="Of the actor: 0 to 2, or none. [0; retry and pilot: 0.7]")]
ReflectorTemperature = Annotated[str | None, typer.Option(help="Of the reflector: 0 to 2, or none. [0.2]")]
OwnTests = Annotated[
    bool, typer.Option("--own-tests", help="Let a model write the visible tests, as it does where a task has none.")
]
Consensus = Annotated[
    int | None, typer.Option(help="Own tests: so many suites, odd; a test needs more than half of them. [1]")
]
MutationCheck = Annotated[
    bool, typer.Option("--mutation-check", help="Own tests: ask for more where mutants of the program pass them.")
]
TestReview = Annotated[
    bool, typer.Option("--test-review", help="Own tests: a disputed one may be set aside by a reviewer; one at most.")
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
PromptCache = Annotated[
    bool,
    typer.Option("--prompt-cache", help="Local model: do not read a prompt's known beginning again; less repeatable."),
]

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
NoJournal = Annotated[bool, typer.Option("--no-journal", help="Keep the run nowhere; it cannot be resumed.")]
Fsync = Annotated[bool, typer.Option("--fsync", help="Wait for the disk, so that a power loss takes nothing back.")]

FamilyName = Annotated[str | None, typer.Option("--family", help="programming, qa or decision. [by the sources]")]
Data = Annotated[Path | None, typer.Option(help="The folder with published benchmarks. [AFTERWORD_DATA]")]
Limit = Annotated[int | None, typer.Option(help="At most so many tasks, the first ones.")]
TasksAtATime = Annotated[int | None, typer.Option("--jobs", help="Tasks at a time. [8; local model: 2; scripted: 1]")]
ModelCalls = Annotated[int | None, typer.Option(help="Model calls at a time, of all tasks. [as many as tasks]")]
Verdicts = Annotated[int | None, typer.Option(help="Verdicts at a time, of all tasks. [one a processor]")]
TotalCostUsd = Annotated[float | None, typer.Option(help="Most money of the whole run; needs a known price.")]
TotalTokens = Annotated[int | None, typer.Option(help="Most tokens of the whole run.")]
TotalCalls = Annotated[int | None, typer.Option(help="Most model calls of the whole run.")]
TotalSeconds = Annotated[float | None, typer.Option(help="Most wall time of this session.")]

Mode = Annotated[str | None, typer.Option(help="qa: cot, cot-context or react. [with the context where there is one]")]
Articles = Annotated[
    str | None, typer.Option(help="qa, react: a JSON Lines file of articles, wikipedia, or the URL of a MediaWiki.")
]
Examples = Annotated[int | None, typer.Option(help="qa: so many worked examples in the prompt.")]
Match = Annotated[str | None, typer.Option(help="qa: how answers are compared, official, f1 or strict. [official]")]
MaxSteps = Annotated[int | None, typer.Option(help="qa, decision: most steps of a trial.")]
Split = Annotated[str | None, typer.Option(help="decision: which part of ALFWorld.")]
Language = Annotated[str | None, typer.Option(help="decision: the commands of ALFWorld, new or old.")]
Url = Annotated[str | None, typer.Option(help="decision: where a WebShop server listens.")]
Tasks = Annotated[Path | None, typer.Option(help="decision: a JSON Lines file of tasks for the world.")]
Judge = Annotated[str | None, typer.Option(help="decision: environment, heuristic or model. [environment]")]
Watch = Annotated[str | None, typer.Option(help="decision: who ends a stuck trial, heuristic, model or off.")]
StuckCycles = Annotated[int | None, typer.Option(help="decision: so often the same action and answer is stuck. [3]")]
StuckActions = Annotated[int | None, typer.Option(help="decision: more actions than this is stuck. [30]")]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


def jobs_of(stated: int | None) -> int:
    """How many verdicts are reached at a time.

    Raises:
        InputError: a number below 1 is stated.
    """
    if stated is not None and stated < 1:
        raise InputError(f"--jobs takes a number from 1, found {stated}")
    return stated or os.cpu_count() or 1

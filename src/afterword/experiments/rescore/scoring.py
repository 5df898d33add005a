"""All published runs of a folder, scored with the judges that they need and told one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from afterword.errors import InputError
from afterword.evaluators.function_tests import JudgePool
from afterword.evaluators.languages import LANGUAGES, open_judge
from afterword.experiments.in_order import in_order
from afterword.experiments.rescore.answers import score_games, score_own_tests, score_questions
from afterword.experiments.rescore.logs import Log, text
from afterword.experiments.rescore.programs import Judges, score_programs
from afterword.experiments.rescore.scores import RunScore
from afterword.sandbox import open_sandbox

Progress = Callable[[Log, int, int], None]
"""Gets the run at work and how many of its items are judged."""
_AT_ONCE = 3
"""A run may wait a minute for one program that never ends; meanwhile the judges serve the next runs."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges, open; without Rust where it is not installed."""

    judges: Judges
    no_rust: str = ""
    """Why programs in Rust cannot be judged."""


@asynccontextmanager
async def open_bench(logs: Sequence[Log], *, jobs: int = 2, allow_weak: bool = False) -> AsyncIterator[Bench]:
    """Opens what the runs need and nothing else.

    Raises:
        InputError: only a weak isolation is there.
        SandboxFault: no sandbox works.
    """
    rust, no_rust = None, ""
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(open_sandbox(workers=jobs, allow_weak=allow_weak))
        companions = None
        if any(log.kind == "own_tests" for log in logs):  # tests that a model wrote are no more trusted than programs
            companions = await stack.enter_async_context(open_sandbox(workers=jobs, allow_weak=allow_weak))
        python = await stack.enter_async_context(JudgePool(sandbox, workers=jobs, companions=companions))
        if any(log.kind == "programs" and _language(log) == "rust" for log in logs):
            try:
                rust = await stack.enter_async_context(
                    open_judge(LANGUAGES["rust"], workers=jobs, allow_weak=allow_weak)
                )
            except InputError as error:
                no_rust = str(error)
        yield Bench(Judges(python, rust, jobs), no_rust)


async def rescore(
    logs: Sequence[Log],
    bench: Bench,
    *,
    shared_namespace: bool = False,
    tell: Callable[[RunScore], None],
    left_out: Callable[[Log, str], None],
    progress: Progress = lambda log, done, of: None,  # noqa: ARG005
) -> list[RunScore]:
    """Scores runs in their order; `tell` gets each as it is done, `left_out` those that cannot be scored here.

    Raises:
        InputError: a log cannot be read.
        Fault: the sandbox broke.
    """
    scores: list[RunScore] = []
    able = []
    for log in logs:
        if log.kind == "programs" and _language(log) == "rust" and bench.no_rust:
            left_out(log, bench.no_rust)
        else:
            able.append(log)

    def progress_of(log: Log, done: int, of: int) -> None:
        if log is able[len(scores)]:
            progress(log, done, of)

    def told(_: Log, score: RunScore) -> None:
        scores.append(score)
        tell(score)

    await in_order(able, _AT_ONCE, lambda log: _score(log, bench, shared_namespace, progress_of), told)
    return scores


async def _score(log: Log, bench: Bench, shared_namespace: bool, progress: Progress) -> RunScore:
    def told(done: int, of: int) -> None:
        progress(log, done, of)

    if log.kind == "programs":
        return await score_programs(log, bench.judges, shared_namespace=shared_namespace, tell=told)
    if log.kind == "own_tests":
        return await score_own_tests(log, bench.judges.python, bench.judges.jobs, tell=told)
    return score_questions(log) if log.kind == "questions" else score_games(log)


def _language(log: Log) -> str:
    return text(log.rows()[0], "language", log.file)

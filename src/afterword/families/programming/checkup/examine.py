"""Judges what a check-up needs judged: trivial programs, the solution again and again, its mutants.

Nothing is concluded and nothing is kept here; `findings` reads the records that come out.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import anyio

from afterword.core.protocols import Sandbox
from afterword.core.records import Feedback, Limits
from afterword.errors import InputError
from afterword.evaluators.command import CommandCheck
from afterword.evaluators.function_tests import JudgePool, Suite, refuse_unusable
from afterword.evaluators.languages import LanguageSuite
from afterword.families.programming.checkup.expected import known_answers
from afterword.families.programming.checkup.records import Examination, MutantVerdict, Part, PartVerdicts, Repeated
from afterword.families.programming.checkup.trivial import Trivial, memorising, shape_of, trivial_programs
from afterword.families.programming.mutants import Mutant, mutants
from afterword.families.programming.task import ProgrammingTask

SOLUTION = "the solution"
SLOW_SHARE = 0.5
"""Of the time of one verdict: a suite that takes more has its checks timed one by one."""
_MAX_TIMED = 100
# A mutant may run for ever; one that takes ten times as long as the solution is taken for such a one.
_MUTANT_SLOWNESS = 10.0
_MUTANT_MIN_S = 1.0

T = TypeVar("T")


class OpenSandbox(Protocol):
    """`afterword.sandbox.open_sandbox` with all settled that is not asked for here."""

    def __call__(
        self, *, workers: int, environment: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[Sandbox]: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """How thorough a check-up is."""

    repeats: int = 5
    """Verdicts on each of a few programs, each under a seed of its own."""
    mutants: int = 30
    seed: int = 0
    workers: int = 2


async def examine(
    task: ProgrammingTask, open_sandbox: OpenSandbox, settings: Settings, solution: str | None
) -> Examination:
    """Judges trivial programs, and `solution` and its mutants if it is given, by all checks of a task.

    Raises:
        InputError: the tests cannot run at all, or the solution cannot be parsed.
        SandboxFault: a verdict could not be reached.
    """
    parts = _parts(task)
    changed = mutants(solution, seed=settings.seed, limit=settings.mutants) if solution is not None else ()
    async with (
        open_sandbox(workers=settings.workers) as sandbox,
        JudgePool(sandbox, workers=settings.workers) as judges,
    ):
        model = f"{task.task.inputs.get('signature') or ''}\n{solution or ''}"
        first = [await _first_verdicts(part, judges, model, solution) for part in parts]
        again = await _again(first, open_sandbox, settings, solution)
        timed = [await _timed(one, judges, solution) for one in again]
        seen = await _with_memorised(timed, judges, model)
        passes = solution is not None and all(one.solution is not None and one.solution.passed for one in seen)
        verdicts = await _mutant_verdicts(changed, seen, judges) if passes else None
    return Examination(task.task.id, sandbox.isolation, settings.repeats, tuple(seen), verdicts)


def _parts(task: ProgrammingTask) -> list[Part]:
    if isinstance(task.visible, LanguageSuite):
        language = task.visible.language.title
        raise InputError(f"`check` examines the tests of Python tasks, and {task.task.id!r} is in {language}")
    if isinstance(task.visible, CommandCheck):
        raise InputError(
            f"`check` examines the tests of Python tasks, and a command judges {task.task.id!r}; "
            "it is tried out at the start of each run"
        )
    named = (("visible", task.visible), ("held_out", task.held_out))
    parts = [
        Part(name, suite, task.limits_of(held_out=name == "held_out"))
        for name, suite in named
        if isinstance(suite, Suite)
    ]
    if not parts:
        raise InputError(f"the task {task.task.id!r} has no checks that could be examined; add some")
    return parts


async def _all(work: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The results of all, in order; the pool decides how many run at a time."""
    results: dict[int, T] = {}

    async def one(number: int) -> None:
        results[number] = await work[number]()

    async with anyio.create_task_group() as group:
        for number in range(len(work)):
            group.start_soon(one, number)
    return [results[number] for number in range(len(work))]


def _verdicts(sources: Sequence[str], part: Part, judges: JudgePool) -> Awaitable[list[Feedback]]:
    def ask(source: str) -> Callable[[], Awaitable[Feedback]]:
        async def verdict() -> Feedback:
            first = await judges.judge(source, part.suite, part.limits)
            # Another chance, since on a busy machine a verdict can run out of time through nobody's fault
            return await judges.judge(source, part.suite, part.limits) if first.reason == "timeout" else first

        return verdict

    return _all([ask(source) for source in sources])


async def _first_verdicts(part: Part, judges: JudgePool, model: str, solution: str | None) -> PartVerdicts:
    programs = trivial_programs(part.suite, shape_of(part.suite, model))
    asked = [program.source for program in programs] + ([] if solution is None else [solution])
    verdicts = await _verdicts(asked, part, judges)
    for verdict in verdicts:
        refuse_unusable(verdict, part.suite)
    trivial = tuple(zip(programs, verdicts[: len(programs)], strict=True))
    return PartVerdicts(part, trivial, (), None if solution is None else verdicts[-1])


def _repeated_programs(one: PartVerdicts, solution: str | None) -> list[tuple[str, str, Feedback]]:
    """(name, source, first verdict) of what is judged again: the solution and the two programs that answer most."""

    def passed(pair: tuple[Trivial, Feedback]) -> int:
        return -sum(check.passed for check in pair[1].checks)

    nothing, *others = one.trivial
    chosen = [nothing, min(others, key=passed)]
    programs = [(program.name, program.source, verdict) for program, verdict in chosen]
    if solution is not None and one.solution is not None:
        programs.insert(0, (SOLUTION, solution, one.solution))
    return programs


async def _again(
    first: Sequence[PartVerdicts], open_sandbox: OpenSandbox, settings: Settings, solution: str | None
) -> list[PartVerdicts]:
    """With further verdicts on a few programs, each round of them under a seed of its own."""
    programs = [_repeated_programs(one, solution) for one in first]
    free = anyio.Semaphore(settings.workers)

    def round_under(seed: int) -> Callable[[], Awaitable[list[list[Feedback]]]]:
        async def judged() -> list[list[Feedback]]:
            async with (
                free,
                open_sandbox(workers=1, environment={"PYTHONHASHSEED": str(seed)}) as sandbox,
                JudgePool(sandbox, workers=1, seed=seed) as judges,
            ):
                sources = [[source for _, source, _ in asked] for asked in programs]
                return [await _verdicts(asked, one.part, judges) for one, asked in zip(first, sources, strict=True)]

        return judged

    seeds = random.Random(settings.seed).sample(range(1, 2**32), settings.repeats - 1)  # noqa: S311  no secret
    rounds = await _all([round_under(seed) for seed in seeds])
    found = []
    for at, one in enumerate(first):
        repeated = tuple(
            Repeated(name, (verdict, *(verdicts[at][index] for verdicts in rounds)))
            for index, (name, _, verdict) in enumerate(programs[at])
        )
        slowest_s = max(min(verdict.wall_s for verdict in each.verdicts) for each in repeated)
        found.append(replace(one, repeated=repeated, slowest_s=slowest_s))
    return found


async def _timed(one: PartVerdicts, judges: JudgePool, solution: str | None) -> PartVerdicts:
    """With the time of each check alone, if the suite as a whole is slow."""
    part = one.part
    if one.slowest_s <= part.limits.wall_s * SLOW_SHARE:
        return one
    source = solution if solution is not None else one.trivial[0][0].source
    alone: dict[str, float] = {}
    for check_id in part.suite.check_ids[:_MAX_TIMED]:
        verdict = await judges.judge(source, part.suite.select([check_id]), part.limits)
        alone[check_id] = verdict.wall_s
    return replace(one, alone_s=alone)


async def _with_memorised(seen: Sequence[PartVerdicts], judges: JudgePool, model: str) -> list[PartVerdicts]:
    """With the verdict of the held-out checks on a program that only knows the visible answers."""
    parts: Mapping[str, PartVerdicts] = {one.part.name: one for one in seen}
    if set(parts) != {"visible", "held_out"}:
        return list(seen)
    held_out = parts["held_out"].part
    source = memorising(known_answers(parts["visible"].part.suite), shape_of(held_out.suite, model))
    if source is None:
        return list(seen)
    verdict = await judges.judge(source, held_out.suite, held_out.limits)
    return [replace(one, memorised=verdict) if one.part is held_out else one for one in seen]


async def _mutant_verdicts(
    changed: Sequence[Mutant], seen: Sequence[PartVerdicts], judges: JudgePool
) -> tuple[MutantVerdict, ...]:
    """Each mutant goes to the visible checks, and to the held-out ones if it survives them."""
    killed: dict[int, str] = {}
    for one in seen:
        left = [number for number in range(len(changed)) if number not in killed]
        judged = partial(judges.judge, suite=one.part.suite, limits=_mutant_limits(one))
        verdicts = await _all([partial(judged, changed[number].source) for number in left])
        killed |= {number: one.part.name for number, verdict in zip(left, verdicts, strict=True) if not verdict.passed}
    return tuple(MutantVerdict(mutant, killed.get(number)) for number, mutant in enumerate(changed))


def _mutant_limits(one: PartVerdicts) -> Limits:
    limits = one.part.limits
    return replace(limits, wall_s=min(limits.wall_s, max(_MUTANT_MIN_S, one.slowest_s * _MUTANT_SLOWNESS)))

"""`afterword exam`: can this model say what is wrong with a program, and does saying so help the actor?"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.asking import open_asked
from afterword.cli.exam_kept import KeptExam, open_kept
from afterword.cli.exam_result import Exam, Seen, exam_json, exam_text
from afterword.cli.option_groups import AskingGroup, spread
from afterword.cli.roles import ModelChoice, Role, roles_of
from afterword.cli.starting import JournalChoice, secrets_of
from afterword.cli.text import counted, money, plain, shortened
from afterword.core.records import Strategy
from afterword.errors import BudgetExhausted, Fault, InputError

if TYPE_CHECKING:
    from afterword.core.effects import Effects
    from afterword.core.protocols import Actor, Reflector
    from afterword.evaluators.function_tests import JudgePool
    from afterword.experiments.exam import Examined, PlantedBug
    from afterword.families.programming.benchmarks import BenchmarkTask

FAULTED = 3
ITEMS = 10


@spread
def exam(
    *,
    model: Annotated[
        list[str] | None, typer.Option(help="An actor; may be given several times. [AFTERWORD_MODEL, else local]")
    ] = None,
    reflector_model: Annotated[
        list[str] | None, typer.Option(help="A reflector; may be given several times. [each actor's model]")
    ] = None,
    items: Annotated[int, typer.Option(help="Planted bugs.")] = ITEMS,
    data: Annotated[
        Path | None, typer.Option(help="Also take the bugs of QuixBugs, from this folder of benchmarks.")
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Let each actor also try without a lesson.")
    ] = True,
    temperature: options.Temperature = None,
    reflector_temperature: options.ReflectorTemperature = None,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of one reply of the actor.")] = 1024,
    asking: AskingGroup,
    seed: options.Seed = 0,
    journal: options.JournalPlace = None,
    no_journal: options.NoJournal = False,
    record: options.Record = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Examine a reflector before money is spent.

    Plants single bugs in right programs, has each reflector write its lesson, counts how many lessons name the bug, and
    how many programs each actor then repairs. What models say is kept in a journal run; the same command goes on with
    one that was interrupted.
    """
    if no_journal and journal is not None:
        raise InputError("--no-journal keeps the exam nowhere; leave it out, or leave out --journal")
    if items < 1:
        raise InputError(f"--items takes a number from 1, found {items}")
    choice = asking.choice(temperature=temperature, reflector_temperature=reflector_temperature)
    actors, reflectors = _cast(choice, model or [], reflector_model or [])
    asked = Exam(
        actors,
        reflectors,
        items,
        seed,
        data,
        baseline,
        asking.allowance,
        max_tokens,
        record,
        None if no_journal else JournalChoice(journal, secrets=secrets_of(asking.api_key, asking.base_url)),
        allow_weak_isolation,
    )
    seen = anyio.run(_examine, asked, as_json)
    if not seen.examined:
        raise InputError(f"the budget ended before the first bug was through: {seen.ended}")
    sys.stdout.write(json.dumps(exam_json(asked, seen)) + "\n" if as_json else exam_text(asked, seen))
    return FAULTED if any(item.faults for item in seen.examined) else 0


def _cast(
    choice: ModelChoice, actors: Sequence[str], reflectors: Sequence[str]
) -> tuple[tuple[Role, ...], tuple[Role, ...]]:
    """The actors and reflectors, each once, in the order in which they were named."""
    first = roles_of(replace(choice, model=actors[0] if actors else None), Strategy.REFLEXION).actor.name
    actor_names = list(dict.fromkeys(actors or [first]))
    reflector_names = list(dict.fromkeys(reflectors or actor_names))
    played = [
        roles_of(replace(choice, model=actor_names[0], reflector_model=name), Strategy.REFLEXION).reflector
        for name in reflector_names
    ]
    acting = [roles_of(replace(choice, model=name), Strategy.REFLEXION).actor for name in actor_names]
    return tuple(acting), tuple(played)


async def _examine(exam: Exam, quiet: bool) -> Seen:
    from afterword.families.programming import load_benchmark

    published = [] if exam.data is None else load_benchmark("quixbugs", exam.data)
    async with AsyncExitStack() as stack:
        kept = await open_kept(exam, stack)
        return await _with_models(exam, published, kept, stack, quiet)


async def _with_models(
    exam: Exam, published: list[BenchmarkTask], kept: KeptExam | None, stack: AsyncExitStack, quiet: bool
) -> Seen:
    from afterword.evaluators.function_tests import JudgePool
    from afterword.experiments.exam import examine
    from afterword.families.programming import ProgramActor, program_reflector
    from afterword.sandbox import open_sandbox

    roles = [*(("actor", one) for one in exam.actors), *(("reflector", one) for one in exam.reflectors)]
    found: list[Examined] = []
    ended = ""
    sandbox = await stack.enter_async_context(open_sandbox(workers=1, allow_weak=exam.allow_weak))
    judges = await stack.enter_async_context(JudgePool(sandbox, workers=1))
    used = None if kept is None else kept.used
    asked = await stack.enter_async_context(open_asked(roles, exam.allowance, exam.record, used))
    opened = iter(asked.models)
    actors: list[tuple[str, Actor]] = [
        (one.name, ProgramActor(next(opened), one.temperature, exam.max_tokens)) for one in exam.actors
    ]
    reflectors: list[tuple[str, Reflector]] = [
        (one.name, program_reflector(next(opened), one.temperature)) for one in exam.reflectors
    ]
    arms: dict[str, Effects] = {}

    def effects(task: str, arm: str) -> Effects:
        arms[arm] = asked.effects(task, arm, exam.seed, None if kept is None else kept.run.recorder)
        return arms[arm]

    try:
        async for bug in _bugs(exam, published, judges):
            found.append(await examine(bug, reflectors, actors, judges, effects, baseline=exam.baseline))
            if not found[-1].answered and len(found) == 1:
                raise Fault(found[-1].faults[0])  # what keeps every model from answering will go on to
            if kept is not None:
                await kept.finish(found[-1], arms)
            if not quiet:
                if len(found) == 1 and kept is not None:
                    sys.stderr.write(f"run {kept.run.id}{' is gone on with' if kept.run.resumed else ''}\n")
                _tell(found[-1], len(found), exam.items)
    except BudgetExhausted as refused:
        ended = str(refused)
    if kept is not None and not ended and not any(item.faults for item in found):
        await kept.run.end()
    spent = asked.spent
    told = f"{counted(spent.calls, 'call')}, {spent.tokens_in:,} + {spent.tokens_out:,} tokens, {money(spent.cost_usd)}"
    return Seen(tuple(found), told, ended, "" if kept is None else kept.run.id)


async def _bugs(exam: Exam, published: list[BenchmarkTask], judges: JudgePool) -> AsyncIterator[PlantedBug]:
    """So many bugs: planted ones, in turn with published ones where there are data."""
    from afterword.experiments.exam import known_right_programs, plant, planted_quixbugs

    sources = [plant(known_right_programs(), judges, seed=exam.seed)]
    if published:
        random.Random(exam.seed).shuffle(published)  # noqa: S311  a choice, not a secret
        sources.append(planted_quixbugs(published, judges))
    given = 0
    while sources:
        for source in list(sources):
            bug = await anext(source, None)
            if bug is None:
                sources.remove(source)
                continue
            yield bug
            given += 1
            if given == exam.items:
                return


def _tell(item: Examined, number: int, of: int) -> None:
    """One line on stderr for each bug, as it goes."""
    said = "".join("✓" if one.naming.named else "~" if one.naming.pointed else "✗" for one in item.diagnoses)
    repaired = "".join("?" if one.passed is None else "✓" if one.passed else "✗" for one in item.repairs)
    sys.stderr.write(
        plain(f"{number}/{of}  {shortened(item.bug.id, 40):<40}  named {said}  repaired {repaired}") + "\n"
    )
    sys.stderr.flush()

"""`afterword exam`: can this model say what is wrong with a program, and does saying so help the actor?"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.asking import open_asked
from afterword.cli.roles import ModelChoice, Role, roles_of
from afterword.cli.shares import short_share
from afterword.cli.text import counted, money, plain, shortened
from afterword.core.budget import Allowance
from afterword.core.records import Strategy
from afterword.errors import BudgetExhausted, Fault, InputError

if TYPE_CHECKING:
    from afterword.core.protocols import Actor, Reflector
    from afterword.evaluators.function_tests import JudgePool
    from afterword.experiments.exam import Examined, PlantedBug

FAULTED = 3
ITEMS = 10


@dataclass(frozen=True, slots=True)
class Exam:
    """What is examined, and on what."""

    actors: tuple[Role, ...]
    reflectors: tuple[Role, ...]
    items: int
    seed: int
    data: Path | None
    baseline: bool
    allowance: Allowance
    max_tokens: int
    record: Path | None
    allow_weak: bool


def exam(
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
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    temperature: options.Temperature = None,
    reflector_temperature: options.ReflectorTemperature = None,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of one reply of the actor.")] = 1024,
    cost_usd: options.CostUsd = None,
    tokens: options.Tokens = None,
    calls: options.Calls = None,
    seed: options.Seed = 0,
    price: options.Price = None,
    timeout_s: options.CallTimeout = 300.0,
    requests_per_minute: options.RequestsPerMinute = None,
    threads: options.Threads = None,
    record: options.Record = None,
    allow_weak_isolation: options.AllowWeakIsolation = False,
    as_json: options.AsJson = False,
) -> int:
    """Examine a reflector before money is spent.

    Plants single bugs in right programs, has each reflector write its lesson, counts how many lessons name the bug, and
    how many programs each actor then repairs.
    """
    if items < 1:
        raise InputError(f"--items takes a number from 1, found {items}")
    choice = ModelChoice(
        base_url=base_url,
        api_key=api_key,
        temperature=temperature,
        reflector_temperature=reflector_temperature,
        price=price,
        timeout_s=timeout_s,
        requests_per_minute=requests_per_minute,
        threads=threads,
    )
    actors, reflectors = _cast(choice, model or [], reflector_model or [])
    asked = Exam(
        actors,
        reflectors,
        items,
        seed,
        data,
        baseline,
        Allowance(calls=calls, tokens=tokens, cost_usd=cost_usd),
        max_tokens,
        record,
        allow_weak_isolation,
    )
    seen = anyio.run(_examine, asked, as_json)
    if not seen.examined:
        raise InputError(f"the budget ended before the first bug was through: {seen.ended}")
    sys.stdout.write(json.dumps(_as_json(asked, seen)) + "\n" if as_json else _as_text(asked, seen))
    return FAULTED if any(item.faults for item in seen.examined) else 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of an exam."""

    examined: tuple[Examined, ...]
    told: str
    """What it cost."""
    ended: str = ""
    """Why it ended early."""


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
    from afterword.evaluators.function_tests import JudgePool
    from afterword.experiments.exam import examine
    from afterword.families.programming import ProgramActor, program_reflector
    from afterword.sandbox import open_sandbox

    roles = [*(("actor", one) for one in exam.actors), *(("reflector", one) for one in exam.reflectors)]
    found: list[Examined] = []
    ended = ""
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(open_sandbox(workers=1, allow_weak=exam.allow_weak))
        judges = await stack.enter_async_context(JudgePool(sandbox, workers=1))
        asked = await stack.enter_async_context(open_asked(roles, exam.allowance, exam.record))
        opened = iter(asked.models)
        actors: list[tuple[str, Actor]] = [
            (one.name, ProgramActor(next(opened), one.temperature, exam.max_tokens)) for one in exam.actors
        ]
        reflectors: list[tuple[str, Reflector]] = [
            (one.name, program_reflector(next(opened), one.temperature)) for one in exam.reflectors
        ]
        try:
            async for bug in _bugs(exam, judges):
                effects = partial(asked.effects, seed=exam.seed)
                found.append(await examine(bug, reflectors, actors, judges, effects, baseline=exam.baseline))
                if not found[-1].answered and len(found) == 1:
                    raise Fault(found[-1].faults[0])  # what keeps every model from answering will go on to
                if not quiet:
                    _tell(found[-1], len(found), exam.items)
        except BudgetExhausted as refused:
            ended = str(refused)
        spent = asked.spent
    told = f"{counted(spent.calls, 'call')}, {spent.tokens_in:,} + {spent.tokens_out:,} tokens, {money(spent.cost_usd)}"
    return Seen(tuple(found), told, ended)


async def _bugs(exam: Exam, judges: JudgePool) -> AsyncIterator[PlantedBug]:
    """So many bugs: planted ones, in turn with published ones where there are data."""
    from afterword.experiments.exam import known_right_programs, plant, planted_quixbugs
    from afterword.families.programming import load_benchmark

    sources = [plant(known_right_programs(), judges, seed=exam.seed)]
    if exam.data is not None:
        tasks = load_benchmark("quixbugs", exam.data)
        random.Random(exam.seed).shuffle(tasks)  # noqa: S311  a choice, not a secret
        sources.append(planted_quixbugs(tasks, judges))
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


def _as_json(exam: Exam, seen: Seen) -> dict[str, object]:
    from afterword.experiments.exam import BASELINE
    from afterword.experiments.statistics import wilson

    def rate(values: Sequence[bool]) -> dict[str, object]:
        estimate = wilson(sum(values), len(values))
        return {"count": sum(values), "total": len(values), "low": estimate.low, "high": estimate.high}

    reflectors = {
        role.name: {
            "named": rate(_named(seen, role.name)),
            "pointed": rate(_pointed(seen, role.name)),
        }
        for role in exam.reflectors
    }
    names = [*([BASELINE] if exam.baseline else []), *(role.name for role in exam.reflectors)]
    table = [
        {"actor": actor.name, "reflector": name, "repaired": rate(_repaired(seen, actor.name, name))}
        for actor in exam.actors
        for name in names
    ]
    return {
        "seed": exam.seed,
        "items": [_item_json(item) for item in seen.examined],
        "reflectors": reflectors,
        "table": table,
        "ended": seen.ended or None,
        "spent": seen.told,
    }


def _item_json(item: Examined) -> dict[str, object]:
    return {
        "id": item.bug.id,
        "line": item.bug.lines[0],
        "wrong": str(item.bug.wrong),
        "fix": str(item.bug.fix),
        "diagnoses": [
            {
                "reflector": one.reflector,
                "lesson": None if one.lesson is None else one.lesson.text,
                "problems": [] if one.lesson is None else list(one.lesson.problems),
                "line": one.naming.line,
                "code": one.naming.code,
                "names": one.naming.names,
                "fault": one.fault or None,
            }
            for one in item.diagnoses
        ],
        "repairs": [
            {"actor": one.actor, "reflector": one.reflector, "passed": one.passed, "fault": one.fault or None}
            for one in item.repairs
        ],
    }


def _as_text(exam: Exam, seen: Seen) -> str:
    from afterword.experiments.exam import BASELINE

    names = [*([BASELINE] if exam.baseline else []), *(role.name for role in exam.reflectors)]
    heads = ["", "names the bug", "points at it", *(f"repaired by {actor.name}" for actor in exam.actors)]
    rows = [heads]
    for name in names:
        said = [] if name == BASELINE else [_named(seen, name), _pointed(seen, name)]
        cells = [*said, *(_repaired(seen, actor.name, name) for actor in exam.actors)]
        row = [name, *([] if said else ["", ""]), *(short_share(sum(cell), len(cell)) for cell in cells)]
        rows.append(row)
    rows = [[shortened(cell, 40) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    faults = [fault for item in seen.examined for fault in item.faults]
    lines = ["reflector, by " + counted(len(seen.examined), "planted bug"), *table, ""]
    lines.append("each as count/total and its 95 % interval; a lesson pays where it beats (no lesson)")
    if faults:
        lines.append(f"{counted(len(faults), 'call')} faulted and left out, e.g. {shortened(faults[0], 90)}")
    if seen.ended:
        lines.append(f"ended early: {seen.ended}")
    lines.append(seen.told)
    return plain("\n".join(lines)) + "\n"


def _named(seen: Seen, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.diagnoses if one.reflector == reflector)
    return [one.naming.named for one in found if not one.fault]


def _pointed(seen: Seen, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.diagnoses if one.reflector == reflector)
    return [one.naming.pointed for one in found if not one.fault]


def _repaired(seen: Seen, actor: str, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.repairs if (one.actor, one.reflector) == (actor, reflector))
    return [one.passed for one in found if one.passed is not None]

"""Planted bugs: one place of a right program changed, with its line, what stands there, and what should.

A bug counts only if the checks notice it: a verdict on it is reached before anybody is examined.
"""

from __future__ import annotations

import ast
import difflib
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from afterword.core.records import Feedback, Limits, Task
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.experiments.exam.programs import KnownRight
from afterword.families.programming.benchmark_files import BenchmarkTask
from afterword.families.programming.mutants import mutants

_TOKEN = re.compile(r"\w+|[<>=!+\-*/%&|^]=|\*\*|//|<<|>>|\S")
_CANDIDATES = 12
_NOTICED = ("failed", "error")
"""A bug that makes the program hang leaves a reflector nothing to quote."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of code as its tokens, so that it is found however it is spaced."""

    tokens: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.tokens)


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """A program with a known bug, and the verdict that a reflector gets to see."""

    id: str
    task: Task
    buggy: str
    right: str
    suite: Suite
    limits: Limits
    lines: tuple[int, ...]
    """Where it is, in `buggy`."""
    wrong: Fragment
    """What stands there, with the tokens around it that tell it from other places; empty where nothing does."""
    fix: Fragment
    """What should stand there, in the same way; one of the two is never empty."""
    changed: tuple[str, str]
    """What differs itself, as it is and as it should be."""
    verdict: Feedback


async def plant(
    programs: Sequence[KnownRight], judges: JudgePool, *, seed: int, per_program: int = 3
) -> AsyncIterator[PlantedBug]:
    """Bugs in these programs, one of each program before the second of any; `seed` chooses them."""
    order = list(programs)
    random.Random(seed).shuffle(order)  # noqa: S311  a choice, not a secret
    waiting = {program.id: iter(_candidates(program, seed)) for program in order}
    for number in range(1, per_program + 1):
        for program in order:
            for bug in waiting[program.id]:
                verdict = await judges.judge(bug.buggy, program.suite, program.limits)
                if not verdict.passed and verdict.reason in _NOTICED:
                    yield _judged(bug, f"{program.id}#{number}", program.task, program.suite, program.limits, verdict)
                    break


async def planted_quixbugs(tasks: Sequence[BenchmarkTask], judges: JudgePool) -> AsyncIterator[PlantedBug]:
    """The published bugs of QuixBugs that its checks notice otherwise than by a hanging program."""
    for task in tasks:
        suite, limits = task.programming.checks, task.programming.limits
        bug = None if task.buggy is None else difference(task.buggy, task.canonical)
        if bug is None:
            continue
        verdict = await judges.judge(bug.buggy, suite, limits)
        if not verdict.passed and verdict.reason in _NOTICED:
            yield _judged(bug, task.id, task.programming.task, suite, limits, verdict)


@dataclass(frozen=True, slots=True)
class Difference:
    """The one place in which two programs differ."""

    buggy: str
    right: str
    lines: tuple[int, ...]
    wrong: Fragment
    fix: Fragment
    changed: tuple[str, str]


def difference(buggy: str, right: str) -> Difference | None:
    """Where a program differs from the right one.

    None where it does in several places, in more than a line, or in nothing that a lesson could quote.
    """
    was, should = buggy.splitlines(), right.splitlines()
    places = [
        place
        for place in difflib.SequenceMatcher(None, was, should, autojunk=False).get_opcodes()
        if place[0] != "equal"
    ]
    if len(places) != 1:
        return None
    _, first, last, start, end = places[0]
    if last - first > 1 or end - start > 1:
        return None
    wrong_line = was[first] if last > first else ""
    fix_line = should[start] if end > start else ""
    wrong, fix = _TOKEN.findall(wrong_line), _TOKEN.findall(fix_line)
    head, tail = _common(wrong, fix)
    here = _telling(wrong, head, len(wrong) - tail, [line for number, line in enumerate(was) if number != first])
    there = _telling(fix, head, len(fix) - tail, [line for number, line in enumerate(should) if number != start])
    if not here.tokens and not there.tokens:
        return None
    return Difference(
        buggy,
        right,
        (first + 1,),
        here,
        there,
        (" ".join(wrong[head : len(wrong) - tail]), " ".join(fix[head : len(fix) - tail])),
    )


def _candidates(program: KnownRight, seed: int) -> list[Difference]:
    normal = ast.unparse(ast.parse(program.source)) + "\n"
    changed = list(mutants(program.source, seed=seed, limit=_CANDIDATES))
    random.Random(f"{seed} {program.id}").shuffle(changed)  # noqa: S311
    found = (difference(mutant.source, normal) for mutant in changed)
    return [one for one in found if one is not None and "pass" not in one.changed]


def _judged(bug: Difference, name: str, task: Task, suite: Suite, limits: Limits, verdict: Feedback) -> PlantedBug:
    return PlantedBug(
        name, task, bug.buggy, bug.right, suite, limits, bug.lines, bug.wrong, bug.fix, bug.changed, verdict
    )


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many tokens two lines have in common at the beginning, and behind that at the end."""
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head, tail


def _telling(tokens: Sequence[str], first: int, last: int, elsewhere: Sequence[str]) -> Fragment:
    """The changed tokens with one more on either side, and then so many more that no other line has them."""
    if not tokens:
        return Fragment(())
    others = [f" {' '.join(_TOKEN.findall(line))} " for line in elsewhere]

    def stands_elsewhere() -> bool:
        return any(f" {' '.join(tokens[first:last])} " in other for other in others)

    first, last = max(0, first - 1), min(len(tokens), last + 1)
    while (first > 0 or last < len(tokens)) and stands_elsewhere():
        first, last = max(0, first - 1), min(len(tokens), last + 1)
    kept = list(tokens[first:last])
    while kept and kept[-1] == ":":  # nobody quotes it
        kept.pop()
    if stands_elsewhere() or len(kept) < 2:
        return Fragment(())  # a word like `return` proves nothing
    return Fragment(tuple(kept))

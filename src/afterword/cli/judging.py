"""How a programming task is judged, wired: the jail, the judges in it, and the evaluators that the task asks for.

Apart from the family's items, since each kind of task (function tests, another language, a command, a person, tests
that a model writes) brings evaluators of its own, and all must be found fit before any money is spent on the task.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from afterword.cli.departures import FreshChecks
from afterword.cli.families.interface import Bench
from afterword.core.effects import Effects
from afterword.core.protocols import Evaluator, Model, Sandbox
from afterword.core.records import Task
from afterword.errors import InputError
from afterword.evaluators.command import AskedVerdict, CommandCheck, CommandTests
from afterword.evaluators.function_tests import FunctionTests, JudgePool, Suite, refuse_unusable
from afterword.evaluators.function_tests.telling import check_texts
from afterword.evaluators.languages import LanguageJudge, LanguageSuite, LanguageTests, open_judge
from afterword.families.programming.own_tests import (
    OwnTest,
    SetAside,
    TestWriting,
    UnwrittenTests,
    write_agreed_tests,
    write_tests,
)
from afterword.families.programming.task import HeldOut, JudgedByPerson, Visible
from afterword.families.programming.task_folder import ProgrammingTask, read_suite
from afterword.sandbox import STRONG, open_sandbox

Told = Callable[[Sequence[OwnTest]], None]
"""Gets the tests that a model wrote."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is done against wrong and weak own tests; nothing as a rule."""

    suites: int = 1
    """So many suites are written, and a test stands if more than half of them state it."""
    mutation_check: bool = False
    """Whether a suite that does not notice simple mutants of a program gets more tests."""
    aside: SetAside | None = None
    """Where a review can set a disputed test aside."""


@dataclass(frozen=True, slots=True)
class Jail:
    """A sandbox and the judges over it, which all tasks with this interpreter share."""

    sandbox: Sandbox
    judges: JudgePool


@dataclass(frozen=True, slots=True)
class Judging:
    """The evaluators of one task, open."""

    visible: Evaluator | None
    """None: the tests are still to be written (`own_tests`)."""
    held_out: Evaluator | None
    fresh: tuple[Evaluator, ...]
    """What a person gave in place of burned held-out checks."""
    judges: JudgePool
    task: ProgrammingTask

    def own_tests(self, writer: Model, temperature: float | None, told: Told, repairs: Repairs) -> Evaluator:
        """The evaluator whose tests `writer` writes before the first trial."""
        settings = TestWriting(temperature)
        write = partial(write_tests, model=writer, settings=settings)
        if repairs.suites > 1:
            write = partial(write_agreed_tests, model=writer, settings=settings, suites=repairs.suites)

        async def more(task: Task, effects: Effects, beside: tuple[OwnTest, ...]) -> tuple[OwnTest, ...]:
            return await write_tests(task, effects, writer, settings, beside=beside)

        checked = more if repairs.mutation_check else None
        return UnwrittenTests(write, self.judges, self.task.limits, told, repairs.aside, checked)


@asynccontextmanager
async def open_judging(task: ProgrammingTask, bench: Bench, *, own_tests: bool) -> AsyncIterator[Judging]:
    """Opens all that judges a task.

    Raises:
        InputError: its tests cannot run, a command cannot work, or only a weak isolation is there.
        SandboxFault: no sandbox works.
    """
    allow_weak = bench.settings.allow_weak_isolation
    jail = await bench.shared(
        ("jail", task.python, own_tests),
        partial(_open_jail, task.python, bench.verdicts, allow_weak=allow_weak, own_tests=own_tests),
    )
    isolation = jail.sandbox.isolation
    if isolation not in STRONG:
        bench.warn(f"isolation is {isolation!r}, which does not keep a hostile program in")
    async with AsyncExitStack() as stack:
        workshop: LanguageJudge | None = None
        languages = [judge.language for judge in (task.visible, task.held_out) if isinstance(judge, LanguageSuite)]
        if languages:
            opening = open_judge(languages[0], workers=1, allow_weak=allow_weak)
            workshop = await stack.enter_async_context(opening)
        evaluator = partial(_evaluator, task, bench, jail, workshop)
        visible = None if own_tests else await evaluator(task.visible, held_out=False)
        held_out = await evaluator(task.held_out, held_out=True)
        given = fresh_suites(task, bench.fresh)
        fresh = [await _function_tests(task, suite, jail.judges, held_out=True) for suite in given]
        yield Judging(visible, held_out, tuple(fresh), jail.judges, task)


async def _evaluator(
    task: ProgrammingTask,
    bench: Bench,
    jail: Jail,
    workshop: LanguageJudge | None,
    judge: Visible | HeldOut | None,
    *,
    held_out: bool,
) -> Evaluator | None:
    """The evaluator of one part of a task, found fit; None where there is none, or a model has to be opened for it."""
    match judge:
        case Suite():
            return await _function_tests(task, judge, jail.judges, held_out=held_out)
        case CommandCheck():
            return await CommandTests(judge, jail.sandbox, task.limits_of(held_out=held_out)).prepared()
        case JudgedByPerson():
            return AskedVerdict(bench.show, bench.read)
        case LanguageSuite() if workshop is not None:
            await workshop.refuse_unusable(judge)
            return LanguageTests(judge, workshop, task.limits_of(held_out=held_out))
        case _:
            return None


@asynccontextmanager
async def _open_jail(python: Path | None, workers: int, *, allow_weak: bool, own_tests: bool) -> AsyncIterator[Jail]:
    opened = partial(open_sandbox, python=python, workers=workers, allow_weak=allow_weak)
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(opened())
        # Tests that a model wrote are no more trusted than its program: they get a jail of their own.
        companions = await stack.enter_async_context(opened()) if own_tests else None
        judges = await stack.enter_async_context(JudgePool(sandbox, workers=workers, companions=companions))
        yield Jail(sandbox, judges)


def fresh_suites(task: ProgrammingTask, given: Sequence[FreshChecks]) -> list[Suite]:
    """The checks that a person gave in place of burned ones.

    Raises:
        InputError: they cannot judge this task, or some of them say nothing that was not seen before.
    """
    if not given:
        return []
    if task.held_out_checks is None:
        raise InputError(
            f"fresh checks are given as a file for Python functions, and something else judges {task.task.id!r}; "
            "put them into its folder and start a new run"
        )
    entry_point = str(task.task.inputs["entry_point"])
    suites = [suite for suite in (task.visible, task.held_out) if isinstance(suite, Suite)]
    seen = {text for suite in suites for text in _calls(suite, entry_point)}
    fresh: list[Suite] = []
    for checks in given:
        suite = read_suite(checks.text, Path(checks.name), entry_point)
        calls = _calls(suite, entry_point)
        if calls and calls <= seen:
            raise InputError("each of these checks was seen before; write fresh ones", file=Path(checks.name))
        seen |= calls
        fresh.append(suite)
    return fresh


def _calls(suite: Suite, entry_point: str) -> set[str]:
    """What a suite asserts, under whatever names."""
    return {text for text in check_texts(suite) if f"{entry_point}(" in text}


async def _function_tests(
    task: ProgrammingTask, suite: Suite, judges: JudgePool, *, held_out: bool = False
) -> FunctionTests:
    """The evaluator of a suite, once its tests have run against an empty function: they must be able to fail."""
    stub = f"def {task.task.inputs['entry_point']}(*args, **kwargs):\n    return None\n"
    refuse_unusable(await judges.judge(stub, suite, task.limits), suite)
    return FunctionTests(suite, judges, task.limits_of(held_out=held_out))

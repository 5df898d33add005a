"""One task, wired: its folder, the models, the jail, the loop and the display.

Apart from the command, so that `demo` runs a task exactly as `run` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from afterword.cli.ask import AskingReflector, read_line
from afterword.cli.display import Display, print_wrapped
from afterword.cli.roles import ModelChoice, Role, Roles, roles_of
from afterword.cli.text import counted, plain
from afterword.core.budget import Allowance
from afterword.core.memory import SlidingWindow
from afterword.core.protocols import Evaluator, Model, Reflector, Sandbox, StopRule
from afterword.core.records import Outcome, Strategy, Trial
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError, UnknownPrice
from afterword.evaluators.command import AskedVerdict
from afterword.evaluators.function_tests import FunctionTests, JudgePool
from afterword.families.programming.actor import ProgramActor
from afterword.families.programming.command_task import prepared_evaluators, told_judges
from afterword.families.programming.language_task import LanguageEvaluators, language_evaluators
from afterword.families.programming.own_tests import OwnTest, TestWriting, UnwrittenTests, write_tests
from afterword.families.programming.reflection import program_reflector
from afterword.families.programming.task_folder import ProgrammingTask, load_task_folder
from afterword.models import open_models
from afterword.models.opening import Models
from afterword.sandbox import STRONG, open_sandbox

Told = Callable[[Sequence[OwnTest]], None]
"""Gets the tests that a model wrote."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What one run of a task is made of."""

    folder: Path
    models: ModelChoice
    strategy: Strategy = Strategy.LAST_ATTEMPT_AND_REFLEXION
    max_trials: int = 4
    memory: int = 1
    max_tokens: int = 1024
    allowance: Allowance = field(default_factory=Allowance)
    stop: tuple[StopRule, ...] = ()
    seed: int = 0
    record: Path | None = None
    ask: bool = False
    allow_weak_isolation: bool = False
    own_tests: bool = False
    """Whether a model writes the visible tests also where the task has some."""

    def __post_init__(self) -> None:
        for option, value in (
            ("--max-trials", self.max_trials),
            ("--memory", self.memory),
            ("--max-tokens", self.max_tokens),
        ):
            if value < 1:
                raise InputError(f"{option} takes a number from 1, found {value}")
        if self.ask and not self.strategy.reflects:
            raise InputError(f"--ask is about lessons, and the strategy {self.strategy} has none; choose another one")


async def run_task(settings: RunSettings, console: Console, written: Told | None = None) -> Outcome:
    """Runs the loop on a task folder, telling on `console` what happens; `written` gets the tests a model wrote.

    Raises:
        InputError: the folder, an option or a file is wrong; nothing was spent yet, unless a script or a
            recording ended early.
        Fault: a model cannot be reached at all, or no sandbox works.
    """
    task = load_task_folder(settings.folder)
    own = _has_own_tests(task, settings)
    display = Display(console)
    roles = roles_of(settings.models, settings.strategy, display.retried)
    async with AsyncExitStack() as stack:
        display.preparing(roles.actor.name)
        stack.callback(display.rest)
        sandbox = await stack.enter_async_context(
            open_sandbox(python=task.python, workers=1, allow_weak=settings.allow_weak_isolation)
        )
        native = await stack.enter_async_context(_native(task, settings))
        companions = await stack.enter_async_context(_companions(task, settings)) if own else None
        judges = await stack.enter_async_context(JudgePool(sandbox, workers=1, companions=companions))
        await _refuse_broken_tests(task, judges, own_tests=own)
        asked = AskedVerdict(display.program, partial(read_line, initial=""))
        command, outside = await prepared_evaluators(task, sandbox, asked)
        models = await stack.enter_async_context(open_models(record=settings.record))
        actor_model = await models.open(roles.actor.name, options=roles.actor.options, role="actor")
        in_use: list[Model] = [actor_model]
        reflector = await _reflector(settings, roles.reflector, models, in_use, display)
        writer = None
        if own:
            writer = await models.open(roles.test_writer.name, options=roles.test_writer.options, role="test_writer")
            in_use.append(writer)
        _refuse_unknown_prices(in_use, settings.allowance)
        display.rest()
        # Only now: what is refused leaves its one line alone.
        _say_what_runs(console, task, roles, settings, sandbox.isolation, own_tests=own)
        loop = Reflexion(
            ProgramActor(actor_model, roles.actor.temperature, settings.max_tokens),
            command
            or (None if native is None else native.visible)
            or _evaluator(task, judges, writer, roles.test_writer.temperature, _teller(display, written)),
            reflector,
            strategy=settings.strategy,
            memory=SlidingWindow(settings.memory),
            max_trials=settings.max_trials,
            allowance=settings.allowance,
            stop=settings.stop,
            held_out=outside or (_held_out(task, judges) if native is None else native.held_out),
        )
        return await loop.run(task.task, seed=settings.seed, events=display)


def show_program(console: Console, best: Trial) -> None:
    """Prints the best program, saying when it is a failing one."""
    code = plain(best.trajectory.output).rstrip("\n")
    if not code.strip():
        return
    label = f"the program of trial {best.number}" + ("" if best.feedback.passed else ", which is failing")
    console.print()
    print_wrapped(console, Text(label, style="bold" if best.feedback.passed else "bold red"))
    if console.is_terminal:
        coloured = Syntax(code, "python", background_color="default").highlight(code)
        coloured.rstrip()
        console.print(coloured, soft_wrap=True)
    else:
        console.print(Text(code), soft_wrap=True)


def _say_what_runs(
    console: Console, task: ProgrammingTask, roles: Roles, settings: RunSettings, isolation: str, *, own_tests: bool
) -> None:
    """The first lines: which model, which task, how it is judged."""
    reflector = f", lessons by {roles.reflector.name}" if roles.reflector.name != roles.actor.name else ""
    said = "" if settings.models.model else "  (the default; choose with --model or AFTERWORD_MODEL)"
    console.print(Text(plain(f"model {roles.actor.name}{reflector}{said}")), highlight=False, soft_wrap=True)
    by = f" of {roles.test_writer.name}" if roles.test_writer.name != roles.actor.name else ""
    visible, held_out = told_judges(task)
    judged = f"{f'own tests{by}' if own_tests else visible}, {held_out}"
    limit = f"{settings.strategy}, at most {counted(settings.max_trials, 'trial')}"
    print_wrapped(console, Text(plain(f"task  {task.task.id}: {judged}; {limit}")), hang=6)
    weak = f"isolation is {isolation!r}, which does not keep a hostile program in" if isolation not in STRONG else None
    for warning in filter(None, (roles.warning, weak)):
        print_wrapped(console, Text(f"warning: {warning}", style="yellow"), hang=2)


def _has_own_tests(task: ProgrammingTask, settings: RunSettings) -> bool:
    """Whether a model writes the visible tests; refuses options that would then do nothing."""
    if settings.own_tests and task.command is not None:
        raise InputError("a command judges this task; a model writes tests for functions only: leave out --own-tests")
    own = settings.own_tests or (task.visible is None and task.native is None and task.command is None)
    if not own and (settings.models.test_writer_model or settings.models.test_writer_temperature):
        raise InputError("the task has visible checks, so no model writes any; add --own-tests to have it so")
    language = task.task.inputs.get("language")
    if own and language != "python":
        raise InputError(f"a model writes tests for Python programs only, found {language!r}; add visible checks")
    return own


async def _reflector(
    settings: RunSettings, role: Role, models: Models, in_use: list[Model], display: Display
) -> Reflector | None:
    if not settings.strategy.reflects:
        return None
    model = await models.open(role.name, options=role.options, role="reflector")
    in_use.append(model)
    reflector = program_reflector(model, role.temperature)
    return AskingReflector(reflector, display.draft, read_line) if settings.ask else reflector


def _held_out(task: ProgrammingTask, judges: JudgePool) -> FunctionTests | None:
    if task.held_out is None:
        return None
    return FunctionTests(task.held_out, judges, task.held_out_limits or task.limits)


@asynccontextmanager
async def _native(task: ProgrammingTask, settings: RunSettings) -> AsyncIterator[LanguageEvaluators | None]:
    """The evaluators of a task in another language than Python; None for the others."""
    if task.native is None:
        yield None
        return
    async with language_evaluators(task, allow_weak=settings.allow_weak_isolation) as evaluators:
        yield evaluators


def _teller(display: Display, written: Told | None) -> Told:
    def told(tests: Sequence[OwnTest]) -> None:
        display.tests_written(tests)
        if written is not None:
            written(tests)

    return told


def _evaluator(
    task: ProgrammingTask, judges: JudgePool, writer: Model | None, temperature: float | None, told: Told
) -> Evaluator:
    """What the loop is judged by: the task's visible checks, or tests that the writer writes."""
    if writer is None:
        return FunctionTests(task.checks, judges, task.limits)
    write = partial(write_tests, model=writer, settings=TestWriting(temperature))
    return UnwrittenTests(write, judges, task.limits, told)


def _companions(task: ProgrammingTask, settings: RunSettings) -> AbstractAsyncContextManager[Sandbox]:
    """The jail of tests that are not trusted."""
    return open_sandbox(python=task.python, workers=1, allow_weak=settings.allow_weak_isolation)


async def _refuse_broken_tests(task: ProgrammingTask, judges: JudgePool, *, own_tests: bool) -> None:
    """Runs the tests once against an empty function, before money is spent: they must at least be able to fail."""
    stub = f"def {task.task.inputs['entry_point']}(*args, **kwargs):\n    return None\n"
    for suite in (None if own_tests else task.visible, task.held_out):
        if suite is None:
            continue
        verdict = await judges.judge(stub, suite, task.limits)
        if verdict.reason in ("bad_tests", "no_tests"):
            raise InputError(f"the tests cannot run: {verdict.message}; repair them", file=suite.file)


def _refuse_unknown_prices(models: list[Model], allowance: Allowance) -> None:
    if allowance.cost_usd is not None:
        for model in models:
            if model.price is None:
                raise UnknownPrice(model.name)

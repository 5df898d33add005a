"""One task, wired: its folder, the models, the jail, the loop and the display.

Apart from the command, so that `demo` runs a task exactly as `run` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from afterword.cli.ask import AskingReflector, read_line
from afterword.cli.display import Display, print_wrapped
from afterword.cli.judging import Judging, Told, open_judging
from afterword.cli.roles import ModelChoice, Role, Roles, roles_of
from afterword.cli.text import counted, plain
from afterword.core.budget import Allowance
from afterword.core.memory import SlidingWindow
from afterword.core.protocols import Evaluator, Model, Reflector, StopRule
from afterword.core.records import Outcome, Strategy, Trial
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError, UnknownPrice
from afterword.evaluators.command import AskedVerdict
from afterword.families.programming.actor import ProgramActor
from afterword.families.programming.command_task import told_judges
from afterword.families.programming.own_tests import OwnTest
from afterword.families.programming.reflection import program_reflector
from afterword.families.programming.task_folder import ProgrammingTask, load_task_folder
from afterword.models import open_models
from afterword.models.opening import Models
from afterword.sandbox import STRONG


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
    show_program: bool = True
    """Whether the best program is printed in the end."""
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
    asked = AskedVerdict(display.program, partial(read_line, initial=""))
    async with AsyncExitStack() as stack:
        display.preparing(roles.actor.name)
        stack.callback(display.rest)
        judging = await stack.enter_async_context(
            open_judging(task, asked, own_tests=own, allow_weak=settings.allow_weak_isolation)
        )
        models = await stack.enter_async_context(open_models(record=settings.record))
        cast = await _open_cast(models, roles, settings.strategy, own_tests=own)
        _refuse_unknown_prices(cast, settings.allowance)
        display.rest()
        # Only now: what is refused leaves its one line alone.
        _say_what_runs(console, task, roles, settings, judging.isolation, own_tests=own)
        loop = Reflexion(
            ProgramActor(cast.actor, roles.actor.temperature, settings.max_tokens),
            _evaluator(judging, cast, roles, _teller(display, written)),
            _reflector(settings, cast, roles, display),
            strategy=settings.strategy,
            memory=SlidingWindow(settings.memory),
            max_trials=settings.max_trials,
            allowance=settings.allowance,
            stop=settings.stop,
            held_out=judging.held_out,
        )
        try:
            outcome = await loop.run(task.task, seed=settings.seed, events=display)
        except anyio.get_cancelled_exc_class():
            display.interrupted(settings.record)  # what was paid for is told before the run is given up
            raise
    if settings.show_program and outcome.best is not None:
        _show_program(console, outcome.best, str(task.task.inputs.get("language", "python")))
    return outcome


def _show_program(console: Console, best: Trial, language: str) -> None:
    """Prints the best program, saying when it is a failing one."""
    code = plain(best.trajectory.output).rstrip("\n")
    if not code.strip():
        return
    label = f"the program of trial {best.number}" + ("" if best.feedback.passed else ", which is failing")
    console.print()
    print_wrapped(console, Text(label, style="bold" if best.feedback.passed else "bold red"))
    if console.is_terminal:
        coloured = Syntax(code, language, background_color="default").highlight(code)
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


@dataclass(frozen=True, slots=True)
class _Cast:
    """The model of each role that this run needs."""

    actor: Model
    reflector: Model | None
    test_writer: Model | None


async def _open_cast(models: Models, roles: Roles, strategy: Strategy, *, own_tests: bool) -> _Cast:
    async def opened(role: Role, name: str) -> Model:
        return await models.open(role.name, options=role.options, role=name)

    return _Cast(
        await opened(roles.actor, "actor"),
        await opened(roles.reflector, "reflector") if strategy.reflects else None,
        await opened(roles.test_writer, "test_writer") if own_tests else None,
    )


def _evaluator(judging: Judging, cast: _Cast, roles: Roles, told: Told) -> Evaluator:
    """What the loop is judged by: the task's own checks, or tests that a model writes."""
    if judging.visible is not None:
        return judging.visible
    if cast.test_writer is None:
        raise InputError("the task has no visible checks; add some, or --own-tests to have a model write them")
    return judging.own_tests(cast.test_writer, roles.test_writer.temperature, told)


def _reflector(settings: RunSettings, cast: _Cast, roles: Roles, display: Display) -> Reflector | None:
    if cast.reflector is None:
        return None
    reflector = program_reflector(cast.reflector, roles.reflector.temperature)
    return AskingReflector(reflector, display.draft, read_line) if settings.ask else reflector


def _teller(display: Display, written: Told | None) -> Told:
    def told(tests: Sequence[OwnTest]) -> None:
        display.tests_written(tests)
        if written is not None:
            written(tests)

    return told


def _refuse_unknown_prices(cast: _Cast, allowance: Allowance) -> None:
    if allowance.cost_usd is not None:
        for model in (cast.actor, cast.reflector, cast.test_writer):
            if model is not None and model.price is None:
                raise UnknownPrice(model.name)

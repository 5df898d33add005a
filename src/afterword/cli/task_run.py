"""One task, wired: its folder, the models, the jail, the loop and the display.

Apart from the command, so that `demo` runs a task exactly as `run` does.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from afterword.cli.ask import AskingReflector, read_line
from afterword.cli.display import Display, print_wrapped
from afterword.cli.roles import ModelChoice, Roles, roles_of
from afterword.cli.text import counted, plain
from afterword.core.budget import Allowance
from afterword.core.memory import SlidingWindow
from afterword.core.protocols import Model, Reflector, StopRule
from afterword.core.records import Outcome, Strategy, Trial
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError, UnknownPrice
from afterword.evaluators.function_tests import FunctionTests, JudgePool
from afterword.families.programming.actor import ProgramActor
from afterword.families.programming.reflection import program_reflector
from afterword.families.programming.task_folder import ProgrammingTask, load_task_folder
from afterword.models import open_models
from afterword.sandbox import STRONG, open_sandbox


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


async def run_task(settings: RunSettings, console: Console) -> Outcome:
    """Runs the loop on a task folder, telling on `console` what happens.

    Raises:
        InputError: the folder, an option or a file is wrong; nothing was spent yet, unless a script or a
            recording ended early.
        Fault: a model cannot be reached at all, or no sandbox works.
    """
    task = load_task_folder(settings.folder)
    display = Display(console)
    roles = roles_of(settings.models, settings.strategy, display.retried)
    async with AsyncExitStack() as stack:
        display.preparing(roles.actor.name)
        stack.callback(display.rest)
        sandbox = await stack.enter_async_context(
            open_sandbox(python=task.python, workers=1, allow_weak=settings.allow_weak_isolation)
        )
        judges = await stack.enter_async_context(JudgePool(sandbox, workers=1))
        await _refuse_broken_tests(task, judges)
        models = await stack.enter_async_context(open_models(record=settings.record))
        actor_model = await models.open(roles.actor.name, options=roles.actor.options, role="actor")
        reflector: Reflector | None = None
        in_use: list[Model] = [actor_model]
        if settings.strategy.reflects:
            model = await models.open(roles.reflector.name, options=roles.reflector.options, role="reflector")
            in_use.append(model)
            reflector = program_reflector(model, roles.reflector.temperature)
            if settings.ask:
                reflector = AskingReflector(reflector, display.draft, read_line)
        _refuse_unknown_prices(in_use, settings.allowance)
        display.rest()
        # Only now: what is refused leaves its one line alone.
        _say_what_runs(console, task, roles, settings, sandbox.isolation)
        loop = Reflexion(
            ProgramActor(actor_model, roles.actor.temperature, settings.max_tokens),
            FunctionTests(task.checks, judges, task.limits),
            reflector,
            strategy=settings.strategy,
            memory=SlidingWindow(settings.memory),
            max_trials=settings.max_trials,
            allowance=settings.allowance,
            stop=settings.stop,
            held_out=None
            if task.held_out is None
            else FunctionTests(task.held_out, judges, task.held_out_limits or task.limits),
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
    console: Console, task: ProgrammingTask, roles: Roles, settings: RunSettings, isolation: str
) -> None:
    """The first lines: which model, which task, how it is judged."""
    reflector = f", lessons by {roles.reflector.name}" if roles.reflector.name != roles.actor.name else ""
    said = "" if settings.models.model else "  (the default; choose with --model or AFTERWORD_MODEL)"
    console.print(Text(plain(f"model {roles.actor.name}{reflector}{said}")), highlight=False, soft_wrap=True)
    held_out = f"{len(task.held_out.check_ids)} held out" if task.held_out is not None else "none held out"
    judged = f"{counted(len(task.checks.check_ids), 'visible check')}, {held_out}"
    limit = f"{settings.strategy}, at most {counted(settings.max_trials, 'trial')}"
    print_wrapped(console, Text(plain(f"task  {task.task.id}: {judged}; {limit}")), hang=6)
    weak = f"isolation is {isolation!r}, which does not keep a hostile program in" if isolation not in STRONG else None
    for warning in filter(None, (roles.warning, weak)):
        print_wrapped(console, Text(f"warning: {warning}", style="yellow"), hang=2)


async def _refuse_broken_tests(task: ProgrammingTask, judges: JudgePool) -> None:
    """Runs the tests once against an empty function, before money is spent: they must at least be able to fail."""
    stub = f"def {task.task.inputs['entry_point']}(*args, **kwargs):\n    return None\n"
    for suite in (task.checks, task.held_out):
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

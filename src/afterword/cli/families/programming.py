"""The programming family on the command line: task folders, JSON Lines of tasks, and benchmarks by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from afterword.cli.families.interface import Bench, Item, MakeReflector, Settings, Sizes
from afterword.cli.families.registry import names_like
from afterword.cli.judging import Judging, Repairs, open_judging
from afterword.cli.roles import Roles, roles_of
from afterword.core.effects import fingerprint
from afterword.core.protocols import Evaluator, Model, Reflector
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError
from afterword.evaluators.command import CommandCheck
from afterword.evaluators.function_tests import Suite
from afterword.evaluators.languages import LanguageSuite
from afterword.evaluators.model_judge import ModelJudge, same_model_warning
from afterword.families.programming.actor import ProgramActor, PromptBounds
from afterword.families.programming.benchmarks import benchmark_tasks, data_folder, is_benchmark
from afterword.families.programming.own_tests import ReviewingReflector, SetAside
from afterword.families.programming.reflection import MAX_CODE_CHARS, MAX_REPORT_CHARS, program_reflector
from afterword.families.programming.task import JudgedByModel, JudgedByPerson, told_judges
from afterword.families.programming.task_folder import ProgrammingTask, load_task_folder
from afterword.families.programming.task_rows import read_tasks
from afterword.reflectors.verbal import MAX_INSTRUCTIONS_CHARS

MEMORY = 1
"""As in the paper."""
MAX_TOKENS = 1024
JUDGE_SAMPLING = 0.7
"""The temperature of a judge with several votes."""


REPAIRS = ("consensus", "mutation_check", "test_review")
"""Options against wrong and weak own tests."""


class ProgrammingFamily:
    """Programs judged by tests, by a command, or by a person."""

    name = "programming"
    options = frozenset({"own_tests", "judge_votes", *REPAIRS})
    prompts = ("afterword.families.programming", "afterword.reflectors", "afterword.evaluators.model_judge")

    def items(self, sources: Sequence[str], settings: Settings) -> Iterator[Item]:
        """The tasks of all sources, each made when it is asked for.

        Raises:
            InputError: a source, a task or an option is wrong.
        """
        roles = roles_of(settings.models, settings.strategy)
        tasks = (task for source in sources for task in _tasks(source, settings.data))
        for task in islice(tasks, settings.limit):
            yield _item(task, settings, roles)

    def sizes(self, settings: Settings) -> Sizes:
        """One call a trial; the lengths are those that the prompts are bounded to, with room for their fixed text."""
        bounds = PromptBounds()
        return Sizes(
            steps=1,
            prompt_chars=2_000 + bounds.code,
            previous_chars=500 + bounds.code + bounds.feedback + 400,
            reply_tokens=settings.max_tokens or MAX_TOKENS,
            failed_trial_chars=4_000 + MAX_INSTRUCTIONS_CHARS + MAX_CODE_CHARS + MAX_REPORT_CHARS,
        )


def _tasks(source: str, data: Path | None) -> Iterator[ProgrammingTask]:
    path = Path(source)
    if path.suffix == ".jsonl" and not path.is_dir():
        yield from read_tasks(path)
    elif is_benchmark(source) and not path.exists():
        yield from (one.programming for one in benchmark_tasks(source, data_folder(data)))
    elif path.exists() or path.name != source:
        yield load_task_folder(path)
    else:
        raise InputError(
            f"expected a task folder, a file of tasks or a benchmark, found nothing called {source!r}; "
            f"{names_like(source)}; afterword new FOLDER makes a folder"
        )


def _item(task: ProgrammingTask, settings: Settings, roles: Roles) -> Item:
    own = _has_own_tests(task, settings)
    _repairs(settings)  # refuses numbers that cannot be
    by = f" of {roles.test_writer.name}" if roles.test_writer.name != roles.actor.name else ""
    visible, held_out = told_judges(task)
    by_model = isinstance(task.visible, JudgedByModel)
    if by_model:
        visible = f"judged by {roles.judge.name}"
    elif settings.judge_options:
        raise InputError(
            f"no model judges the task {task.task.id!r}; add judge.md, or leave out {settings.judge_options[0]}"
        )

    @asynccontextmanager
    async def loop(bench: Bench) -> AsyncIterator[Reflexion]:
        repairs = _repairs(settings)
        async with open_judging(task, bench, own_tests=own) as judging:
            yield await bench.reflexion(
                ProgramActor(await bench.model("actor"), bench.temperature("actor"), settings.max_tokens or MAX_TOKENS),
                await _evaluator(judging, bench, repairs),
                await _reflector(bench, repairs.aside) if own else program_reflector,
                held_out=judging.held_out,
                fresh=judging.fresh,
                memory=MEMORY,
            )

    return Item(
        task.task,
        f"{f'own tests{by}' if own else visible}, {held_out}",
        _fingerprint(task, own),
        loop,
        language=str(task.task.inputs.get("language", "python")),
        asks=isinstance(task.held_out, JudgedByPerson),
        own_tests=own,
        judge_calls=2 * settings.number("judge_votes", 1) if by_model else 0,
    )


def _fingerprint(task: ProgrammingTask, own: bool) -> str:
    """Of all that the actor sees and all that judges."""
    # A place for each kind of judge, so that the fingerprint of a task in an older journal stays what it was.
    kinds = (Suite, CommandCheck, LanguageSuite)
    judges = ((judge, kind) for kind in kinds for judge in (task.visible, task.held_out))
    return fingerprint(
        task.task,
        [judge.digest if isinstance(judge, kind) else None for judge, kind in judges],
        [None if limits is None else asdict(limits) for limits in (task.limits, task.held_out_limits)],
        str(task.python or ""),
        isinstance(task.held_out, JudgedByPerson),
        own,
        task.visible.rubric if isinstance(task.visible, JudgedByModel) else None,
    )


def _has_own_tests(task: ProgrammingTask, settings: Settings) -> bool:
    """Whether a model writes the visible tests; refuses options that would then do nothing."""
    wanted = settings.flag("own_tests")
    stated = [name for name in REPAIRS if settings.options.get(name)]
    if stated and not wanted and task.visible is not None:
        raise InputError(
            f"{stated[0]} is about tests that a model writes, and the task has its own; "
            "set own_tests too (--own-tests, or own_tests = true)"
        )
    if wanted and isinstance(task.visible, CommandCheck):
        raise InputError("a command judges this task; a model writes tests for functions only: leave out --own-tests")
    if wanted and isinstance(task.visible, JudgedByModel):
        raise InputError("a model judges this task by judge.md; leave out --own-tests")
    own = wanted or task.visible is None
    if not own and (settings.models.test_writer_model or settings.models.test_writer_temperature):
        raise InputError("the task has visible checks, so no model writes any; add --own-tests to have it so")
    language = task.task.inputs.get("language")
    if own and language != "python":
        raise InputError(f"a model writes tests for Python programs only, found {language!r}; add visible checks")
    return own


def _repairs(settings: Settings) -> Repairs:
    """What is done against wrong and weak own tests, for one task in one arm."""
    suites = settings.number("consensus", 1)
    if suites != 1 and (suites < 3 or suites % 2 == 0):  # of two, more than half is both
        raise InputError(f"consensus takes an odd number of suites from 3, found {suites}")
    return Repairs(suites, settings.flag("mutation_check"), SetAside() if settings.flag("test_review") else None)


async def _reflector(bench: Bench, aside: SetAside | None) -> MakeReflector:
    """The family's reflector, whose disputes go to a reviewer where there is one."""
    if aside is None:
        return program_reflector
    reviewer, temperature = await bench.model("test_writer"), bench.temperature("test_writer")

    def reviewed(model: Model, sampled: float | None) -> Reflector:
        cold = None if temperature is None else 0.0
        return ReviewingReflector(program_reflector(model, sampled), reviewer, aside, cold)

    return reviewed


async def _evaluator(judging: Judging, bench: Bench, repairs: Repairs) -> Evaluator:
    """What the loop is judged by: the task's own checks, or tests that a model writes."""
    if judging.visible is not None:
        return judging.visible
    if isinstance(judging.task.visible, JudgedByModel):
        return await _judge(judging.task.visible.rubric, bench)
    return judging.own_tests(
        await bench.model("test_writer"), bench.temperature("test_writer"), bench.tests_written, repairs
    )


async def _judge(rubric: str, bench: Bench) -> ModelJudge:
    """The model that judges by the rubric of a task."""
    model, actor = await bench.model("judge"), await bench.model("actor")
    if (warning := same_model_warning(model.name, actor.name)) is not None:
        bench.warn(warning)
    votes = bench.settings.number("judge_votes", 1)
    stated = votes == 1 or bench.settings.models.judge_temperature is not None
    return ModelJudge(model, rubric, votes, bench.temperature("judge") if stated else JUDGE_SAMPLING)

"""The decision family on the command line: ALFWorld, TextWorld Express, WebShop, and worlds of the user's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TypeVar

from afterword.cli.families.interface import Bench, Item, Settings, Sizes
from afterword.core.effects import fingerprint
from afterword.core.protocols import Evaluator, Model
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError
from afterword.evaluators.environment import EnvironmentSuccess, ModelWatch, StuckHeuristic, Watch, success_judge
from afterword.evaluators.model_judge import same_model_warning
from afterword.families.decision.actor import MAX_STEPS, EnvironmentActor, PlayBounds
from afterword.families.decision.reflection import MAX_PLAY_CHARS, MAX_REPORT_CHARS, game_reflector
from afterword.families.decision.tasks import ALFWORLD, EXPRESS, WEBSHOP, DecisionTask, SourceOptions, tasks_of
from afterword.families.decision.worlds.textworld_express import java_problem
from afterword.families.programming.benchmarks import data_folder
from afterword.reflectors.verbal import MAX_INSTRUCTIONS_CHARS

MEMORY = 3
"""As in the paper."""
MAX_TOKENS = 100
JUDGE_SAMPLING = 0.7
"""The temperature of a judge with several votes."""


class Judge(StrEnum):
    """Who says whether a trial reached its goal."""

    ENVIRONMENT = "environment"
    HEURISTIC = "heuristic"
    MODEL = "model"


class WatchName(StrEnum):
    """Who ends a trial that is stuck."""

    HEURISTIC = "heuristic"
    MODEL = "model"
    OFF = "off"


_TOLD = {
    Judge.ENVIRONMENT: "the world's own word",
    Judge.HEURISTIC: "the stuck heuristic; the world's word held out",
    Judge.MODEL: "a model's opinion; the world's word held out",
}


C = TypeVar("C", bound=StrEnum)


class DecisionFamily:
    """Goals in a world that is acted in step by step."""

    name = "decision"
    options = frozenset(
        {
            "split",
            "language",
            "url",
            "tasks",
            "max_steps",
            "judge",
            "watch",
            "stuck_cycles",
            "stuck_actions",
            "judge_votes",
        }
    )
    prompts = ("afterword.families.decision", "afterword.reflectors", "afterword.evaluators.model_judge")

    def items(self, sources: Sequence[str], settings: Settings) -> Iterator[Item]:
        """The tasks of all sources, each made when it is asked for; where there is no end of them, the first one.

        Raises:
            InputError: a source, a file or an option is wrong.
        """
        how = _how(settings)
        tasks = (task for source in sources for task in _tasks(source, settings))
        for task in islice(tasks, settings.limit):
            yield _item(task, how, settings)

    def sizes(self, settings: Settings) -> Sizes:
        """One call a step; the lengths are those that the prompts are bounded to."""
        bounds = PlayBounds()
        steps = settings.number("max_steps", MAX_STEPS)
        watched = settings.text("watch") == WatchName.MODEL
        return Sizes(
            steps=steps,
            prompt_chars=14_000 + 2 * bounds.history + bounds.observation,
            previous_chars=1_200 + 2 * bounds.previous,
            reply_tokens=settings.max_tokens or MAX_TOKENS,
            failed_trial_chars=5_000 + MAX_INSTRUCTIONS_CHARS + 2 * MAX_PLAY_CHARS + MAX_REPORT_CHARS,
            looks=2 * (steps // 10) if watched else 0,
        )


@dataclass(frozen=True, slots=True)
class _How:
    """How trials are judged and ended."""

    judge: Judge
    watch: WatchName
    heuristic: StuckHeuristic
    max_steps: int | None


def _how(settings: Settings) -> _How:
    max_steps = settings.number("max_steps", MAX_STEPS)
    if max_steps < 1:
        raise InputError(f"--max-steps takes a number from 1, found {max_steps}")
    judge = _choice(settings, "judge", Judge, Judge.ENVIRONMENT)
    watch = _choice(settings, "watch", WatchName, WatchName.HEURISTIC)
    if judge is not Judge.MODEL:
        _refuse_idle_judge(settings, watch)
    return _How(
        judge,
        watch,
        StuckHeuristic(_limit(settings, "stuck_cycles", 3), _limit(settings, "stuck_actions", 30)),
        max_steps if settings.options.get("max_steps") is not None else None,
    )


def _refuse_idle_judge(settings: Settings, watch: WatchName) -> None:
    """Where no model judges: one that watches is chosen as a judge is, and has one vote at temperature 0."""
    for option in settings.judge_options:
        if option != "--judge-model":
            raise InputError(f"{option} is for --judge model; add that or leave {option} out")
        if watch is not WatchName.MODEL:
            raise InputError("no model judges here; add --judge model or --watch model, or leave out --judge-model")


def _choice(settings: Settings, name: str, kind: type[C], default: C) -> C:
    text = settings.text(name, default)
    if text not in list(kind):
        raise InputError(f"--{name} takes {', '.join(kind)}, found {text!r}")
    return kind(text)


def _limit(settings: Settings, name: str, default: int) -> int | None:
    """0 switches a part of the heuristic off."""
    value = settings.number(name, default)
    if value < 0:
        raise InputError(f"--{name.replace('_', '-')} takes a number from 1, or 0 for no limit, found {value}")
    return value or None


def _tasks(source: str, settings: Settings) -> Iterator[DecisionTask]:
    tasks = settings.text("tasks")
    options = SourceOptions(
        data_folder(settings.data) if source == ALFWORLD else None,
        settings.text("split"),
        settings.text("language"),
        settings.text("url"),
        Path(tasks) if tasks else None,
    )
    if source.startswith(f"{EXPRESS}:") and (problem := java_problem()):
        raise InputError(problem)
    found = tasks_of(source, options)
    endless = source.split(":")[0] in (EXPRESS, WEBSHOP)
    return islice(found, 1) if endless and settings.limit is None else found


def _item(task: DecisionTask, how: _How, settings: Settings) -> Item:
    max_steps = how.max_steps or task.max_steps or MAX_STEPS

    @asynccontextmanager
    async def loop(bench: Bench) -> AsyncIterator[Reflexion]:
        world = task.world()
        try:
            actor = EnvironmentActor(
                await bench.model("actor"),
                world,
                task.help,
                task.examples,
                max_steps,
                await _opened_watch(how, bench),
                bench.temperature("actor"),
                settings.max_tokens or MAX_TOKENS,
            )
            yield await bench.reflexion(
                actor,
                await _evaluator(how, bench),
                game_reflector,
                held_out=None if how.judge is Judge.ENVIRONMENT else EnvironmentSuccess(),
                memory=MEMORY,
            )
        finally:
            await world.close()

    return Item(
        task.task,
        f"{_TOLD[how.judge]}; at most {max_steps} steps",
        fingerprint(task.fingerprint, how.judge, how.watch, asdict(how.heuristic), max_steps),
        loop,
        judge_calls=2 * settings.number("judge_votes", 1) if how.judge is Judge.MODEL else 0,
    )


async def _evaluator(how: _How, bench: Bench) -> Evaluator:
    if how.judge is Judge.MODEL:
        votes = bench.settings.number("judge_votes", 1)
        stated = votes == 1 or bench.settings.models.judge_temperature is not None
        temperature = bench.temperature("judge") if stated else JUDGE_SAMPLING
        return success_judge(await _judging_model(bench), votes=votes, temperature=temperature)
    return how.heuristic if how.judge is Judge.HEURISTIC else EnvironmentSuccess()


async def _opened_watch(how: _How, bench: Bench) -> Watch | None:
    if how.watch is WatchName.MODEL:
        return ModelWatch.of(await _judging_model(bench))
    return how.heuristic if how.watch is WatchName.HEURISTIC else None


async def _judging_model(bench: Bench) -> Model:
    model, actor = await bench.model("judge"), await bench.model("actor")
    if (warning := same_model_warning(model.name, actor.name)) is not None:
        bench.warn(warning)
    return model

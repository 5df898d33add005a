"""`Benches`: what the loops of one run are put together from, and the bench of each item.

Apart from the commands, so that `run`, `resume`, `fork` and `demo` put a loop together in one and the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio

from afterword.cli.ask import AskingReflector, read_line
from afterword.cli.departures import Departure, FreshChecks, GivenLesson
from afterword.cli.families import MakeReflector, Settings
from afterword.cli.roles import Roles
from afterword.core.budget import Allowance
from afterword.core.messages import ChatRequest
from afterword.core.protocols import Actor, Evaluator, Memory, Model, Preparable, Reflector
from afterword.core.reflexion import Reflexion
from afterword.core.stopping import Plateau
from afterword.errors import InputError, UnknownPrice
from afterword.experiments.arm_parts import Blind, Uncharged
from afterword.experiments.arms import arm_named
from afterword.experiments.lessons.rules import open_rule_book
from afterword.experiments.limits import RunBudget, RunModel
from afterword.experiments.results import SELF_JUDGE
from afterword.experiments.self_judging import self_judge
from afterword.experiments.shared import Shared
from afterword.families.programming.own_tests.review import ReviewingReflector
from afterword.memories import MemoryKind, make_memory
from afterword.models.opening import Models, split_name
from afterword.models.options import RetryNotice
from afterword.models.scripted import ScriptedModel
from afterword.reflectors.parts import parts_of
from afterword.reflectors.verbal import VerbalReflector

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

T = TypeVar("T")
_NONE = Departure()


class Screen(Protocol):
    """What a bench tells the person at the terminal."""

    def tests_written(self, tests: Sequence[OwnTest]) -> None: ...

    def draft(self, text: str) -> None: ...

    def program(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What the tasks of a run may do together."""

    budget: RunBudget = field(default_factory=lambda: RunBudget(Allowance()))
    model_calls: anyio.CapacityLimiter | None = None
    verdicts: int = 1


class Benches:
    """The models and resources that the items of one run share."""

    def __init__(
        self,
        settings: Settings,
        roles: Roles,
        models: Models,
        shared: Shared,
        *,
        limits: RunLimits,
        used: Mapping[tuple[str, str], Sequence[ChatRequest]] | None = None,
    ) -> None:
        self.settings = settings
        self.roles = roles
        self.limits = limits
        self.shared = shared
        self.arm = arm_named(settings.arm or settings.strategy)
        self.warnings: list[str] = [roles.warning] if roles.warning and self.arm.samples else []
        self.rules = None if settings.rules is None else open_rule_book(settings.rules, settings.rules_limit)
        self._models = models
        self._used = used or {}

    def of_item(
        self,
        task_id: str,
        screen: Screen,
        written: Callable[[Sequence[OwnTest]], None],
        departure: Departure = _NONE,
    ) -> ItemBench:
        """The bench of one item."""
        return ItemBench(self, task_id, screen, written, departure)

    async def open_models(self) -> None:
        """Opens the models that every task needs: what is wrong with them is told once, before any task begins.

        Raises:
            InputError: a name, a file or an option is wrong, or a price is not known and there is a cost limit.
            ModelFault: there is no key, or the local server does not start.
        """
        for role in ("actor", *(("reflector",) if self.settings.strategy.reflects else ())):
            if not self.is_by_task(role):
                await self.model(role, "")

    def is_by_task(self, role: str) -> bool:
        """Whether the role is played by a script with replies for each task."""
        name = self.roles.named(role).name
        return split_name(name)[0] == "scripted" and self._models.script(name).is_by_task

    async def model(self, role: str, task_id: str) -> Model:
        """The model of a role, opened once; where a script is by task, once for the task."""
        played = self.roles.named(role)
        if self.is_by_task(role):
            return await self._models.open(played.name, options=played.options, role=_played_as(role), task=task_id)
        key = ("model", _played_as(role), played.name, played.options)  # arms with the same model share it
        model = await self.shared.get(key, partial(self._opened, role))
        allowances = (self.settings.allowance, self.limits.budget.allowance)
        if model.price is None and any(allowance.cost_usd is not None for allowance in allowances):
            raise UnknownPrice(model.name)
        return model

    @asynccontextmanager
    async def _opened(self, role: str) -> AsyncIterator[Model]:
        played, as_role = self.roles.named(role), _played_as(role)
        used = [request for (of_role, _), requests in self._used.items() if of_role == as_role for request in requests]
        yield await self._models.open(played.name, options=played.options, role=as_role, used=used)

    def warn(self, text: str) -> None:
        """Keeps a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def retried(self, notice: RetryNotice) -> None:
        """Tells whoever is told of model calls that are tried again."""
        if (told := self.roles.actor.options.on_retry) is not None:
            told(notice)


class ItemBench:
    """The bench of one item; a `Bench` of the families."""

    def __init__(
        self,
        benches: Benches,
        task_id: str,
        screen: Screen,
        written: Callable[[Sequence[OwnTest]], None],
        departure: Departure,
    ) -> None:
        self.settings = benches.settings
        self.verdicts = benches.limits.verdicts
        self._benches = benches
        self._task_id = task_id
        self._screen = screen
        self._written = written
        self._departure = departure
        self._models: dict[str, RunModel] = {}
        self._scripts: dict[str, ScriptedModel] = {}
        self._answered: Counter[str] = Counter()

    @property
    def refused(self) -> bool:
        """Whether the run's budget, and not the task's, has refused a call of this item."""
        return any(model.refused for model in self._models.values())

    async def model(self, role: str) -> Model:
        """The model of a role, within the limits of the run."""
        if role not in self._models:
            limits = self._benches.limits
            model = await self._benches.model(role, self._task_id)
            if isinstance(model, ScriptedModel) and self._benches.is_by_task(role):
                self._scripts[role] = model
                model.skip(self._answered[role])
            self._models[role] = RunModel(model, limits.budget, limits.model_calls)
        return self._models[role]

    def answered(self, path: str) -> None:
        """Told that a role has a reply that its model was not asked for: a script by task goes on behind it."""
        before, _, role = path.rpartition("/")
        if role == "judge" and before == "evaluator" and self._benches.arm.judges_itself:
            role = SELF_JUDGE
        if role in self._scripts:
            self._scripts[role].skip()
        else:
            self._answered[role] += 1

    @property
    def fresh(self) -> tuple[FreshChecks, ...]:
        """Held-out checks that were given in place of burned ones."""
        return self._departure.fresh

    def temperature(self, role: str) -> float | None:
        """How the model of a role is sampled."""
        return self._benches.roles.named(role).temperature

    async def shared(self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What several items use, opened once."""
        return await self._benches.shared.get(key, open_it)

    def warn(self, text: str) -> None:
        """Tells a person what weakens the result."""
        self._benches.warn(text)

    def retried(self, notice: RetryNotice) -> None:
        """Tells the person at the terminal that something is tried again."""
        self._benches.retried(notice)

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """Told of the tests that a model wrote for this item."""
        self._screen.tests_written(tests)
        self._written(tests)

    def show(self, text: str) -> None:
        """Shows a program to the person who is asked about it."""
        self._screen.program(text)

    def read(self, prompt: str) -> str:
        """Asks the person at the terminal."""
        return read_line(prompt, "")

    async def reflexion(
        self,
        actor: Actor,
        evaluator: Evaluator,
        reflector: MakeReflector,
        *,
        held_out: Evaluator | None = None,
        fresh: Sequence[Evaluator] = (),
        memory: int,
    ) -> Reflexion:
        """The loop with these parts and all that the settings say of it."""
        settings, arm = self.settings, self._benches.arm
        lessons: Reflector | None = None
        most = 1 if arm.one_trial else settings.max_trials
        given = held_out is not None
        if held_out is None and not arm.sees_evaluator and not isinstance(evaluator, Preparable):
            held_out = evaluator  # it does not flow back in this arm
        evaluator = await self._in_loop(evaluator, held_out)
        if self._departure.revealed and held_out is not None:
            evaluator, held_out = self._departure.judged_by(evaluator, held_out, fresh)
            most = self._departure.revealed[-1] + 1
        if settings.arm and held_out is not None:
            held_out = Uncharged(held_out)
        if settings.arm and arm.one_trial:  # which is over when it is judged
            evaluator = Uncharged(evaluator)
        if settings.strategy.reflects:
            lessons = reflector(await self.model("reflector"), self.temperature("reflector"))
            lessons = arm.reflector(_without(lessons, settings.without))
            if settings.ask:
                lessons = AskingReflector(lessons, self._screen.draft, read_line)
            if self._departure.lesson_of:
                lessons = GivenLesson(lessons, self._departure.lesson_of, self._departure.lesson)
        return Reflexion(
            arm.actor(actor, settings.max_trials),
            evaluator,
            lessons,
            strategy=settings.strategy,
            memory=await self._memory(settings.memory or memory),
            max_trials=most,
            allowance=settings.allowance,
            stop=_plateau(settings),
            stop_when_passed=arm.stop_when_passed,
            stop_on_repetition=_either(settings.stop_on_repetition, arm.stop_on_repetition),
            held_out=held_out,
            accept_each=bool(settings.arm) and given,
            rules=self._benches.rules,
        )

    async def _in_loop(self, evaluator: Evaluator, held_out: Evaluator | None) -> Evaluator:
        """What the loop goes by in this arm."""
        arm = self._benches.arm
        if not arm.judges_itself:
            within = arm.evaluator(evaluator)
        else:
            within = self_judge(await self.model(SELF_JUDGE), self.temperature(SELF_JUDGE))
        if held_out is None and (arm.judges_itself or isinstance(within, Blind)):
            raise InputError(
                f"the arm {arm.name!r} is not told whether an attempt is right, and in task {self._task_id!r} nothing "
                "but a model's own tests could tell what came of it; add held-out checks"
            )
        return within

    async def _memory(self, size: int) -> Memory:
        kind, reflects = self.settings.memory_kind, self.settings.strategy.reflects
        model = await self.model("memory") if kind.asks_a_model and reflects else None
        return make_memory(kind if reflects else MemoryKind.WINDOW, size, model)


def _without(reflector: Reflector, parts: Sequence[str]) -> Reflector:
    if not parts:
        return reflector
    if isinstance(reflector, ReviewingReflector):
        return replace(reflector, reflector=_without(reflector.reflector, parts))
    if not isinstance(reflector, VerbalReflector):
        raise InputError("the reflector of this family writes lessons of another form; leave `without` out")
    return replace(reflector, without=parts_of(parts))


def _played_as(role: str) -> str:
    """The role by which a script or a recording knows it."""
    return "judge" if role == SELF_JUDGE else role


def _either(stated: bool | None, usual: bool) -> bool:
    return usual if stated is None else stated


def _plateau(settings: Settings) -> tuple[Plateau, ...]:
    if settings.min_gain is None:
        return ()
    return (Plateau(settings.min_gain) if settings.patience is None else Plateau(settings.min_gain, settings.patience),)

"""`Benches`: what the loops of one run are put together from, and the bench of each item.

Apart from the commands, so that `run`, `resume`, `fork` and `demo` put a loop together in one and the same way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from afterword.cli.ask import AskingReflector, read_line
from afterword.cli.families import MakeReflector, Settings
from afterword.cli.roles import Roles
from afterword.core.protocols import Actor, Evaluator, Memory, Model
from afterword.core.reflexion import Reflexion
from afterword.core.stopping import Plateau
from afterword.errors import UnknownPrice
from afterword.experiments.shared import Shared
from afterword.memories import MemoryKind, make_memory
from afterword.models.opening import Models

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

T = TypeVar("T")


class Screen(Protocol):
    """What a bench tells the person at the terminal."""

    def tests_written(self, tests: Sequence[OwnTest]) -> None: ...

    def draft(self, text: str) -> None: ...

    def program(self, text: str) -> None: ...


class Benches:
    """The models and resources that the items of one run share."""

    def __init__(self, settings: Settings, roles: Roles, models: Models, shared: Shared, *, verdicts: int) -> None:
        self.settings = settings
        self.roles = roles
        self.verdicts = verdicts
        self.shared = shared
        self.warnings: list[str] = [roles.warning] if roles.warning else []
        self._models = models

    def of_item(self, task_id: str, screen: Screen, written: Callable[[Sequence[OwnTest]], None]) -> ItemBench:
        """The bench of one item."""
        return ItemBench(self, task_id, screen, written)

    async def model(self, role: str) -> Model:
        """The model of a role, opened once."""
        model = await self.shared.get(("model", role), partial(self._opened, role))
        if self.settings.allowance.cost_usd is not None and model.price is None:
            raise UnknownPrice(model.name)
        return model

    @asynccontextmanager
    async def _opened(self, role: str) -> AsyncIterator[Model]:
        played = self.roles.named(role)
        yield await self._models.open(played.name, options=played.options, role=role)

    def warn(self, text: str) -> None:
        """Keeps a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)


class ItemBench:
    """The bench of one item; a `Bench` of the families."""

    def __init__(
        self, benches: Benches, task_id: str, screen: Screen, written: Callable[[Sequence[OwnTest]], None]
    ) -> None:
        self.settings = benches.settings
        self.verdicts = benches.verdicts
        self._benches = benches
        self._task_id = task_id
        self._screen = screen
        self._written = written

    async def model(self, role: str) -> Model:
        """The model of a role, within the limits of the run."""
        return await self._benches.model(role)

    def temperature(self, role: str) -> float | None:
        """How the model of a role is sampled."""
        return self._benches.roles.named(role).temperature

    async def shared(self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What several items use, opened once."""
        return await self._benches.shared.get(key, open_it)

    def warn(self, text: str) -> None:
        """Tells a person what weakens the result."""
        self._benches.warn(text)

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
        memory: int,
    ) -> Reflexion:
        """The loop with these parts and all that the settings say of it."""
        settings = self.settings
        lessons = None
        if settings.strategy.reflects:
            lessons = reflector(await self.model("reflector"), self.temperature("reflector"))
            if settings.ask:
                lessons = AskingReflector(lessons, self._screen.draft, read_line)
        return Reflexion(
            actor,
            evaluator,
            lessons,
            strategy=settings.strategy,
            memory=await self._memory(settings.memory or memory),
            max_trials=settings.max_trials,
            allowance=settings.allowance,
            stop=_plateau(settings),
            held_out=held_out,
        )

    async def _memory(self, size: int) -> Memory:
        kind, reflects = self.settings.memory_kind, self.settings.strategy.reflects
        model = await self.model("memory") if kind.asks_a_model and reflects else None
        return make_memory(kind if reflects else MemoryKind.WINDOW, size, model)


def _plateau(settings: Settings) -> tuple[Plateau, ...]:
    if settings.min_gain is None:
        return ()
    return (Plateau(settings.min_gain) if settings.patience is None else Plateau(settings.min_gain, settings.patience),)

"""Models asked outside a loop, as `judge check`, `exam` and `lessons distil` do: one budget, one place that opens them.

The loop's commands put their models together in `bench`; these have no trials, memories or strategies.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from afterword.cli.own_run import Used
from afterword.cli.roles import ModelChoice, Role, roles_of
from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, SystemClock
from afterword.core.events import NoEvents
from afterword.core.protocols import Model, Recorder
from afterword.core.records import Strategy, Usage
from afterword.errors import UnknownPrice
from afterword.models import open_models


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks models with."""

    models: Sequence[Model]
    budget: Budget

    def effects(self, task: str, arm: str = "", seed: int = 0, recorder: Recorder | None = None) -> Effects:
        """The effects of one item, charged to the command's budget."""
        return Effects(
            task=task,
            arm=arm,
            seed=seed,
            recorder=recorder,
            budget=self.budget,
            events=NoEvents(),
            clock=SystemClock(),
        )

    @property
    def spent(self) -> Usage:
        return self.budget.spent


@asynccontextmanager
async def open_asked(
    roles: Sequence[tuple[str, Role]], allowance: Allowance, record: Path | None = None, used: Used | None = None
) -> AsyncIterator[Asked]:
    """Opens the models of these roles, in their order; a model that several roles play is shared where it can be.

    `used` is what they answered before, in a run that is gone on with.

    Raises:
        InputError: a name, a file or an option is wrong, or a cost limit needs a price that is not known.
        ModelFault: there is no key, or the local server does not start.
    """
    async with open_models(record=record) as models:
        before = used or {}
        opened = [
            await models.open(played.name, options=played.options, role=role, used=before.get((role, played.name), ()))
            for role, played in roles
        ]
        for model in opened:
            if allowance.cost_usd is not None and model.price is None:
                raise UnknownPrice(model.name)
        yield Asked(opened, Budget(allowance))


def actor_role(choice: ModelChoice) -> Role:
    """The model that `--model` and its options name."""
    return roles_of(choice, Strategy.REFLEXION).actor

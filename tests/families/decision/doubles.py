"""A world that answers from a table and counts, and effects to act with."""

from __future__ import annotations

from dataclasses import dataclass, field

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import ActContext, EnvironmentStep, Recorder
from afterword.core.records import Reflection, Task, Trial

TASK = Task("t", "Find the coin.")


@dataclass
class Table:
    """Answers an action by its table, and any other with `Nothing happens.`"""

    answers: dict[str, EnvironmentStep] = field(default_factory=dict)
    first: str = "You are here."
    taken: list[str] = field(default_factory=list)
    resets: int = 0
    closed: bool = False

    async def reset(self) -> str:
        self.resets += 1
        self.taken = []
        return self.first

    async def step(self, action: str) -> EnvironmentStep:
        self.taken.append(action)
        return self.answers.get(action, EnvironmentStep("Nothing happens."))

    async def fingerprint(self) -> str:
        return str(len(self.taken))

    async def close(self) -> None:
        self.closed = True


def effects(recorder: Recorder | None = None, trial: int = 1) -> Effects:
    made = Effects(task="t", recorder=recorder, budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
    made.begin_trial(trial)
    return made


def context(
    recorder: Recorder | None = None,
    *,
    lessons: tuple[Reflection, ...] = (),
    previous: Trial | None = None,
    task: Task = TASK,
) -> ActContext:
    return ActContext(task, 1, lessons, previous, effects(recorder))

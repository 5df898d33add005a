"""A run that is killed after any effect, as often as one likes, and resumed leaves the record of an undisturbed one.

A kill is a copy of the journal's files at that moment, opened as another journal: what was on its way to the disk is
lost, as it is for a process that gets SIGKILL. The real thing, with real processes, is in `tests/faults`.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import anyio
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from afterword import (
    ActContext,
    EvaluateContext,
    Feedback,
    Message,
    Outcome,
    ReflectContext,
    Reflexion,
    Task,
    Usage,
    fingerprint,
)
from afterword.core.messages import FREE, ChatRequest, Reply
from afterword.core.protocols import EffectKey, Recorder
from afterword.journal import Run, RunSpec, open_journal
from tests.core.script import LESSONS

T = TypeVar("T")

Moment = Literal["before the call", "before it is recorded", "after it is recorded"]


class Killed(BaseException):
    """Nobody catches it, as nobody survives a SIGKILL."""


@dataclass
class Fuse:
    """Lets so many effects pass and kills at the next."""

    recorder: Recorder
    left: int
    moment: Moment
    made: Counter[EffectKey]

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        self.left -= 1
        if self.left < 0 and self.moment == "before the call":
            raise Killed

        async def counted() -> T:
            self.made[key] += 1
            result = await call()
            if self.left < 0 and self.moment == "before it is recorded":
                raise Killed
            return result

        result = await self.recorder.effect(key, request, counted, kind)
        if self.left < 0:
            raise Killed
        return result


@dataclass(frozen=True)
class Plan:
    """What happens in each trial of a task, and what it takes to get there."""

    scores: tuple[float, ...]
    act_calls: tuple[int, ...]
    steps: int


class Echo:
    """A model whose reply is a function of the request, in every process."""

    name = "test:echo"
    price = FREE

    async def complete(self, request: ChatRequest) -> Reply:
        text = fingerprint(request)[:8]
        return Reply(text, "stop", Usage(1, len(request.messages[0].content), 8), self.name)


@dataclass
class Job:
    """The parts of the loop, made anew by every process."""

    plan: Plan
    clock: float = 0.0
    model: Echo = field(default_factory=Echo)

    def monotonic(self) -> float:
        self.clock += 0.25
        return self.clock

    async def act(self, context: ActContext) -> str:
        said: list[str] = []
        for _ in range(self.plan.act_calls[context.number - 1]):
            request = ChatRequest((Message("user", f"{context.number} {said} {context.lessons}"),))
            said.append((await context.effects.complete("actor", self.model, request)).text)
        for number in range(self.plan.steps):
            await context.effects.effect("look", number, lambda: _given(f"seen {number}"), str)  # noqa: B023
        return f"output {context.number}"

    async def judge(self, context: EvaluateContext) -> Feedback:
        score = self.plan.scores[context.number - 1]
        return Feedback(score == 1.0, score, "exact")

    async def reflect(self, context: ReflectContext) -> str:
        return LESSONS[context.trial.number - 1]

    def loop(self) -> Reflexion:
        trials = len(self.plan.scores)
        return Reflexion(self.act, self.judge, self.reflect, max_trials=trials, held_out=self.judge)


async def _given(value: str) -> str:
    return value


plans = st.integers(1, 4).flatmap(
    lambda trials: st.builds(
        Plan,
        st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * trials),
        st.tuples(*[st.integers(0, 2)] * trials),
        st.integers(0, 2),
    )
)
moments = st.sampled_from(["before the call", "before it is recorded", "after it is recorded"])
kills = st.lists(st.tuples(st.integers(0, 25), moments), max_size=4)


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(plans, kills)
def test_a_run_that_is_killed_and_resumed_leaves_the_record_of_an_undisturbed_one(
    plan: Plan, kills: list[tuple[int, Moment]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(_compare, Path(folder), plan, kills)


async def _compare(folder: Path, plan: Plan, kills: list[tuple[int, Moment]]) -> None:
    undisturbed, _ = await _until_done(folder / "undisturbed.sqlite", plan, [])
    disturbed, made = await _until_done(folder / "killed.sqlite", plan, kills)
    assert disturbed == undisturbed
    repeated = sum(count - 1 for key, count in made.items() if key.role.rpartition("/")[2] != "clock")
    in_flight = 3  # a call within an actor within a task: each of them had not been recorded yet
    assert repeated <= in_flight * len(kills)


async def _until_done(
    file: Path, plan: Plan, kills: list[tuple[int, Moment]]
) -> tuple[list[object], Counter[EffectKey]]:
    made: Counter[EffectKey] = Counter()
    waiting = list(kills)
    number = 0
    while True:
        left, moment = waiting.pop(0) if waiting else (1000, "before the call")
        async with open_journal(file) as journal:
            run = await (journal.resume() if number else journal.start(RunSpec()))
            try:
                outcome = await _work(run, plan, Fuse(run.recorder, left, moment, made))
                await run.finish(outcome, arm="reflexion")
                return await _record(file, run), made
            except Killed:
                number += 1
                file = _as_it_stands(file, file.with_name(f"{number}-{file.name}"))


async def _work(run: Run, plan: Plan, recorder: Recorder) -> Outcome:
    job = Job(plan)
    events = run.events(arm="reflexion")
    return await job.loop().run(Task("t", "Do."), recorder=recorder, events=events, clock=job)


async def _record(file: Path, run: Run) -> list[object]:
    """The whole record, without what tells the time."""
    async with open_journal(file) as journal:
        effects = [
            (effect.trial, effect.role, effect.n, effect.request, None if effect.kind == "float" else effect.result)
            async for effect in journal.effects(run.id)
        ]
        trials = [row async for row in journal.trials(run.id)]
        return [effects, trials, [outcome async for _, outcome in journal.outcomes(run.id)]]


def _as_it_stands(source: Path, target: Path) -> Path:
    for suffix in ("", "-wal"):
        if (file := Path(f"{source}{suffix}")).exists():
            shutil.copy(file, f"{target}{suffix}")
    database = sqlite3.connect(target)
    with database:
        database.execute("UPDATE runs SET holder = NULL")  # the process is the same one and alive
    database.close()
    return target

"""The one way out of the loop: recorder, budget and event stream, bound to a place in the run.

Actors, evaluators and reflectors get an `Effects` in their context. What they do through it is recorded,
charged and shown; the loop stays a function of its inputs, its seed and the recorded effects.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, is_dataclass
from typing import Protocol, TypeVar

from afterword.core.budget import Budget, request_bound
from afterword.core.events import Event, ModelCalled
from afterword.core.messages import ChatRequest, Reply
from afterword.core.protocols import EffectKey, EventSink, Model, Recorder
from afterword.core.records import Usage
from afterword.errors import BudgetExhausted

T = TypeVar("T")


class Clock(Protocol):
    """Where the time comes from."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        ...


class SystemClock:
    """The machine's clock, which never goes back."""

    def monotonic(self) -> float:
        return time.monotonic()


class FakeClock:
    """A clock that stands still until it is told to move; for tests."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def monotonic(self) -> float:
        return self.now


class PassThrough:
    """The default recorder: makes every call and keeps nothing."""

    async def effect(
        self,
        key: EffectKey,  # noqa: ARG002
        fingerprint: Callable[[], str],  # noqa: ARG002
        call: Callable[[], Awaitable[T]],
        kind: type[T],  # noqa: ARG002
    ) -> T:
        """Makes the call."""
        return await call()


def fingerprint(*parts: object) -> str:
    """A stable hash of plain data and records; equal values have equal fingerprints in every process."""
    text = json.dumps(parts, sort_keys=True, default=_plain, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    raise TypeError(f"a fingerprint takes plain data and records, found {type(value).__name__}")


class Effects:
    """The recorder, budget and events of one run, at one trial."""

    def __init__(
        self,
        *,
        task: str,
        arm: str = "",
        seed: int = 0,
        recorder: Recorder | None = None,
        budget: Budget,
        events: EventSink,
        clock: Clock,
    ) -> None:
        self.task = task
        self.arm = arm
        self.seed = seed
        self.trial = 0
        self.budget = budget
        self.usage: dict[str, Usage] = {}
        """What the current trial has used, by role."""
        self.total_usage: dict[str, Usage] = {}
        """What the whole run has used, by role."""
        self._recorder: Recorder = recorder or PassThrough()
        self._events = events
        self._clock = clock
        self._started: float | None = None
        self._counts: dict[str, int] = {}

    def begin_trial(self, number: int) -> None:
        """Moves on to a trial: counters and usage start anew."""
        self.trial = number
        self.usage = {}
        self._counts = {}

    async def effect(self, role: str, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Passes a call through the recorder.

        `request` is plain data or a record that says what is asked for: its fingerprint guards a replay.
        """
        n = self._counts.get(role, 0)
        self._counts[role] = n + 1
        key = EffectKey(self.task, self.arm, self.seed, self.trial, role, n)
        return await self._recorder.effect(key, lambda: fingerprint(request), call, kind)

    async def complete(self, role: str, model: Model, request: ChatRequest) -> Reply:
        """Asks a model, within the budget.

        Raises:
            BudgetExhausted: the call was not made, since the allowance could not carry it.
            ModelFault: no usable answer after the last try.
        """
        limit_s = self.budget.allowance.seconds
        if limit_s is not None and (elapsed_s := await self.elapsed_s()) >= limit_s:
            raise BudgetExhausted("time", limit_s, elapsed_s)
        with self.budget.reserve(request_bound(request, model.price), model.name):
            reply = await self.effect(role, (model.name, request), lambda: model.complete(request), Reply)
            self.budget.charge(reply.usage)
        for ledger in (self.usage, self.total_usage):
            ledger[role] = ledger.get(role, Usage()) + reply.usage
        self.emit(ModelCalled(self.task, self.trial, role, model.name, reply.usage, self.budget.spent))
        return reply

    async def elapsed_s(self) -> float:
        """Seconds since the first reading of this run, through the recorder."""
        now = await self.effect("clock", (), self._read_clock, float)
        if self._started is None:
            self._started = now
        return now - self._started

    async def _read_clock(self) -> float:
        return self._clock.monotonic()

    def random(self, role: str) -> random.Random:
        """A random source that depends only on the place in the run."""
        return random.Random(fingerprint(self.task, self.arm, self.seed, self.trial, role))  # noqa: S311

    def emit(self, event: Event) -> None:
        """Tells an event."""
        self._events.emit(event)

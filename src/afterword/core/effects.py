"""The one way out of the loop: recorder, budget and event stream, bound to a place in the run.

Actors, evaluators and reflectors get an `Effects` in their context. What they do through it is recorded,
charged and shown; the loop stays a function of its inputs, its seed and the recorded effects.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Generic, Protocol, TypeVar

from afterword.core.budget import Allowance, Budget, request_bound
from afterword.core.events import Event, ModelCalled
from afterword.core.messages import ChatRequest, Reply
from afterword.core.protocols import EffectKey, Environment, EnvironmentStep, EventSink, Model, Recorder
from afterword.core.records import Usage
from afterword.core.rules import RULED_ROLE, with_rules
from afterword.errors import BudgetExhausted, ReplayDiverged

T = TypeVar("T")

ENVIRONMENT = "environment"
"""The role of a step in a world, which a replay takes again."""
CLOCK = "clock"
"""The role of a clock reading. Nothing is paid for by one, so a recorder may keep it together with what follows."""
SHARED = "shared"
"""The arm under which stands what several arms of an experiment asked alike. No task is worked on in it."""
UNCHARGED = "uncharged"
"""The role under which stands what was used by calls that count against no allowance of the task."""


Watch = Callable[[int, str, ChatRequest], None]
"""Gets the trial and the role of a request."""


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
        request: object,  # noqa: ARG002
        call: Callable[[], Awaitable[T]],
        kind: type[T],  # noqa: ARG002
    ) -> T:
        """Makes the call."""
        return await call()


def fingerprint(*parts: object) -> str:
    """A stable hash of plain data and records; equal values have equal fingerprints in every process."""
    return hashlib.sha256(canonical(*parts).encode()).hexdigest()


def canonical(*parts: object) -> str:
    """Plain data and records as one JSON text, a list: equal values have equal texts. `fingerprint` is its hash."""
    return _CANONICAL.encode(parts)


def _plain(value: object) -> object:
    if (names := _field_names(type(value))) is not None:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    raise TypeError(f"a fingerprint takes plain data and records, found {type(value).__name__}")


def _names_of_fields(kind: type) -> tuple[str, ...] | None:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


_field_names: Callable[[type], tuple[str, ...] | None] = cache(_names_of_fields)
"""Of a record; asked for each of them in every request, and slow to find out."""


_CANONICAL = json.JSONEncoder(sort_keys=True, default=_plain, ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Metered(Generic[T]):
    """The result of a call that may itself ask models, with what they used, by role."""

    result: T
    usage: Mapping[str, Usage]


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
        rules: str = "",
    ) -> None:
        self.task = task
        self.arm = arm
        self.seed = seed
        self.trial = 0
        self.sample = 0
        """Which of several attempts within one trial is under way, where an arm makes more than one."""
        self.budget = budget
        self.rules = rules
        """What a person approved of other tasks' lessons: `complete` adds it to what the actor asks of its model."""
        self.usage: dict[str, Usage] = {}
        """What the current trial has used, by role."""
        self.total_usage: dict[str, Usage] = {}
        """What the whole run has used, by role."""
        self._recorder: Recorder = PassThrough() if recorder is None else recorder
        self._events = events
        self._clock = clock
        self._elapsed_s = 0.0
        self._mark: float | None = None
        self._counts: dict[tuple[int, str], int] = {}
        self._path = ""
        self._watch: Watch | None = None
        self._free = False

    def watch(self, watch: Watch | None) -> None:
        """Has every request from now on shown to `watch`, also those that are answered from the record."""
        self._watch = watch

    @contextmanager
    def uncharged(self) -> Iterator[None]:
        """What is asked meanwhile counts against no allowance of the task, and is told apart, as `UNCHARGED`."""
        budget, self.budget = self.budget, Budget(Allowance())
        outer, self._free = self._free, True
        try:
            yield
        finally:
            self.budget, self._free = budget, outer

    def begin_trial(self, number: int) -> None:
        """Moves on to a trial, or back to one: usage starts anew, counters go on so that no key comes twice."""
        self.trial = number
        self.sample = 0
        self.usage = {}

    async def effect(self, role: str, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Passes a call through the recorder.

        `request` is plain data or a record that says what is asked for; it is kept beside the result, and its
        fingerprint guards a replay.
        """
        path = self._path + role
        n = self._counts.get((self.trial, path), 0)
        self._counts[self.trial, path] = n + 1
        key = EffectKey(self.task, self.arm, self.seed, self.trial, path, n)
        return await self._recorder.effect(key, request, call, kind)

    async def metered(self, role: str, request: object, call: Callable[[], Awaitable[T]], kind: type[Metered[T]]) -> T:
        """Passes a call through that may itself have effects.

        Those stand under its role in the record (`actor/clock`), so that a stored result, for which they are
        not asked again, shifts no other key; and it brings back what its model calls used.
        """
        live = False

        async def measured() -> Metered[T]:
            nonlocal live
            live = True
            outside, self.usage = self.usage, {}
            path, self._path = self._path, f"{self._path}{role}/"
            try:
                return Metered(await call(), self.usage)
            finally:
                self._path = path
                inside, self.usage = self.usage, outside
                for inner_role, usage in inside.items():
                    _add(self.usage, inner_role, usage)

        metered = await self.effect(role, request, measured, kind)
        if not live:
            for inner_role, usage in metered.usage.items():
                self._charge(inner_role, usage)
        return metered.result

    async def step(self, environment: Environment, action: str) -> EnvironmentStep:
        """Takes one step in a world. On a replay it is taken again, and must come out as it was recorded.

        Raises:
            ReplayDiverged: the world answered otherwise than the record says.
        """
        return await self._reapplied(action, partial(environment.step, action), EnvironmentStep)

    async def reset(self, environment: Environment) -> str:
        """Puts a world back and returns its first observation, under the same rule as `step`."""
        return await self._reapplied("", environment.reset, str)

    async def _reapplied(self, request: str, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        live = False

        async def taken() -> T:
            nonlocal live
            live = True
            return await call()

        recorded = await self.effect(ENVIRONMENT, request, taken, kind)
        if not live and (found := await call()) != recorded:
            raise ReplayDiverged(self.task, self.trial, request, recorded, found)
        return recorded

    async def complete(self, role: str, model: Model, request: ChatRequest) -> Reply:
        """Asks a model, within the budget.

        Raises:
            BudgetExhausted: the call was not made, since the allowance could not carry it.
            ModelFault: no usable answer after the last try.
        """
        if role == RULED_ROLE:
            request = with_rules(request, self.rules)
        limit_s = self.budget.allowance.seconds
        if limit_s is not None and (elapsed_s := await self.elapsed_s()) >= limit_s:
            raise BudgetExhausted("time", limit_s, elapsed_s)
        if self._watch is not None:
            self._watch(self.trial, role, request)
        with self.budget.reserve(request_bound(request, model.price), model.name):
            reply = await self.effect(role, (model.name, request), lambda: model.complete(request), Reply)
            self._charge(role, reply.usage)
        self.emit(ModelCalled(self.task, self.trial, role, model.name, reply.usage, self.budget.spent))
        return reply

    def _charge(self, role: str, usage: Usage) -> None:
        self.budget.charge(usage)
        role = UNCHARGED if self._free else role
        _add(self.usage, role, usage)
        _add(self.total_usage, role, usage)

    async def elapsed_s(self) -> float:
        """Seconds of this run, through the recorder.

        What is recorded is the time that went by and not the clock's reading: a resumed run goes on from the
        last one, in another process with another clock, and the time between the two does not count.
        """
        live = False

        async def read() -> float:
            nonlocal live
            live = True
            now = self._clock.monotonic()
            self._elapsed_s += 0.0 if self._mark is None else now - self._mark
            self._mark = now
            return self._elapsed_s

        elapsed_s = await self.effect(CLOCK, (), read, float)
        if not live:
            self._elapsed_s = elapsed_s
            self._mark = self._clock.monotonic()
        return elapsed_s

    def random(self, role: str) -> random.Random:
        """A random source that depends only on the place in the run.

        The arm is no part of it: arms are compared on the same draws, and can share what they ask alike.
        """
        place = (self.task, self.seed, self.trial, role, *((self.sample,) if self.sample else ()))
        return random.Random(fingerprint(*place))  # noqa: S311

    def emit(self, event: Event) -> None:
        """Tells an event."""
        self._events.emit(event)


def _add(ledger: dict[str, Usage], role: str, usage: Usage) -> None:
    ledger[role] = ledger.get(role, Usage()) + usage

"""What the tests of the core put in place of the world: a model that answers from a list, a recorder that
replays strictly, a sink that keeps every event. All of them remember what they were asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from afterword import (
    FREE,
    Allowance,
    Budget,
    ChatRequest,
    CheckResult,
    Effects,
    FakeClock,
    Fault,
    Feedback,
    Message,
    Price,
    Recorder,
    Reflection,
    Reply,
    Task,
    Trajectory,
    Trial,
    Usage,
    fingerprint,
)
from afterword.core.effects import Clock
from afterword.core.events import Event
from afterword.core.protocols import EffectKey
from afterword.errors import RecordingMismatch

T = TypeVar("T")

TASK = Task("t", "Do it.")


@dataclass
class ListModel:
    """Answers from a list, in order; an exception in it is raised. It counts one token a word."""

    replies: Sequence[str | Fault]
    price: Price | None = FREE
    name: str = "test:list"
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, Fault):
            raise reply
        words = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(calls=1, tokens_in=words, tokens_out=len(reply.split()))
        cost = None if self.price is None else self.price.cost_usd(usage)
        return Reply(reply, "stop", Usage(1, words, len(reply.split()), cost_usd=cost), self.name)


@dataclass
class StrictRecorder:
    """Keeps every result under its key; a key that it holds is answered without a call, if the request matches."""

    stored: dict[EffectKey, tuple[str, object]] = field(default_factory=dict)
    called: list[EffectKey] = field(default_factory=list)
    answered: list[EffectKey] = field(default_factory=list)

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        if key in self.stored:
            known, result = self.stored[key]
            if known != fingerprint(request):
                raise RecordingMismatch(f"another request is stored at {key}")
            self.answered.append(key)
            return result  # type: ignore[return-value]  # a dict of results of many kinds
        self.called.append(key)
        result = await call()
        self.stored[key] = (fingerprint(request), result)
        return result

    def after_restart(self, keep: int | None = None) -> StrictRecorder:
        """What another process finds: the first `keep` results that were stored, or all."""
        return StrictRecorder(dict(list(self.stored.items())[:keep]))


class Heard(list[Event]):
    """A sink that keeps what it hears. It is falsy while empty, as any list is."""

    def emit(self, event: Event) -> None:
        self.append(event)

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self]


def make_effects(
    *,
    allowance: Allowance | None = None,
    recorder: Recorder | None = None,
    clock: Clock | None = None,
    heard: Heard | None = None,
    task: str = "t",
    seed: int = 0,
) -> Effects:
    """Effects as the loop makes them."""
    return Effects(
        task=task,
        arm="reflexion",
        seed=seed,
        recorder=recorder,
        budget=Budget(allowance or Allowance()),
        events=Heard() if heard is None else heard,
        clock=FakeClock() if clock is None else clock,
    )


def ask(text: str = "Hello?", max_tokens: int = 10) -> ChatRequest:
    """A request of one user message."""
    return ChatRequest((Message("user", text),), max_tokens=max_tokens)


def checks(*passed: bool) -> tuple[CheckResult, ...]:
    """Checks `case:1`, `case:2`, …"""
    return tuple(CheckResult(f"case:{n}", one, "" if one else "wrong") for n, one in enumerate(passed, 1))


def make_trial(
    number: int,
    output: str = "",
    *,
    score: float = 0.0,
    lesson: str | None = None,
    disputes: str | None = None,
    judged: Sequence[bool] = (),
    graded: bool = False,
    trajectory: Trajectory | None = None,
) -> Trial:
    """A judged trial, with a reflection if there is a lesson or a dispute."""
    feedback = Feedback(score == 1.0, score, "exact", checks=checks(*judged), graded=graded)
    reflects = lesson is not None or disputes is not None
    reflection = Reflection(lesson or "", number, disputes=disputes) if reflects else None
    return Trial(number, trajectory or Trajectory(output), feedback, reflection)

"""Plain functions as actor, evaluator and reflector.

Asynchronous functions run in the event loop; others run in a worker thread, so that one that waits for a
model does not hold up other tasks. What a function returns is recorded as one effect.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from afterword.core.effects import Metered
from afterword.core.protocols import (
    ActContext,
    Actor,
    EvaluateContext,
    Evaluator,
    ReflectContext,
    Reflector,
)
from afterword.core.records import Feedback, Reflection, Trajectory
from afterword.errors import InputError

C = TypeVar("C", contravariant=True)
R = TypeVar("R")

Acted = str | Trajectory | None
"""None and an empty text are a trial with no output."""

Judged = bool | float | tuple[bool | float, str] | Feedback
"""A float is a grade in [0, 1] that passes at 1; the text of a pair becomes the feedback's message."""

Lesson = str | Reflection | None

ActFunction = Callable[[ActContext], Acted | Awaitable[Acted]]
EvaluateFunction = Callable[[EvaluateContext], Judged | Awaitable[Judged]]
ReflectFunction = Callable[[ReflectContext], Lesson | Awaitable[Lesson]]


@runtime_checkable
class _Acts(Protocol):
    async def act(self, context: ActContext) -> Trajectory: ...


@runtime_checkable
class _Evaluates(Protocol):
    async def evaluate(self, context: EvaluateContext) -> Feedback: ...


@runtime_checkable
class _Reflects(Protocol):
    async def reflect(self, context: ReflectContext) -> Reflection | None: ...


class FunctionActor:
    """An actor made of a function from a context to the output. It acts on no world."""

    stateless = True

    def __init__(self, function: ActFunction) -> None:
        self._call = _caller(function)

    async def act(self, context: ActContext) -> Trajectory:
        """Calls the function; a plain text becomes the output of a trajectory."""

        async def call() -> Trajectory:
            acted = await self._call(context)
            if isinstance(acted, Trajectory):
                return acted
            if acted is None or (isinstance(acted, str) and not acted.strip()):
                return Trajectory("", end="no_output", detail="The attempt gave no output.")
            if not isinstance(acted, str):
                raise TypeError(f"an actor returns a str, a Trajectory or None, found {type(acted).__name__}")
            return Trajectory(acted)

        request = (context.task, context.lessons, context.previous)
        return await context.effects.metered("actor", request, call, Metered[Trajectory])


class FunctionEvaluator:
    """An evaluator made of a function from a context to a verdict, in this process."""

    check_ids: tuple[str, ...] = ()

    def __init__(self, function: EvaluateFunction) -> None:
        self._call = _caller(function)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """Calls the function; see `Judged` for what it may return."""

        async def call() -> Feedback:
            return _feedback(await self._call(context))

        request = (context.task, context.trajectory)
        return await context.effects.metered(context.role, request, call, Metered[Feedback])


class FunctionReflector:
    """A reflector made of a function from a context to a lesson."""

    def __init__(self, function: ReflectFunction) -> None:
        self._call = _caller(function)

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        """Calls the function; a plain text becomes a lesson, None or an empty text is none."""

        async def call() -> Reflection:
            lesson = await self._call(context)
            if isinstance(lesson, Reflection):
                return lesson
            if lesson is not None and not isinstance(lesson, str):
                raise TypeError(f"a reflector returns a str, a Reflection or None, found {type(lesson).__name__}")
            return Reflection(lesson or "", context.trial.number)

        request = (context.task, context.trial, context.lessons)
        reflection = await context.effects.metered("reflector", request, call, Metered[Reflection])
        says_something = reflection.text.strip() or reflection.retracts or reflection.disputes
        return reflection if says_something else None


def as_actor(actor: Actor | ActFunction) -> Actor:
    """An actor as it is, or one made of a plain function."""
    if isinstance(actor, _Acts) and not isinstance(actor, type):
        return actor
    if hasattr(actor, "reset"):
        raise InputError(
            f"{type(actor).__name__} has a reset and is called like a function; "
            "make it an actor: `async def act(self, context) -> Trajectory` beside its reset"
        )
    return FunctionActor(_function("actor", actor))


def as_evaluator(evaluator: Evaluator | EvaluateFunction) -> Evaluator:
    """An evaluator as it is, or one made of a plain function."""
    if isinstance(evaluator, _Evaluates) and not isinstance(evaluator, type):
        return evaluator
    return FunctionEvaluator(_function("evaluator", evaluator))


def as_reflector(reflector: Reflector | ReflectFunction) -> Reflector:
    """A reflector as it is, or one made of a plain function."""
    if isinstance(reflector, _Reflects) and not isinstance(reflector, type):
        return reflector
    return FunctionReflector(_function("reflector", reflector))


def _function(role: str, part: Callable[[C], R]) -> Callable[[C], R]:
    if isinstance(part, type):
        raise InputError(
            f"the {role} must be a function or an object, found the class {part.__name__}; make an instance of it"
        )
    if not callable(part):
        raise InputError(
            f"the {role} must be a function of one context or an object with the {role}'s method, "
            f"found {type(part).__name__}"
        )
    return part


def _caller(function: Callable[[C], R | Awaitable[R]]) -> Callable[[C], Awaitable[R]]:
    """A coroutine function that calls `function` where it belongs: here if asynchronous, else in a thread."""
    asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an asynchronous __call__
    )

    async def call(context: C) -> R:
        if asynchronous:
            result = function(context)
        else:
            from anyio import to_thread  # here: it brings asyncio along, half of the time to import this package

            result = await to_thread.run_sync(partial(function, context), abandon_on_cancel=True)
        return await result if inspect.isawaitable(result) else result

    return call


def _feedback(judged: object) -> Feedback:
    if isinstance(judged, Feedback):
        return judged
    value, message = judged if isinstance(judged, tuple) and len(judged) == 2 else (judged, "")
    if not isinstance(value, (bool, int, float)):
        found = f"a tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__
        raise TypeError(
            "an evaluator returns a bool, a grade in [0, 1], one of them as (verdict, text), or a Feedback; "
            f"found {found}"
        )
    if not 0 <= value <= 1:
        raise ValueError(f"a grade must be in [0, 1], found {value!r}")
    passed = value is True or value >= 1
    return Feedback(
        passed=passed,
        score=float(value),
        trust="shared_process",
        reason="ok" if passed else "failed",
        message=str(message),
        graded=isinstance(value, float),
    )

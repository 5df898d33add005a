"""A world of the user's own: a class named by its import path, whose methods may be asynchronous or not.

Two forms are understood, the `Environment` of this package and that of Gymnasium, so that a simulator that exists
need not be written anew. It runs in this process: it is the user's code, as their tests are.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import SupportsFloat

import anyio.to_thread

from afterword.core.bounds import cut
from afterword.core.effects import fingerprint
from afterword.core.protocols import EnvironmentStep
from afterword.errors import AfterwordError, InputError, WorldFault

MAX_OBSERVATION_CHARS = 100_000
"""A longer text is cut with a mark: each is kept with the run, and no prompt shows as much."""

Make = Callable[..., object]
"""A class, or a function that returns a world."""


class OwnWorld:
    """A user's world as an `Environment`, made at its first reset.

    `make` is called without arguments. The world needs `reset` and `step`; `fingerprint` and `close` if it has them.
    Without a fingerprint of its own the last observation stands for the state.
    """

    def __init__(self, make: Callable[[], object], name: str) -> None:
        self._make = make
        self._name = name
        self._world: object | None = None
        self._seen = ""

    async def reset(self) -> str:
        """The first observation: a text, or as Gymnasium has it a pair of the text and something else.

        Raises:
            WorldFault: the world raised, or gave something else.
        """
        if self._world is None:
            self._world = await self._run("its constructor", self._make)
        answer = await self._call("reset")
        self._seen = self._text(answer[0] if isinstance(answer, tuple) and len(answer) == 2 else answer, "reset")
        return self._seen

    async def step(self, action: str) -> EnvironmentStep:
        """One step: an `EnvironmentStep`, or Gymnasium's observation, reward, terminated, truncated, info.

        Raises:
            WorldFault: the world raised, or gave something else.
        """
        answer = await self._call("step", action)
        if isinstance(answer, tuple) and len(answer) == 5:
            answer = self._from_gymnasium(answer)
        if not isinstance(answer, EnvironmentStep):
            raise WorldFault(
                f"{self._name}.step must return an EnvironmentStep or Gymnasium's five values, found {answer!r:.200}"
            )
        self._seen = self._text(answer.observation, "step")
        return self._checked(replace(answer, observation=self._seen))

    async def fingerprint(self) -> str:
        """The world's own, or a hash of the last observation."""
        if self._world is None or not hasattr(self._world, "fingerprint"):
            return fingerprint(self._seen)
        return self._text(await self._call("fingerprint"), "fingerprint")

    async def close(self) -> None:
        """Closes the world, if there is one and it can be closed."""
        world, self._world = self._world, None
        if world is not None and hasattr(world, "close"):
            await self._run("close", world.close)

    async def _call(self, method: str, *arguments: str) -> object:
        if self._world is None:
            raise WorldFault(f"{self._name} is not open; reset it first")
        return await self._run(method, partial(getattr(self._world, method), *arguments))

    async def _run(self, what: str, call: Callable[[], object]) -> object:
        """Asynchronous functions run in the event loop, others in a worker thread, so that no other task waits."""
        try:
            if inspect.iscoroutinefunction(call.func if isinstance(call, partial) else call):
                answer = call()
            else:
                answer = await anyio.to_thread.run_sync(call)
            return await answer if inspect.isawaitable(answer) else answer
        except AfterwordError:
            raise
        except (Exception, SystemExit) as error:  # a world that wants to exit ends its trial, not the run
            raise WorldFault(f"{self._name}: {what} raised {type(error).__name__}: {error}") from error

    def _from_gymnasium(self, answer: tuple[object, ...]) -> EnvironmentStep:
        observation, stated, terminated, truncated, info = answer
        if (reward := _number(stated)) is None:
            raise WorldFault(f"{self._name}.step must return a number as reward, found {stated!r:.100}")
        told = info.get("won") if isinstance(info, Mapping) else None
        won = bool(terminated) and reward >= 1 if told is None else bool(told)
        grade = min(1.0, max(0.0, reward))
        return EnvironmentStep(self._text(observation, "step"), bool(terminated) or bool(truncated), won, grade)

    def _checked(self, answer: EnvironmentStep) -> EnvironmentStep:
        """Only a true `won` is a success, and only a number in [0, 1] is a grade."""
        for name, flag in (("done", answer.done), ("won", answer.won)):
            if not isinstance(flag, bool):
                raise WorldFault(f"{self._name}.step must say True or False as {name}, found {flag!r:.100}")
        reward = _number(answer.reward)
        if reward is None or not 0 <= reward <= 1:
            raise WorldFault(f"{self._name}.step must give a reward from 0 to 1, found {answer.reward!r:.100}")
        return replace(answer, reward=reward)

    def _text(self, value: object, method: str) -> str:
        if not isinstance(value, str):
            raise WorldFault(f"{self._name}.{method} must give a text, found {value!r:.200}")
        return cut(value, MAX_OBSERVATION_CHARS)


def _number(value: object) -> float | None:
    """A number, also one of numpy; None for what is none."""
    return float(value) if isinstance(value, SupportsFloat) else None


def world_class(source: str, folder: Path | None = None) -> Make:
    """What `my_module:MyEnv` names; `folder` (where the user is) is searched first.

    Raises:
        InputError: the module or the name in it is not there, or it is not a world.
    """
    module_name, _, name = source.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        raise InputError(f"expected an environment as module:Class, e.g. my_module:MyEnv, found {source!r}")
    place = str((folder or Path.cwd()).resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    found = _named(_module(module_name, source, place), name)
    wanted = ("reset", "step") if isinstance(found, type) else ()
    missing = [method for method in wanted if not callable(getattr(found, method, None))]
    if missing:
        raise InputError(f"{source!r} has no method {' and no '.join(missing)}; an environment has reset and step")
    if not callable(found):
        raise InputError(f"{source!r} is no class or function but {type(found).__name__}")
    return found


def _module(name: str, source: str, place: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"there is no module {error.name!r} in {place} or among the installed ones") from None
        raise InputError(f"{source!r} needs the module {error.name!r}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"{name!r} cannot be imported: {type(error).__name__}: {error}") from error


def _named(module: ModuleType, name: str) -> object:
    found: object = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"the module {module.__name__!r} has no {name!r}; expected module:Class")
        found = getattr(found, part)
    return found


def source_digest(make: Make) -> str:
    """A hash of the file that holds a world, so that a changed one is noticed; empty where there is none."""
    try:
        file = inspect.getsourcefile(make)
        return "" if file is None else fingerprint(Path(file).read_text("utf-8", "replace"))
    except (TypeError, OSError):
        return ""


def argument_problem(make: Make, source: str, arguments: Mapping[str, object]) -> str:
    """What is wrong with these arguments for this world; empty when they fit."""
    try:
        inspect.signature(make).bind(**arguments)
    except TypeError as error:
        return f"the args do not fit {source}: {error}"
    except ValueError:  # a class of C code tells no signature
        return ""
    return ""

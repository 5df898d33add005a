"""Objects of the tests' own classes, as far as a program may use them.

The program reaches their attributes and operators through one function. Names with two underscores are closed:
`__init__.__globals__` would lead to the tests and what they expect.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from afterword.evaluators.judge.remote import RemoteObject
from afterword.sandbox.jail.codec import OPERATORS, SPECIAL_NAMES

_CLOSED = (types.FrameType, types.TracebackType, types.CodeType, types.ModuleType)


def may_expose(value: object) -> bool:
    """Whether an object is an instance of a class that the test file defines, or an object of another jail."""
    return type(value).__module__ == "tests" or isinstance(value, RemoteObject)


def specials_of(value: object) -> list[str]:
    """The operators that the object's class defines."""
    mro = type(value).__mro__[:-1]
    return [name for name in SPECIAL_NAMES if any(vars(cls).get(name) is not None for cls in mro)]


def accessor(target: Any) -> Callable[..., object]:
    """The one function through which a program uses `target`."""

    def access(operation: str, *args: Any) -> object:
        if operation in ("get", "set", "delete"):
            return _attribute(target, operation, *args)
        if operation == "__call__":
            result: object = target(*args)
            return result
        if operation.startswith("__r") and operation not in OPERATORS:
            return getattr(target, operation)(*args) if operation in SPECIAL_NAMES else None
        return OPERATORS[operation](target, *args)

    return access


def _attribute(target: Any, operation: str, name: str, value: object = None) -> object:
    if type(name) is not str or name.startswith(("__", "_aw_")):
        raise AttributeError(f"{name!r:.100} is not open to the program")
    if operation == "set":
        setattr(target, name, value)
        return None
    if operation == "delete":
        delattr(target, name)
        return None
    found = getattr(target, name)
    if isinstance(found, _CLOSED):
        raise AttributeError(f"{name!r:.100} is not open to the program")
    return found

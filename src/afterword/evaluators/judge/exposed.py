"""Objects of the tests' own classes, as far as a program may use them.

The program reaches their attributes and operators through one function. Names with two underscores are closed:
`__init__.__globals__` would lead to the tests and what they expect.
"""

from __future__ import annotations

import io
import types
from collections.abc import Callable
from typing import Any

from afterword.evaluators.judge.remote import RemoteObject
from afterword.sandbox.jail.codec import OPERATORS, SPECIAL_NAMES

_FILES = (io.StringIO, io.BytesIO)
_POSITIONAL, _STARRED, _KEYWORD_ONLY, _DOUBLE_STARRED = 1, 2, 3, 4  # of inspect, which is not imported for it
_VARIADIC, _NAMED = 4, 8
_CLOSED = (types.FrameType, types.TracebackType, types.CodeType, types.ModuleType)


def may_expose(value: object) -> bool:
    """Whether an object is of a class that the test file defines, a file in memory, or an object of another jail."""
    return type(value).__module__ == "tests" or type(value) in _FILES or isinstance(value, RemoteObject)


def shape_of(function: object) -> list[list[tuple[str, int, bool]]]:
    """The parameters of a function in a list, for programs that count them; an empty list where they are not known."""
    if not isinstance(function, types.FunctionType):
        return []
    code, defaults = function.__code__, len(function.__defaults__ or ())
    names, count, keyword_only = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    found = [(name, _POSITIONAL, place >= count - defaults) for place, name in enumerate(names[:count])]
    after = count + keyword_only
    if code.co_flags & _VARIADIC:
        found.append((names[after], _STARRED, False))
        after += 1
    wanted = names[count : count + keyword_only]
    found += [(name, _KEYWORD_ONLY, name in (function.__kwdefaults__ or {})) for name in wanted]
    if code.co_flags & _NAMED:
        found.append((names[after], _DOUBLE_STARRED, False))
    return [found]


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

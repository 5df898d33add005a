"""Comparisons of the tests in which numpy may broadcast an array without items against what is expected.

The runner's part of the rewriting in `function_tests/arrays.py`; without numpy in play each is the plain operator.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from afterword.evaluators.judge.failures import CheckFailed
from afterword.evaluators.judge.program import LEFT_MAY_BE_EMPTY, RIGHT_MAY_BE_EMPTY

_OPERATORS: dict[str, Callable[[Any, Any], object]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "-": operator.sub,
}  # fmt: skip
_ORDER = ("<", "<=", ">", ">=")
_LOOKED_AT = 64  # items of a list, to see whether all of them are empty


def compare(sign: str, may_be_empty: int, left: object, right: object) -> object:
    """`left sign right`.

    Raises CheckFailed where exactly one side is an array without items and numpy would make that no items at all.
    An order against one number is left alone: `(result >= 0).all()` is true of no items, and rightly so.
    """
    if _is_array(left) or _is_array(right):
        empty, other, allowed = (
            (left, right, LEFT_MAY_BE_EMPTY) if _is_empty(left) else (right, left, RIGHT_MAY_BE_EMPTY)
        )
        if (
            _is_empty(empty)
            and not _is_empty(other)
            and not may_be_empty & allowed
            and not (sign in _ORDER and not _has_items(other))
        ):
            raise _failed(sign, left, right)
    return _OPERATORS[sign](left, right)


def call(function: Callable[..., object], *args: object, **kwargs: object) -> object:
    """A call of one of numpy's functions that compare its first two arguments. Raises as `compare`."""
    sides = [*args, *kwargs.values()][:2]
    if "numpy" in sys.modules and len(sides) == 2 and _is_empty(sides[0]) != _is_empty(sides[1]):
        raise _failed(getattr(function, "__name__", "a comparison"), *sides)
    return function(*args, **kwargs)


def _failed(name: str, left: object, right: object) -> CheckFailed:
    return CheckFailed(f"{name}: one side has no items and the other one has", ("left", "right"), (left, right), None)


def _is_array(value: object) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "shape")


def _has_items(value: object) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "shape", ()) != ()


def _is_empty(value: object) -> bool:
    """Whether numpy sees no items in it."""
    if _is_array(value):
        return getattr(value, "size", 1) == 0
    return isinstance(value, (list, tuple)) and all(_is_empty(item) for item in value[:_LOOKED_AT])

"""`approx`: equality of numbers, sequences, dicts and arrays within a tolerance, with pytest's defaults.

Also the tolerance of labelled cases. Remote objects are never approximately equal to anything.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from typing import Any

from afterword.evaluators.judge.remote import number_of

DEFAULT_RELATIVE = 1e-6
DEFAULT_ABSOLUTE = 1e-12


class Approx:
    """Equal to what is close to `expected`."""

    __array_ufunc__ = None  # numpy leaves the comparison to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: object, rel: float | None = None, abs: float | None = None, nan_ok: bool = False):  # noqa: A002, ANN204
        if isinstance(expected, (set, frozenset)):
            raise TypeError("approx takes numbers, sequences, dicts and arrays, not sets")
        for name, tolerance in (("rel", rel), ("abs", abs)):
            if tolerance is not None and (tolerance < 0 or math.isnan(tolerance)):
                raise ValueError(f"{name} must not be negative, found {tolerance!r}")
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual: object) -> bool:
        return self._equal(actual, self.expected)

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _equal(self, actual: object, expected: object) -> bool:
        if number_of(actual) is not None or number_of(expected) is not None:
            return False
        if _is_array(expected) or (_is_array(actual) and _is_number(expected)):
            return self._equal_arrays(actual, expected)
        if isinstance(expected, Mapping):
            return (
                isinstance(actual, Mapping)
                and set(actual) == set(expected)
                and all(self._equal_items(actual[key], expected[key]) for key in expected)
            )
        if isinstance(expected, Sequence) and not isinstance(expected, (str, bytes)):
            if _is_array(actual):
                actual = actual.tolist()  # type: ignore[attr-defined]
            return (
                isinstance(actual, Sequence)
                and not isinstance(actual, (str, bytes))
                and len(actual) == len(expected)
                and all(map(self._equal_items, actual, expected))
            )
        return self._equal_items(actual, expected)

    def _equal_items(self, actual: object, expected: object) -> bool:
        if (
            isinstance(expected, bool)
            and not isinstance(actual, bool)
            and type(actual).__name__ not in ("bool", "bool_")
        ):
            return False
        if not _is_number(expected) or not _is_number(actual):
            return number_of(actual) is None and bool(actual == expected)
        return close(actual, expected, self._tolerance(expected), nan_ok=self.nan_ok)

    def _tolerance(self, expected: Any) -> float:
        absolute = DEFAULT_ABSOLUTE if self.abs is None else self.abs
        if self.rel is None and self.abs is not None:
            return absolute
        relative = (DEFAULT_RELATIVE if self.rel is None else self.rel) * float(abs(expected))
        return max(relative, absolute)

    def _equal_arrays(self, actual: object, expected: object) -> bool:
        import numpy as np

        one, other = np.asarray(actual), np.asarray(expected)
        if (_is_array(expected) and one.shape != other.shape) or one.size < other.size:
            return False  # an array without items would be close to every number
        pairs = zip(*(array.ravel().tolist() for array in np.broadcast_arrays(one, other)), strict=True)
        return all(self._equal_items(a, b) for a, b in pairs)


def close(actual: Any, expected: Any, tolerance: float, *, nan_ok: bool = False) -> bool:
    """Whether two numbers are at most `tolerance` apart."""
    if actual == expected:
        return True
    if cmath.isnan(expected) or cmath.isnan(actual):
        return nan_ok and cmath.isnan(expected) and cmath.isnan(actual)
    if cmath.isinf(expected) or cmath.isinf(actual):
        return False
    return bool(abs(expected - actual) <= tolerance)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return False
    return isinstance(value, (int, float, complex)) or (
        type(value).__module__ in ("decimal", "fractions", "numpy")
        and hasattr(value, "__float__")
        and not _is_array(value)
    )


def _is_array(value: object) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def close_data(actual: object, expected: object, tolerance: float) -> bool:
    """Equality of plain data where numbers may differ by `tolerance`, at any depth."""
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(actual, (list, tuple))
            and len(actual) == len(expected)
            and all(close_data(a, e, tolerance) for a, e in zip(actual, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(close_data(actual[key], expected[key], tolerance) for key in expected)
        )
    if _is_number(expected) and _is_number(actual):
        return close(actual, expected, tolerance)
    return bool(actual == expected)

"""Labelled cases: rows of JSON with arguments and what is expected, checked for form."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from afterword.core.bounds import cut_end
from afterword.errors import InputError
from afterword.evaluators.judge.program import Row

_KEYS = frozenset({"args", "kwargs", "expected", "raises", "tolerance", "id", "line", "note", "label"})
_MAX_TEXT = 2_000


def rows_of(rows: Iterable[Mapping[str, object]], entry_point: str, file: Path | None) -> tuple[Row, ...]:
    """The rows, numbered from 1; `line` of a row, where it has one, is used in errors."""
    return tuple(_row(row, number, entry_point, file) for number, row in enumerate(rows, start=1))


def _row(row: Mapping[str, object], number: int, entry_point: str, file: Path | None) -> Row:
    given_line = row.get("line") if isinstance(row, Mapping) else None
    line = given_line if isinstance(given_line, int) else number

    def wrong(what: str) -> InputError:
        return InputError(f"case {number}: {what}", file=file, line=line)

    if not isinstance(row, Mapping):
        raise wrong(f"expected an object with args and expected, found {type(row).__name__}")
    if unknown := sorted(set(row) - _KEYS):
        raise wrong(f"unknown key {unknown[0]!r}; known are args, kwargs, expected, raises, tolerance")
    args, kwargs, raises = row.get("args", []), row.get("kwargs", {}), row.get("raises")
    if not isinstance(args, (list, tuple)):
        raise wrong(f"args must be a list, found {type(args).__name__}")
    if not isinstance(kwargs, dict) or not all(isinstance(key, str) for key in kwargs):
        raise wrong("kwargs must be an object")
    if ("expected" in row) == (raises is not None):
        raise wrong("needs either expected or raises")
    if raises is not None and not isinstance(raises, str):
        raise wrong("raises must be the name of an exception")
    tolerance = row.get("tolerance")
    if tolerance is not None and (isinstance(tolerance, bool) or not isinstance(tolerance, (int, float))):
        raise wrong(f"tolerance must be a number, found {tolerance!r}")
    if tolerance is not None and not (0 <= tolerance < math.inf):
        raise wrong(f"tolerance must not be negative, found {tolerance!r}")
    call = _call_text(entry_point, args, kwargs)
    text = f"{call} raises {raises}" if raises is not None else f"{call} == {_short(row['expected'])}"
    return Row(
        f"case:{number}",
        text,
        entry_point,
        tuple(args),
        dict(kwargs),
        how="case" if raises is None else "raises",
        expected=row.get("expected") if raises is None else raises,
        tolerance=float(tolerance or 0),
    )


def _call_text(name: str, args: list[object] | tuple[object, ...], kwargs: dict[str, object]) -> str:
    parts = [_short(value) for value in args] + [f"{key}={_short(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def _short(value: object) -> str:
    return cut_end(repr(value), _MAX_TEXT)

"""Labelled cases and literal asserts: calls on plain data, sent several at a time, compared here."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from typing import Any

from afterword.evaluators.judge.approximate import close_data
from afterword.evaluators.judge.checks import Checks
from afterword.evaluators.judge.connection import Call, Connection
from afterword.evaluators.judge.failures import CheckFailed
from afterword.evaluators.judge.program import Row
from afterword.evaluators.judge.remote import number_of

MAX_ITEMS = 1_000_000


def run_rows(rows: tuple[Row, ...], connection: Connection, checks: Checks) -> None:
    """Judges all rows; a check passes when each of its rows does."""
    wanted = [row for row in rows if row.check_id in checks.wanted]
    calls = [
        (
            row.name,
            [connection.encode(value) for value in row.args],
            [[key, connection.encode(value)] for key, value in row.kwargs.items()],
        )
        for row in wanted
    ]
    results = connection.calls_at_once([call for row, call in zip(wanted, calls, strict=True) if row.how != "nothing"])
    groups = itertools.groupby(zip(wanted, calls, strict=True), key=lambda pair: pair[0].check_id)
    for check_id, group in groups:
        rest = iter(list(group))
        with checks.guard(check_id):
            for row, (name, nodes, named) in rest:
                result = next(results) if row.how != "nothing" else None
                if isinstance(result, BaseException):
                    connection.calls.append(Call(name, nodes, named))
                judge_row(row, result)
        for row, _ in rest:
            if row.how != "nothing":
                next(results)  # rows after a failed one were sent already


def judge_row(row: Row, result: object) -> None:
    """Raises unless the result is what the row expects."""
    if row.how == "raises":
        if isinstance(result, BaseException):
            if _is_a(result, str(row.expected)):
                return
            raise result
        raise CheckFailed(row.text, ("returned",), (result,), None)
    if isinstance(result, BaseException):
        raise result
    if not _holds(row, result):
        if row.how in ("true", "false"):
            raise CheckFailed(row.text, ("value",), (result,), None)
        sides = ("returned", "expected") if row.how in ("case", "close") else ("left", "right")
        raise CheckFailed(row.text, sides, (result, row.expected), None)


def _is_a(error: BaseException, name: str) -> bool:
    """Whether an error is of a built-in class, or of one of the program's own with that name."""
    built_in = getattr(builtins, name, None)
    if isinstance(built_in, type):
        return isinstance(error, built_in)
    return name in [cls.__name__ for cls in type(error).__mro__]


def _holds(row: Row, result: object) -> bool:
    if row.how == "nothing":
        return True
    if row.how == "equal":
        return bool(result == row.expected)
    if row.how == "is":
        return result is row.expected
    if row.how in ("true", "false"):
        return bool(result) is (row.how == "true")
    if row.how == "close":
        if number_of(result) is not None and not isinstance(result, (int, float, complex)):
            return False
        distance: Any = abs(result - row.expected)  # type: ignore[operator]
        return bool(distance < row.tolerance)
    return close_data(as_json(result), as_json(row.expected), row.tolerance)


def as_json(value: object) -> object:
    """A result as JSON can tell it: tuples and generators are lists."""
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, Iterator):
        items = list(itertools.islice(value, MAX_ITEMS + 1))
        return items if len(items) > MAX_ITEMS else [as_json(item) for item in items]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return as_json(value.tolist())
    return value

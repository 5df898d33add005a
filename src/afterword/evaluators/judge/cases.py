"""Labelled cases and literal asserts: calls on plain data, sent several at a time, compared here."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator

from afterword.evaluators.judge.approximate import close, close_data
from afterword.evaluators.judge.checks import Checks
from afterword.evaluators.judge.connection import Call, Connection
from afterword.evaluators.judge.failures import CheckFailed
from afterword.evaluators.judge.program import Row
from afterword.evaluators.judge.remote import RemoteObject

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
    results = connection.calls_at_once(calls)
    for check_id, group in itertools.groupby(zip(wanted, calls, strict=True), key=lambda pair: pair[0].check_id):
        with checks.guard(check_id):
            for row, (name, nodes, named) in group:
                result = next(results)
                if isinstance(result, BaseException):
                    connection.calls.append(Call(name, nodes, named))
                judge_row(row, result)
        for _ in group:
            next(results)  # rows after a failed one were sent already


def judge_row(row: Row, result: object) -> None:
    """Raises unless the result is what the row expects."""
    if row.how == "raises":
        expected = getattr(builtins, str(row.expected), None)
        names = [cls.__name__ for cls in type(result).__mro__] if isinstance(result, BaseException) else []
        if (isinstance(expected, type) and isinstance(result, expected)) or row.expected in names:
            return
        if isinstance(result, BaseException):
            raise result
        raise CheckFailed(row.text, ("returned",), (result,), None)
    if isinstance(result, BaseException):
        raise result
    if not _holds(row, result):
        names, values = (("left", "right"), (result, row.expected))
        if row.how in ("true", "false"):
            names, values = ("value",), (result,)  # type: ignore[assignment]
        elif row.how in ("case", "close"):
            names = ("returned", "expected")
        raise CheckFailed(row.text, names, values, None)


def _holds(row: Row, result: object) -> bool:
    if row.how == "equal":
        return bool(result == row.expected)
    if row.how == "is":
        return result is row.expected
    if row.how in ("true", "false"):
        return bool(result) is (row.how == "true")
    if row.how == "close":
        number = isinstance(result, (int, float, complex)) or hasattr(type(result), "__float__")
        return number and not isinstance(result, RemoteObject) and close(result, row.expected, row.tolerance)
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

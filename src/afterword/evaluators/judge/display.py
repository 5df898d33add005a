"""Values, calls and errors as bounded text for a message.

Nothing here builds a long text to cut it afterwards: values come from a program that may return anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from afterword.evaluators.judge.connection import Call, CannotCross, Connection
from afterword.evaluators.judge.origins import RemoteOrigin, origin_of
from afterword.evaluators.judge.remote import number_of
from afterword.sandbox.jail.codec import BASES, WireError

MAX_VALUE = 2_000
MAX_LINE = 300
_MAX_LEVELS = 8
_ADDRESS = re.compile(
    r" at 0x[0-9a-f]{6,16}(?=>)"
)  # another one each time, and the same program gets the same messages
_MAX_HEX = 60


def cut(text: str, limit: int) -> str:
    """`text`, or its start and a mark that says how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}[… {len(text) - limit:,} characters cut …]"


class _Full(Exception):
    """The text has reached its limit."""


class _Writer:
    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.room = limit

    def add(self, text: str) -> None:
        if len(text) > self.room:
            self.parts.append(text[: self.room])
            raise _Full
        self.parts.append(text)
        self.room -= len(text)

    def value(self, value: object, level: int = 0) -> None:
        kind = type(value)
        if kind in (list, tuple, set, frozenset, dict) and level < _MAX_LEVELS:
            self._container(value, level)
        elif kind is str or kind is bytes:
            assert isinstance(value, (str, bytes))  # noqa: S101  the exact type is known
            self.add(repr(value[: self.room + 1]))  # no more of it than can be shown
        elif kind is int:
            assert isinstance(value, int)  # noqa: S101  the exact type is known
            self.add(
                str(value) if value.bit_length() < 4_000 else f"{hex(value >> (value.bit_length() - 200))[:_MAX_HEX]}…"
            )
        else:
            self.add(_other(value))

    def _container(self, value: object, level: int) -> None:
        if isinstance(value, dict):
            self.add("{")
            for number, (key, item) in enumerate(value.items()):
                self.add(", " if number else "")
                self.value(key, level + 1)
                self.add(": ")
                self.value(item, level + 1)
            self.add("}")
            return
        assert isinstance(value, Iterable)  # noqa: S101  the exact type is known
        opening, closing = {list: "[]", tuple: "()", set: "{}", frozenset: ("frozenset({", "})")}[type(value)]
        empty_set = isinstance(value, (set, frozenset)) and not value
        if empty_set:
            self.add(f"{type(value).__name__}()")
            return
        self.add(opening)
        count = 0
        for item in value:
            self.add(", " if count else "")
            self.value(item, level + 1)
            count += 1
        self.add("," if count == 1 and isinstance(value, tuple) else "")
        self.add(closing)


def show(value: object, limit: int = MAX_VALUE) -> str:
    """A value as Python writes it, at most `limit` characters and a mark of the cut."""
    writer = _Writer(limit)
    try:
        writer.value(value)
    except _Full:
        return "".join(writer.parts) + "[… cut …]"
    return "".join(writer.parts)


def _other(value: object) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:  # noqa: BLE001  recorded as the text
        return f"<{type(value).__name__} object whose repr raises {type(error).__name__}>"


def show_call(connection: Connection, call: Call, limit: int = MAX_LINE) -> str:
    """A call with its arguments as they were sent."""
    parts = [show(_decoded(connection, node), limit) for node in call.args]
    parts += [f"{key}={show(_decoded(connection, node), limit)}" for key, node in call.kwargs]
    return cut(f"{call.name}({', '.join(parts)})", limit)


class _Shown:
    """Something whose text is known."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _decoded(connection: Connection, node: object) -> object:
    if isinstance(node, list) and node and node[0] == "fn":
        return _Shown(str(node[2]))
    try:
        return connection.decode(node)
    except (WireError, RecursionError):  # sent by the tests in a form that is only read in the jail, e.g. an iterator
        return _Shown("…")


def show_result(connection: Connection, call: Call, limit: int = MAX_LINE) -> str | None:
    """What a call returned, where that is known."""
    if not call.returned:
        return None
    node = call.result
    if isinstance(node, list) and node and node[0] == "arg":
        return "the argument itself"
    return show(connection.received(node), limit)


def show_error(error: BaseException) -> str:
    """An error with its last lines in the program, if it came from there."""
    origin = origin_of(error)
    kind = type(error).__name__
    if isinstance(error, CannotCross):
        return f"the result cannot be judged: {error}"
    text = origin.text if origin is not None else _text(error)
    lines = [cut(f"{kind}: {text}" if text else kind, 500)]
    lines += show_origin(origin)
    return "\n".join(lines)


def show_origin(origin: RemoteOrigin | None) -> list[str]:
    """The last lines of the program before an error."""
    if origin is None:
        return []
    return [f"  solution.py, line {line}, in {name}: {cut(text, 200)}" for line, name, text in origin.lines]


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as problem:  # noqa: BLE001  recorded as the text
        return f"(its text cannot be shown: {type(problem).__name__})"


def difference(left: object, right: object) -> str | None:
    """Where two sequences or dicts of some length first differ."""
    if any(number_of(side) is not None and not isinstance(side, BASES) for side in (left, right)):
        return "an object of the program is never equal to plain data"
    if isinstance(left, (list, tuple, str)) and type(left) is type(right) and len(left) + len(right) > 8:
        assert isinstance(right, (list, tuple, str))  # noqa: S101  the same type as left
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            if not (one is other or one == other):
                return f"first difference at index {index}: {show(one, 100)} and {show(other, 100)}"
        return f"lengths differ: {len(left)} and {len(right)}" if len(left) != len(right) else None
    if isinstance(left, dict) and isinstance(right, dict) and len(left) + len(right) > 6:
        for key in [*right, *left]:
            if key not in left or key not in right:
                return f"only one side has the key {show(key, 100)}"
            if left[key] != right[key]:
                return f"they differ at key {show(key, 100)}: {show(left[key], 100)} and {show(right[key], 100)}"
    return None

"""What the main process hands to a judge: compiled tests or labelled cases, and which checks are wanted.

The form is a dict for `marshal`, which carries code; it goes from main to judge only, between two processes
of the same interpreter, and never comes from a jail.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from types import CodeType
from typing import Literal

How = Literal["equal", "is", "true", "false", "close", "case", "raises", "nothing"]
"""How a row's result is compared: `case` is equality of JSON data, where tuples and lists are alike; `nothing` is
a row without a call, for `assert True`."""


Kind = Literal["function", "method", "unittest", "check"]

LEFT_MAY_BE_EMPTY = 1
RIGHT_MAY_BE_EMPTY = 2
"""Flags of a compared pair: a side that the tests chose from an array may have no items."""


@dataclass(frozen=True, slots=True)
class Row:
    """One call on plain data and what is expected of it."""

    check_id: str
    text: str
    """The assertion as it is shown."""
    name: str
    args: tuple[object, ...]
    kwargs: dict[str, object]
    how: How
    expected: object = None
    tolerance: float = 0.0

    def plain(self) -> tuple[object, ...]:
        return (self.check_id, self.text, self.name, self.args, self.kwargs, self.how, self.expected, self.tolerance)


@dataclass(frozen=True, slots=True)
class Item:
    """Something to run after the test file was executed."""

    kind: Kind
    check_id: str
    cls: str
    name: str
    row: int
    """The argument set of a parametrized test, from 0."""

    def plain(self) -> tuple[object, ...]:
        return (self.kind, self.check_id, self.cls, self.name, self.row)


@dataclass(frozen=True, slots=True)
class Jailed:
    """A test that is not trusted: a function of the code in a second jail."""

    check_id: str
    text: str
    """The assertion as it is shown."""
    name: str
    """The function, which takes the program's entry point."""

    def plain(self) -> tuple[str, str, str]:
        return (self.check_id, self.text, self.name)


@dataclass(frozen=True, slots=True)
class Program:
    """Tests in the form in which a judge runs them."""

    entry_point: str
    check_ids: tuple[str, ...]
    needs: tuple[str, ...]
    """Names that the program has to define; without one the verdict is `missing`."""
    offered: tuple[str, ...] = ()
    """Names that the tests use without defining or importing them; taken from the program where it has them."""
    closed: tuple[str, ...] = ()
    """Names that `from solution import *` leaves out."""
    rows: tuple[Row, ...] = ()
    code: CodeType | None = None
    """None: the rows are all there is."""
    items: tuple[Item, ...] = ()
    lines: tuple[str, ...] = ()
    """The test file, for messages."""
    jailed: tuple[Jailed, ...] = ()
    """Tests in a second jail, besides the rows."""

    def dump(self) -> bytes:
        """For the judge."""
        return marshal.dumps(
            {
                "entry_point": self.entry_point,
                "check_ids": self.check_ids,
                "needs": self.needs,
                "offered": self.offered,
                "closed": self.closed,
                "rows": [row.plain() for row in self.rows],
                "code": self.code,
                "items": [item.plain() for item in self.items],
                "lines": self.lines,
                "jailed": [test.plain() for test in self.jailed],
            }
        )

    @staticmethod
    def load(data: bytes) -> Program:
        """In the runner."""
        plain = marshal.loads(data)  # noqa: S302  from the main process only
        plain["rows"] = tuple(Row(*row) for row in plain["rows"])
        plain["items"] = tuple(Item(*item) for item in plain["items"])
        plain["jailed"] = tuple(Jailed(*test) for test in plain["jailed"])
        return Program(**plain)

"""The module `solution` as the tests import it: its names are asked for in the jail."""

from __future__ import annotations

import types

from afterword.evaluators.judge.connection import Connection
from afterword.evaluators.judge.ends import Tampered
from afterword.evaluators.judge.remote import is_private


class SolutionModule(types.ModuleType):
    """Stands in `sys.modules` of the runner; nothing of the program runs here."""

    def __init__(self, connection: Connection, closed: frozenset[str] = frozenset()) -> None:
        """`closed`: names that `from solution import *` leaves out."""
        super().__init__("solution")
        self.__dict__.update(_aw_connection=connection, _aw_closed=closed)

    def __getattr__(self, name: str) -> object:
        if name != "__all__" and is_private(name):
            raise AttributeError(f"module 'solution' has no attribute {name!r}")
        connection: Connection = self.__dict__["_aw_connection"]
        if name == "__all__":
            return [name for name in public_names(connection) if name not in self.__dict__["_aw_closed"]]
        found = values(connection, (name,))
        if name not in found:
            raise AttributeError(f"module 'solution' has no attribute {name!r}")
        return found[name]


def values(connection: Connection, names: tuple[str, ...]) -> dict[str, object]:
    """The values of those names that the program defines."""
    return values_of(connection, names, ask(connection, names))


def ask(connection: Connection, names: tuple[str, ...]) -> int:
    """Asks for names; it may be done before the program is loaded."""
    return connection.ask_ahead("names", list(names))


def values_of(connection: Connection, names: tuple[str, ...], asked: int) -> dict[str, object]:
    """As `values`, from the answer to what was asked."""
    (pairs,) = _one(connection.answered(asked))
    if type(pairs) is not list:
        raise Tampered("names that are out of form")
    found: dict[str, object] = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or pair[0] not in names:
            raise Tampered("a name that was not asked for")
        value = found[pair[0]] = connection.received(pair[1])
        connection.remotes.named(value, pair[0])
    return found


def public_names(connection: Connection) -> list[str]:
    """What `from solution import *` brings."""
    (names,) = _one(connection.request("names", ["*"]))
    if type(names) is not list or not all(type(name) is str for name in names):
        raise Tampered("names that are out of form")
    return names


def _one(parts: list[object]) -> list[object]:
    if len(parts) != 1:
        raise Tampered("an answer that is out of form")
    return parts

"""Operators that a program's class overrides over a built-in class: used where plain data of the tests plays no part.

A result that is a `float` or a `list` of the program's own class is, against plain data, what the built-in class sees.
Between two objects of the program, and of an object that the tests made themselves, its own class has the word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from afterword.evaluators.judge import specials
from afterword.evaluators.judge.remote import RemoteObject, number_of

_BETWEEN = ("__eq__", "__ne__", *specials.ORDER, *specials.BINARY)
_TEXT = ("__str__", "__format__")
_OWN = (*specials.TO_PLAIN, "__getitem__", "__setitem__", "__delitem__", "__len__", "__iter__", "__reversed__",
        "__bool__", "__enter__", "__exit__", "__call__", "__contains__")  # fmt: skip


def overrides(base: type, defined: frozenset[str]) -> dict[str, object]:
    """The members of a local class over `base` for those names that the program's class defines anew."""
    remote = specials.methods(defined)
    found: dict[str, object] = {}
    for name in defined:
        builtin = getattr(base, name, None)
        if name in ("__call__", *_TEXT) or (builtin is None and name in _OWN):
            found[name] = remote[name]
        elif name in _BETWEEN and name in remote:
            found[name] = _between(remote[name], builtin)
        elif name in _OWN:
            found[name] = _of_the_tests(remote[name], builtin)
        elif not name.startswith("_") and callable(builtin):
            found[name] = property(_method(name, builtin))
    if "__eq__" in found:
        found["__hash__"] = base.__hash__
    return found


def _made_by_tests(value: RemoteObject) -> bool:
    remotes = value._aw_remotes
    return value._aw_number in remotes.constructed or value._aw_number in remotes.candidates


def _between(remote: Callable[..., object], builtin: Any) -> Callable[..., object]:
    def use(self: RemoteObject, other: object) -> object:
        if number_of(other) is not None:
            return remote(self, other)
        return NotImplemented if builtin is None else builtin(self, other)

    return use


def _of_the_tests(remote: Callable[..., object], builtin: Any) -> Callable[..., object]:
    def use(self: RemoteObject, *args: object) -> object:
        return remote(self, *args) if _made_by_tests(self) else builtin(self, *args)

    return use


def _method(name: str, builtin: Any) -> Callable[[RemoteObject], object]:
    def bound(self: RemoteObject) -> object:
        own = self._aw_number in self._aw_remotes.constructed
        return self._aw_remotes.get(self, name) if own else builtin.__get__(self, type(self))

    return bound

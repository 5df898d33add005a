"""Operators on remote objects, as methods of their local classes.

A remote object is never equal to plain data. What an operator makes of it and plain data stays remote and is
not turned into plain data later: otherwise an object that answers 0 to `x - expected` would pass every
tolerance. For the same reason it is never ordered against plain data.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

from afterword.evaluators.judge.ends import Tampered
from afterword.evaluators.judge.remote import RemoteObject, number_of

Method = Callable[..., object]

ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
BINARY = tuple(
    f"__{name}__"
    for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or".split()  # noqa: SIM905
)
IN_PLACE = tuple(f"__i{name[2:]}" for name in BINARY if name != "__divmod__")
TO_PLAIN = ("__abs__", "__int__", "__float__", "__complex__", "__round__", "__trunc__", "__floor__", "__ceil__",
            "__index__", "__neg__", "__pos__", "__invert__")  # fmt: skip
DIRECT = ("__getitem__", "__setitem__", "__delitem__", "__enter__", "__reversed__", "__format__",
          "__bytes__", "__aiter__", "__aenter__", "__dir__")  # fmt: skip


def methods(specials: frozenset[str]) -> dict[str, Method]:
    """The methods of a local class whose remote class defines `specials`."""
    found: dict[str, Method] = {"__eq__": _equal, "__ne__": _unequal, "__repr__": _repr, "__str__": _str}
    found["__array__"] = _no_array
    found["__hash__"] = _hash
    found["__bool__"] = _bool
    for name in ORDER:
        found[name] = _order(name)
    for name in BINARY:
        if name in specials:
            found[name] = _binary(name, reflected=False)
        if (reflected := f"__r{name[2:]}") in specials:
            found[reflected] = _binary(name, reflected=True)
    for name in IN_PLACE:
        if name in specials:
            found[name] = _binary(name, reflected=False)
    for names, make in ((TO_PLAIN, _to_plain), (DIRECT, _direct)):
        found |= {name: make(name) for name in names if name in specials}
    for name, method in _SINGLE.items():
        if name in specials:
            found[name] = method
    return found


def _equal(self: RemoteObject, other: object) -> bool:
    if self is other:
        return True
    if number_of(other) is None:
        return False
    return _truth(self._aw_remotes.connection.special("__eq__", (self, other)))


def _unequal(self: RemoteObject, other: object) -> bool:
    return not _equal(self, other)


def _truth(answer: object) -> bool:
    if type(answer) is not bool:
        raise Tampered("a comparison that is neither true nor false")
    return answer


def _no_array(self: RemoteObject, *args: object, **kwargs: object) -> object:  # noqa: ARG001
    """numpy would take an object with `__len__` for a sequence, and an empty one is close to everything."""
    raise TypeError(f"a {type(self).__name__} object of the program is no array")


def _hash(self: RemoteObject) -> int:
    number = self._aw_remotes.connection.special("__hash__", (self,))
    if type(number) is not int:
        raise Tampered("a hash that is no integer")
    return number


def _repr(self: RemoteObject) -> str:
    return self._aw_remotes.repr(self._aw_number)


def _str(self: RemoteObject) -> str:
    return _string(self._aw_remotes.connection.special("__str__", (self,)))


def _string(answer: object) -> str:
    if not isinstance(answer, str):
        raise Tampered("a text that is no string")
    return answer


def _refuse_tainted(self: RemoteObject, name: str) -> None:
    if self._aw_number in self._aw_remotes.tainted:
        raise TypeError(f"{name}: a {type(self).__name__} object that was computed from plain data of the tests")


def _bool(self: RemoteObject) -> bool:
    _refuse_tainted(self, "bool")
    return _truth(self._aw_remotes.connection.special("__bool__", (self,)))


def _order(name: str) -> Method:
    def compare(self: RemoteObject, other: object) -> object:
        if number_of(other) is None:
            return NotImplemented
        return _truth(self._aw_remotes.connection.special(name, (self, other)))

    return compare


def _binary(name: str, *, reflected: bool) -> Method:
    def operate(self: RemoteObject, other: object) -> object:
        remotes = self._aw_remotes
        pair = (other, self) if reflected else (self, other)
        result = remotes.connection.special(name, pair)
        other_number = number_of(other)
        if other_number is not None and not {self._aw_number, other_number} & remotes.tainted:
            return result
        number = number_of(result)
        if number is None:
            raise TypeError(f"{name} of a {type(self).__name__} object and a {type(other).__name__} gave plain data")
        remotes.tainted.add(number)
        return result

    return operate


def _to_plain(name: str) -> Method:
    def convert(self: RemoteObject, *args: object) -> object:
        _refuse_tainted(self, name)
        return self._aw_remotes.connection.special(name, (self, *args))

    return convert


def _direct(name: str) -> Method:
    def use(self: RemoteObject, *args: object) -> object:
        if name in ("__setitem__", "__delitem__"):
            self._aw_remotes.used(self)
        return self._aw_remotes.connection.special(name, (self, *args))

    return use


def _exit(self: RemoteObject, kind: object, error: BaseException | None, trace: object) -> bool:  # noqa: ARG001
    return self._aw_remotes.leaving.leave(self, error)


async def _aexit(self: RemoteObject, kind: object, error: BaseException | None, trace: object) -> bool:  # noqa: ARG001
    return await self._aw_remotes.leaving.leave_async(self, error)


def _call(self: RemoteObject, *args: object, **kwargs: object) -> object:
    return self._aw_remotes.call(self, args, kwargs)


def _len(self: RemoteObject) -> int:
    length = self._aw_remotes.connection.special("__len__", (self,))
    if type(length) is not int:
        raise Tampered("a length that is no integer")
    return length


def _iter(self: RemoteObject) -> Iterator[object]:
    return self._aw_remotes.iterate(self)


def _next(self: RemoteObject) -> object:
    more, item = self._aw_remotes.next_item(self._aw_number, None)
    if not more:
        raise StopIteration(item)
    return item


def _contains(self: RemoteObject, item: object) -> bool:
    """Asked in the jail only of an object that the tests made themselves: a result is searched here."""
    if self._aw_number in self._aw_remotes.constructed or number_of(item) is not None:
        return _truth(self._aw_remotes.connection.special("__contains__", (self, item)))
    return any(item is element or item == element for element in self)  # type: ignore[attr-defined]


def _await(self: RemoteObject) -> Iterator[object]:
    return self._aw_remotes.coroutine(self._aw_number).__await__()


def _anext(self: RemoteObject) -> Coroutine[object, object, object]:
    step = self._aw_remotes.connection.special("__anext__", (self,))
    number = number_of(step)
    return self._aw_remotes.coroutine(number) if number is not None else _ready(step)


async def _ready(value: object) -> object:
    return await value if isinstance(value, (Coroutine, AsyncIterator)) else value  # type: ignore[misc]


_SINGLE: dict[str, Method] = {
    "__call__": _call, "__len__": _len, "__iter__": _iter, "__next__": _next, "__contains__": _contains,
    "__await__": _await, "__anext__": _anext, "__exit__": _exit, "__aexit__": _aexit,
}  # fmt: skip

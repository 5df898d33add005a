"""What the tests hand to a submission and keep themselves: functions, iterators and objects of their own classes.

Each is a stand-in that asks the judge, one round trip a use. Apart from `worker.py`, which answers the judge.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 cannot evaluate it
    Ask = Callable[..., Any]


class Callback:
    """A function of the tests."""

    def __init__(self, ask: Ask, number: int, name: str, shape: Any = None) -> None:
        """`shape`: its parameters as [[name, kind, whether it has a default]], where they are known."""
        self._ask, self.number, self._shape = ask, number, shape
        self.__name__ = self.__qualname__ = name

    @property
    def __signature__(self) -> Any:
        import inspect

        if self._shape is None:
            raise AttributeError("__signature__")
        return inspect.Signature(
            [
                inspect.Parameter(
                    name, inspect._ParameterKind(kind), default=... if has_default else inspect.Parameter.empty
                )
                for name, kind, has_default in self._shape
            ]
        )

    @property
    def __code__(self) -> Any:
        """Its count of parameters, which is what programs ask it for."""
        if self._shape is None:
            raise AttributeError("__code__")
        names = tuple(name for name, kind, _ in self._shape if kind <= 1)
        return types.SimpleNamespace(co_argcount=len(names), co_varnames=names)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask(self.number, args, kwargs)


def items(callback: Callback) -> Iterator[Any]:
    """An iterator of the tests, one item a trip."""
    while True:
        more, item = callback()
        if not more:
            return
        yield item


class ForeignObject:
    """An object of a class of the tests: attributes and operators are theirs."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__["_aw_access"]("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_aw_access"]("set", name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__["_aw_access"]("delete", name)


class ForeignObjects:
    """One stand-in an object and one class a class, so that identity and `type` work as usual."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._objects: dict[int, ForeignObject] = {}
        self._classes: dict[str, type] = {}

    def get(self, number: int, class_name: str, specials: list[str]) -> ForeignObject:
        """The stand-in for an object of the tests."""
        known = self._objects.get(number)
        if known is None:
            cls = self._classes.get(class_name)
            if cls is None:
                namespace = {name: _special(name) for name in specials}
                cls = self._classes[class_name] = type(class_name, (ForeignObject,), namespace)
            known = self._objects[number] = object.__new__(cls)
            known.__dict__["_aw_access"] = Callback(self._ask, number, class_name)
        return known


def _special(name: str) -> Callable[..., Any]:
    def use(self: ForeignObject, *args: Any) -> Any:
        if name in ("__exit__", "__aexit__"):
            args = args[1:2]  # the judge knows the class by the error, and a traceback cannot cross
        return self.__dict__["_aw_access"](name, *args)

    return use

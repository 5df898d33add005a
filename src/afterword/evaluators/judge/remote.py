"""Objects of the program as the tests see them: local classes whose instances only hold a number.

`remotes.py` makes the classes from what the jail says of them, `specials.py` holds their operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from afterword.evaluators.judge.ends import Tampered, UnsupportedFeature

if TYPE_CHECKING:
    from afterword.evaluators.judge.remotes import Remotes

_FIELDS = "__dataclass_fields__"
# Other names with two underscores lead numpy, copy and pickle to protocols that the jail must not answer.
_READABLE_DUNDERS = frozenset({"__name__", "__qualname__", "__doc__", "__dict__", "__annotations__", "__wrapped__"})


class RemoteClass(type):
    """A class of the program; calling it makes an instance in the jail."""

    _aw_remotes: Remotes
    _aw_number: int

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if "_aw_number" not in vars(cls):
            raise UnsupportedFeature(f"a subclass ({cls.__name__}) of a class of the program")
        remotes = cls._aw_remotes
        made = remotes.connection.call(cls._aw_number, cls.__name__, args, kwargs)
        if isinstance(made, RemoteObject):
            remotes.made(made, cls)
        return made

    def __getattr__(cls, name: str) -> object:
        if name == _FIELDS and "_aw_number" in vars(cls):
            return cls._aw_remotes.fields(cls)
        if is_private(name):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return cls._aw_remotes.get(cls, name)

    def __iter__(cls) -> Iterator[object]:
        """The members of an enumeration."""
        return cls._aw_remotes.iterate(cls)

    def __len__(cls) -> int:
        length = cls._aw_remotes.connection.special("__len__", (cls,))
        if type(length) is not int:
            raise Tampered("a length that is no integer")
        return length

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: object) -> object:
        return cls._aw_remotes.connection.special("__getitem__", (cls, key))


class RemoteObject:
    """An object of the program."""

    _aw_remotes: Remotes
    _aw_number: int

    def __getattr__(self, name: str) -> object:
        if name == _FIELDS:
            return getattr(type(self), name)
        if is_private(name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._aw_remotes.get(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__") and name.endswith("__"):
            object.__setattr__(self, name, value)  # e.g. the traceback of an error
        else:
            self._aw_remotes.set(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._aw_remotes.delete(self, name)


def number_of(value: object) -> int | None:
    """The jail's number of a remote object or class; None for anything local."""
    kind = type(value)
    if issubclass(kind, (RemoteObject, RemoteClass)):
        number = object.__getattribute__(value, "__dict__").get("_aw_number")
        return number if isinstance(number, int) else None
    return None


def is_private(name: str) -> bool:
    """Whether an attribute is never asked for in the jail."""
    return name.startswith("_aw_") or (name.startswith("__") and name.endswith("__") and name not in _READABLE_DUNDERS)

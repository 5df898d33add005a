"""The objects of one jail: makes local classes from what the jail says, and keeps one local object a number."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any

from afterword.evaluators.judge.ends import Tampered, VerdictEnd
from afterword.evaluators.judge.leaving import Leaving
from afterword.evaluators.judge.origins import RemoteOrigin, origin_of
from afterword.evaluators.judge.remote import RemoteClass, RemoteObject, number_of
from afterword.evaluators.judge.specials import methods
from afterword.evaluators.judge.subclassed import overrides
from afterword.sandbox.jail.codec import BASES, SPECIAL_NAMES, WireError

if TYPE_CHECKING:
    from afterword.evaluators.judge.connection import Connection

_MAX_OBJECTS = 1_000_000
_MUTABLE = (list, dict, set, bytearray)
_STEERING = ("unittest", "doctest", "bdb")  # what steers a runner of tests by exceptions is not the program's to raise
_REBUILT = (
    OSError,
    SyntaxError,
    UnicodeError,
    ImportError,
    StopIteration,
    SystemExit,
)  # hold more than their arguments
_PREDICATES = ("startswith", "endswith", "issubset", "issuperset", "isdisjoint")  # told an expectation, and answer it
_BASES = {base.__name__: base for base in BASES}


class Remotes:
    """What the tests hold of the program's objects."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.leaving = Leaving()
        self.tainted: set[int] = set()
        """Results of an operator on a remote object and plain data of the tests."""
        self.constructed: set[int] = set()
        """Instances that the tests made by calling a class of the program, and use as such."""
        self.candidates: set[int] = set()
        """Instances made by calling what may be a function to the tests, until they use an attribute."""
        self.functions: set[int] = set()
        """Classes under a name of a function in the tests; the classes' own names are the program's word."""
        self._objects: dict[int, object] = {}
        self._classes: dict[int, type] = {}
        self._generators: dict[int, tuple[object, int]] = {}

    def owns(self, value: object) -> bool:
        """Whether a remote object or class is one of this jail: where two jails take part, numbers mean two things."""
        kind = value if isinstance(value, RemoteClass) else type(value)
        return getattr(kind, "_aw_remotes", self) is self

    def made(self, value: RemoteObject, cls: RemoteClass) -> None:
        """Notes an instance. By its name `primes(10)` is a call of a function, whatever the program defines."""
        (self.candidates if cls._aw_number in self.functions else self.constructed).add(value._aw_number)

    def named(self, value: object, name: str) -> None:
        """Notes under which name the tests know a value."""
        if isinstance(value, RemoteClass):
            if not name.lstrip("_")[:1].isupper():
                self.functions.add(value._aw_number)
        elif isinstance(value, RemoteObject):
            object.__setattr__(value, "_aw_name", name)

    def used(self, value: object) -> None:
        """The tests use a value as an object, and not as what a function returned."""
        number = number_of(value)
        if number is not None and number in self.candidates:
            self.constructed.add(number)

    # -- attributes and calls --

    def get(self, target: object, name: str) -> object:
        connection = self.connection
        made = number_of(target) in self.constructed
        self.used(target)
        value = connection.result(connection.request("get", connection.encode(target), name), [])
        self.named(value, name)
        if isinstance(value, RemoteObject) and name in _PREDICATES and not made:
            object.__setattr__(value, "_aw_predicate", True)
        if isinstance(value, RemoteObject) and isinstance(target, _MUTABLE):
            object.__setattr__(value, "_aw_owner", target)
        return value

    def set(self, target: object, name: str, value: object) -> None:
        self.used(target)
        connection = self.connection
        parts = connection.request("set", connection.encode(target), name, connection.encode(value))
        connection.result(parts, [value])

    def delete(self, target: object, name: str) -> None:
        self.connection.request("delete", self.connection.encode(target), name)

    def call(self, target: RemoteObject, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        known = object.__getattribute__(target, "__dict__")
        if "_aw_predicate" in known and args and all(number_of(value) is None for value in args):
            raise TypeError(
                f"{known['_aw_name']} of an object that is no plain data: the program would judge its own result"
            )
        name, owner = known.get("_aw_name", type(target).__name__), known.get("_aw_owner")
        return self.connection.call(target._aw_number, name, args, kwargs, owner)

    def repr(self, number: int) -> str:
        (text,) = self.connection.request("repr", number)
        if type(text) is not str:
            raise Tampered("a text that is no string")
        return text

    def fields(self, cls: RemoteClass) -> dict[str, object]:
        """The fields of a dataclass, for `dataclasses.asdict` and its like. Raises AttributeError if it is none."""
        (names,) = self.connection.request("fields", cls._aw_number)
        if names is None:
            raise AttributeError("__dataclass_fields__")
        if type(names) is not list or not all(type(name) is str and name.isidentifier() for name in names):
            raise Tampered("fields that are out of form")
        import dataclasses

        return {field.name: field for field in dataclasses.fields(dataclasses.make_dataclass("Fields", names))}

    # -- iteration --

    def next_item(self, number: int, sent: object, error: BaseException | None = None) -> tuple[bool, object]:
        thrown = [] if error is None else [self.connection.encode(error)]
        parts = self.connection.request("next", number, self.connection.encode(sent), *thrown)
        if len(parts) != 2 or type(parts[0]) is not bool:
            raise Tampered("an item that is out of form")
        return parts[0], self.connection.received(parts[1])

    def iterate(self, target: object) -> Iterator[object]:
        """The items of a remote iterable, one a trip."""
        iterator = self.connection.special("__iter__", (target,))
        number = number_of(iterator)
        if number is None:
            if not isinstance(iterator, Iterator):
                raise TypeError(f"iter() returned a {type(iterator).__name__}")
            return iterator
        return self._items(number)

    def _items(self, number: int) -> Iterator[object]:
        while True:
            more, item = self.next_item(number, None)
            if not more:
                return
            yield item

    def _generator(self, number: int) -> Generator[object, object, object]:
        sent: object = None
        error: BaseException | None = None
        while True:
            more, item = self.next_item(number, sent, error)
            if not more:
                return item
            sent, error = None, None
            try:
                sent = yield item
            except VerdictEnd:
                raise
            except BaseException as thrown:  # noqa: BLE001  of `throw` and `close`, for the program to answer
                error = thrown

    async def coroutine(self, number: int) -> object:
        """A local coroutine that runs the remote one to its end."""
        return self.connection.result(self.connection.request("await", number), [])

    def number_of_generator(self, value: object) -> int | None:
        """The number behind a local generator or coroutine of `decode`."""
        known = self._generators.get(id(value))
        return None if known is None else known[1]

    # -- decoding --

    def decode(self, tag: str, node: list[object]) -> object:
        """A remote value; raises `WireError` where the jail's description is out of form."""
        if tag == "error":
            if len(node) != 5:
                raise WireError("an error that is out of form")
            return self.error(node[1], node[2], node[3], node[4], [])
        number = node[1]
        if type(number) is not int or not 0 <= number < _MAX_OBJECTS:
            raise WireError("an object without a number")
        if tag == "class":
            return self._classes[number] if len(node) == 2 else self._class(node[2])
        if tag == "sub" and node[2] is None:  # as the tests send it, for a message
            return self._objects[number]
        if tag == "sub":
            return self._instance_of_builtin(number, self._class(node[2]), self.connection.decode(node[3]))
        known = self._objects.get(number)
        if known is None:
            known = self._objects[number] = self._made(tag, number, node)
        return known

    def _made(self, tag: str, number: int, node: list[object]) -> object:
        if tag in ("gen", "coro"):
            made: Generator[object, object, object] | Coroutine[object, object, object]
            made = self._generator(number) if tag == "gen" else self.coroutine(number)
            self._generators[id(made)] = (made, number)
            return made
        if tag != "h":
            raise WireError(f"an unknown tag: {tag!r:.50}")
        cls = self._class(node[2])
        if not issubclass(cls, RemoteObject) or issubclass(cls, (*BASES, BaseException)):
            raise WireError("an object of a class that it cannot have")
        made_object = object.__new__(cls)
        object.__setattr__(made_object, "_aw_number", number)
        return made_object

    def _instance_of_builtin(self, number: int, cls: type, content: object) -> object:
        known = self._objects.get(number)
        base: Any = type(content)
        if base not in BASES or not issubclass(cls, base) or not issubclass(cls, RemoteObject):
            raise WireError("a value of a class that it cannot have")
        if isinstance(known, cls) and isinstance(known, _MUTABLE):
            _replace(known, content)
            return known
        if known is None or not isinstance(known, cls):
            known = base.__new__(cls) if base in _MUTABLE else base.__new__(cls, content)
            object.__setattr__(known, "_aw_number", number)
            self._objects[number] = known
            _replace(known, content)
        return known

    def error(self, number: object, kind: object, args: object, text: object, lines: object) -> BaseException:
        """A local exception with the class, arguments and text of a remote one."""
        cls = self.connection.decode(kind) if type(kind) is list and kind[:1] == ["builtin"] else self._class(kind)
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            raise WireError("an error that is no exception")
        if type(args) is not list or type(text) is not str or type(number) is not int:
            raise WireError("an error that is out of form")
        values = [self.connection.decode(argument) for argument in args]
        error = cls.__new__(cls, *values)
        BaseException.args.__set__(error, tuple(values))  # type: ignore[attr-defined]
        if isinstance(error, RemoteObject):
            object.__setattr__(error, "_aw_number", number)
        elif issubclass(cls, _REBUILT) or (cls.__module__, cls.__name__) == ("json.decoder", "JSONDecodeError"):
            error = _rebuilt(cls, values, error)
        object.__setattr__(error, "_aw_origin", RemoteOrigin(text, lines))
        return error

    # -- classes --

    def _class(self, node: object) -> type:
        if type(node) is int:
            return self._classes[node]
        if type(node) is not list or len(node) != 6:
            raise WireError("a class that is out of form")
        number, name, module, parents, builtin_names, specials = node
        if type(number) is not int or type(name) is not str or type(module) is not str:
            raise WireError("a class that is out of form")
        bases = [self._class(parent) for parent in parents]
        known = _standard_error(module, name)
        if known is None:
            known = self._local_class(number, name[:100], bases, builtin_names, frozenset(specials))
        self._classes[number] = known
        return known

    def _local_class(
        self, number: int, name: str, bases: list[type], builtin_names: object, defined: frozenset[str]
    ) -> type:
        if type(builtin_names) is not list:
            raise WireError("a class that is out of form")
        found = [getattr(builtins, known) for known in builtin_names if type(known) is str and hasattr(builtins, known)]
        errors: list[type] = []
        for cls in found:
            is_error = isinstance(cls, type) and issubclass(cls, BaseException)
            if is_error and not any(issubclass(base, cls) for base in (*bases, *errors)):
                errors.append(cls)
        plain = [_BASES[known.__name__] for known in found if isinstance(known, type) and known in BASES][:1]
        namespace: dict[str, object] = {"_aw_number": number, "_aw_remotes": self, "__module__": "solution"}
        is_error = any(issubclass(base, BaseException) for base in (*bases, *errors))
        own: dict[str, object] = dict(methods(defined & SPECIAL_NAMES))
        if is_error:
            own = {"__str__": _error_text}
        elif plain:  # what the base class sees, whatever the class defines
            own = overrides(plain[0], defined)
            bases = bases if any(issubclass(base, plain[0]) for base in bases) else [plain[0], *bases]
        remote = [] if any(issubclass(base, RemoteObject) for base in bases) else [RemoteObject]
        try:
            return RemoteClass(name, (*bases, *errors, *remote), {**namespace, **own})
        except TypeError:  # bases whose layouts or orders do not go together here
            return RemoteClass(name, (*(plain or errors[:1]), RemoteObject), {**namespace, **own})


def _rebuilt(cls: type[BaseException], values: list[object], otherwise: BaseException) -> BaseException:
    """An error of the standard library with the attributes that its arguments give it."""
    try:
        return cls(*values)
    except (TypeError, ValueError, AttributeError):
        return otherwise  # arguments that the class does not take: the program changed them


def _error_text(self: BaseException) -> str:
    origin = origin_of(self)
    return origin.text if origin is not None else BaseException.__str__(self)


def _standard_error(module: str, name: str) -> type[BaseException] | None:
    """An exception class of the standard library that the tests may know by name; nothing is imported for it."""
    package = module.split(".", 1)[0]
    if package not in sys.stdlib_module_names or package in _STEERING or module not in sys.modules:
        return None
    found = getattr(sys.modules[module], name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _replace(target: object, content: object) -> None:
    """Gives a local object its content, past whatever its class overrides."""
    if isinstance(target, (list, bytearray)) and isinstance(content, (list, bytearray)):
        base: Any = list if isinstance(target, list) else bytearray
        base.__setitem__(target, slice(None), content)
    elif isinstance(target, dict) and isinstance(content, dict):
        dict.clear(target)
        dict.update(target, content)
    elif isinstance(target, set) and isinstance(content, set):
        set.clear(target)
        set.update(target, content)

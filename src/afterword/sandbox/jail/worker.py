"""The jailed side of the wire: loads a submission as the module `solution` and answers calls on it.

Standard library only and fit for CPython 3.8, since it runs under the interpreter that the task names. It holds
nothing worth reading: no test, no expected value, no verdict.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import struct
import sys
import threading
import types
from typing import Any, NoReturn

from . import descriptions, foreign
from .codec import (
    BASES,
    MAX_DEPTH,
    OPERATORS,
    Codec,
    Unsendable,
    WireError,
    ancestors,
    base_value,
    dump,
    is_builtin,
    json_text,
    json_value,
    standard_class,
)
from .descriptions import MAX_TEXT
from .sharing import KINDS, MAX_ITEMS, Shared, counts, places_kept

MAX_CAUSES = 3
MAX_ERROR_ARGUMENT = 100_000


class Worker(Codec):
    """Holds the submission's objects by number, and answers the judge one request at a time."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.process = os.getpid()
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.classes: dict[type, int] = {}
        self.callback_errors: dict[int, tuple[int, BaseException]] = {}
        self.loop: Any = None
        self.lines: list[str] = []
        self.foreign = foreign.ForeignObjects(self.call_back)
        self.callbacks: dict[int, foreign.Callback] = {}
        self.shared = Shared(self)
        made: list[Any] = []
        self.fresh = sys.getrefcount(made)
        # The submission may replace any of these; a right one that does so is still answered.
        self._read, self._write, self._getpid = os.read, os.write, os.getpid
        self._lock = threading.RLock()
        self._streams = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]

    # -- frames --

    def send(self, message: Any) -> None:
        data = memoryview(dump(message))
        while data:
            data = data[self._write(self.descriptor, data) :]

    def receive(self) -> Any:
        (length,) = struct.unpack(">I", self._exactly(4))
        return json_value(self._exactly(length).decode("ascii"))

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = self._read(self.descriptor, min(count, 1 << 20))
            if not part:
                os._exit(0)  # the judge is done
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def answer_until_end(self) -> NoReturn:
        while True:
            self.answer(self.receive())

    def answer(self, request: list[Any]) -> None:
        number, operation, *parts = request
        try:
            reply = [number, "ok", *getattr(self, "do_" + operation)(*parts)]
        except Unsendable as error:
            reply = [number, "unsendable", str(error)]
        except BaseException as error:  # noqa: BLE001  whatever the submission raises is its answer
            reply = [number, "raised", self.encode_error(error)]
        if self._getpid() != self.process:
            os._exit(0)  # a fork that came back out of a call: only the first process answers
        for stream in self._streams:
            with contextlib.suppress(Exception):  # the submission's own streams: closed, full or replaced
                stream.flush()
        with self._lock:
            try:
                self.tell_changes()
                self.send(reply)
            except (Unsendable, RecursionError, MemoryError) as error:
                self.send([number, "unsendable", str(error)[:MAX_TEXT] or "a value is too large to send"])

    def call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function of the tests; the judge may call again before it answers."""
        if self._getpid() != self.process:
            raise RuntimeError("a function of the tests cannot be called from another process")
        with self._lock:
            named = [[key, self.encode(value)] for key, value in kwargs.items()]
            self.tell_changes()
            self.send([0, "callback", number, [self.encode(value) for value in args], named])
            while True:
                message = self.receive()
                if message[0] != 0:
                    self.answer(message)
                elif message[1] == "returned":
                    return self.decode(message[2])
                else:
                    _, _, token, name, arguments = message
                    error = getattr(builtins, name)(*[self.decode(node) for node in arguments])
                    self.callback_errors[id(error)] = (token, error)
                    raise error

    # -- containers that both ends hold --

    def tell_changes(self) -> None:
        changes = self.shared.changes() if self.shared else []
        if changes:
            self.send([0, "changed", changes])

    def share(self, value: Any) -> int | None:
        """The number under which both ends hold a container from now on; None if it is none, or too large."""
        number = self.shared.number_of(value)
        if number is None and type(value) in KINDS and len(value) <= MAX_ITEMS:
            number = self.number(value)
            self.shared.add(number, value)
        return number

    def encode_held(self, value: Any) -> Any:
        """A value that the program goes on holding: a container is shared."""
        node = self.encode(value)
        number = self.share(value)
        return node if number is None else ["sh", number, node]

    # -- requests --

    def do_update(self, changes: list[Any]) -> list[Any]:
        """What the tests changed in containers that both ends hold."""
        self.shared.apply(changes)
        return []

    def do_names(self, names: list[str]) -> list[Any]:
        module = sys.modules["solution"]
        if names == ["*"]:
            shown = [name for name in vars(module) if not name.startswith("_")]
            return [[name for name in getattr(module, "__all__", shown) if hasattr(module, name)]]
        return [[[name, self.encode_held(getattr(module, name))] for name in names if hasattr(module, name)]]

    def do_call(self, target: Any, args: list[Any], kwargs: list[Any], owner: Any = None) -> list[Any]:
        """A call; `owner` is the list, dict or set whose method it is, in the judge's view."""
        function = self.objects[target] if type(target) is int else getattr(sys.modules["solution"], target)
        self.decode(owner)
        given = [self.decode(node) for node in args]
        named = {key: self.decode(node) for key, node in kwargs}
        values, nodes = [*given, *named.values()], [*args, *(node for _, node in kwargs)]
        before = counts(values)
        result = function(*given, **named)
        if type(target) is str:  # of a labelled case, which looks at nothing later
            return self._returned(result, values, nodes)
        held = sys.getrefcount(result) > self.fresh
        kept = self._kept(values, before, result)
        if owner is not None:
            values, nodes = [*values, self.objects[owner[1]]], [*nodes, owner]
        return [*self._returned(result, values, nodes, held=held), kept]

    def do_special(self, name: str, args: list[Any]) -> list[Any]:
        given = [self.decode(node) for node in args]
        before = counts(given)
        result = OPERATORS[name](*given)
        held = sys.getrefcount(result) > self.fresh
        return [*self._returned(result, given, args, held=held), self._kept(given, before, result)]

    def do_get(self, target: Any, name: str) -> list[Any]:
        value = getattr(self.decode(target), name)
        return [self.encode_held(value) if sys.getrefcount(value) > self.fresh else self.encode(value), []]

    def do_set(self, target: Any, name: str, node: Any) -> list[Any]:
        value = self.decode(node)
        setattr(self.decode(target), name, value)
        number = self.share(value)
        return [None, [], [] if number is None else [[0, number]]]

    def do_fields(self, target: int) -> list[Any]:
        """The names of a dataclass's fields, or None."""
        import dataclasses

        cls = self.objects[target]
        return [[field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else None]

    def do_delete(self, target: Any, name: str) -> list[Any]:
        delattr(self.decode(target), name)
        return [None, []]

    def do_next(self, target: int, node: Any, thrown: Any = None) -> list[Any]:
        """The next item of a generator or iterator, or its end and its return value."""
        iterator, sent = self.objects[target], self.decode(node)
        try:
            if thrown is not None:
                return [True, self.encode(iterator.throw(self.decode(thrown)))]
            return [True, self.encode(next(iterator) if sent is None else iterator.send(sent))]
        except StopIteration as end:
            return [False, self.encode(end.value)]

    def do_await(self, target: int) -> list[Any]:
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        awaitable = self.objects[target]

        async def wait() -> Any:
            return await awaitable

        return [self.encode(self.loop.run_until_complete(wait())), []]

    def do_repr(self, target: int) -> list[str]:
        return [repr(self.objects[target])[:MAX_TEXT]]

    def _kept(self, given: list[Any], before: list[int], result: Any) -> list[list[int]]:
        """[place, number] of the arguments that the program holds on to and that can be shared."""
        numbers = [(place, self.share(given[place])) for place in places_kept(given, before, result)]
        return [[place, number] for place, number in numbers if number is not None]

    def _returned(self, result: Any, given: list[Any], nodes: list[Any], *, held: bool = False) -> list[Any]:
        """The result and the changed arguments, encoded under a recursion limit that the submission did not set."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 10 * MAX_DEPTH))
        try:
            return self._encoded(result, given, nodes, held=held)
        finally:
            sys.setrecursionlimit(limit)

    def _encoded(self, result: Any, given: list[Any], nodes: list[Any], *, held: bool) -> list[Any]:
        """The result, and the arguments that were changed in place."""
        changed = []
        for place, (value, node) in enumerate(zip(given, nodes)):  # noqa: B905  3.8 has no strict
            if type(node) is list and node[0] not in _UNCHANGING:
                now = self.encode(value)
                if json_text(now) != json_text(node):
                    changed.append([place, now])
        for place, value in enumerate(given):
            if value is result and type(nodes[place]) is list and nodes[place][0] not in ("h", "fn"):
                return [["arg", place], changed]
        return [self.encode_held(result) if held else self.encode(result), changed]

    # -- what is not plain data --

    def encode_other(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is foreign.Callback:
            return ["fn", value.number]
        if issubclass(kind, foreign.ForeignObject):
            return ["lo", value.__dict__["_aw_access"].number]
        if isinstance(value, type):
            return ["class", self.number(value), self.describe(value)]
        if isinstance(value, BaseException):
            return ["error", *self.encode_error(value)[:4]]
        if isinstance(value, types.GeneratorType):
            return ["gen", self.number(value)]
        if isinstance(value, types.CoroutineType):
            return ["coro", self.number(value)]
        for base in BASES:
            if isinstance(value, base):
                plain = self.encode(base_value(value, base), depth)
                return ["sub", self.number(value), self.describe(kind), plain]
        return ["h", self.number(value), self.describe(kind)]

    def decode_other(self, tag: str, node: list[Any]) -> Any:
        if tag in ("h", "class", "gen", "coro", "error"):
            return self.objects[node[1]]
        if tag == "sub":
            return self._refreshed(self.objects[node[1]], self.decode(node[3]))
        if tag == "exc":
            return getattr(builtins, node[1])(*[self.decode(argument) for argument in node[2]])
        if tag == "fn":
            if node[1] not in self.callbacks:  # the same function again is the same object, for who removes it
                self.callbacks[node[1]] = foreign.Callback(self.call_back, node[1], node[2], *node[3:])
            return self.callbacks[node[1]]
        if tag == "it":
            return foreign.items(foreign.Callback(self.call_back, node[1], "iterator"))
        if tag == "lo":
            return self.foreign.get(node[1], node[2], node[3])
        raise WireError(f"an unknown tag: {tag!r:.50}")

    def _refreshed(self, value: Any, content: Any) -> Any:
        """Puts the judge's view of a subclassed list, dict or set back into the object itself."""
        base: Any = next((base for base in (list, set, dict) if isinstance(value, base)), None)
        if base is not None and base_value(value, base) != content:
            base.clear(value)
            (list.extend if base is list else base.update)(value, content)
        return value

    def number(self, value: Any) -> int:
        """The number under which the judge knows an object, which lives as long as the jail."""
        known = self.numbers.get(id(value))
        if known is None:
            known = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return known

    def describe(self, cls: type) -> Any:
        """The number of a class; with its description at first mention."""
        known = self.classes.get(cls)
        if known is not None:
            return known
        own = self.classes[cls] = self.number(cls)
        parents = [self.describe(base) for base in cls.__bases__ if not is_builtin(base)]
        builtin = [base.__name__ for base in ancestors(cls) if is_builtin(base)]
        specials = descriptions.operators(cls)
        return [own, str(cls.__name__), str(cls.__module__), parents, builtin, specials]

    def encode_error(self, error: BaseException, depth: int = 0) -> list[Any]:
        """[number, class, arguments, text, last lines, token, cause]; the text is asked for last: it may be hostile."""
        token = self.callback_errors.get(id(error), (None,))[0]
        kind, cause = type(error), error.__cause__
        because = None if cause is None or depth >= MAX_CAUSES else self.encode_error(cause, depth + 1)
        arguments = []
        for argument in descriptions.arguments(error):
            try:
                node = self.encode(argument)
                small = not isinstance(argument, (str, bytes, list, dict)) or len(json_text(node)) < MAX_ERROR_ARGUMENT
            except (Unsendable, RecursionError, MemoryError):
                small = False
            arguments.append(node if small else "(an argument too large to send)")
        lines = descriptions.last_lines(error, self.lines)
        if isinstance(error, MemoryError):
            error = MemoryError()
        standard = standard_class("builtins", kind.__name__) is kind
        described = ["builtin", kind.__name__] if standard else self.describe(kind)
        return [self.number(error), described, arguments, descriptions.shown(error), lines, token, because]

    # -- loading --

    def load(self, source: str) -> list[Any]:
        """Runs the submission as the module `solution`; the judge is told how that went."""
        self.lines = source.split("\n")
        module = types.ModuleType("solution")
        module.__file__ = os.path.join(os.getcwd(), "solution.py")
        sys.argv[:] = ["solution.py"]
        sys.path.insert(0, os.getcwd())
        sys.modules["solution"] = module
        try:
            with open("solution.py", "w", encoding="utf-8", newline="") as file:
                file.write(source)
            code = compile(source[1:] if source[:1] == "\ufeff" else source, "solution.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:  # a NUL or a lone surrogate is a ValueError
            where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
            return ["syntax", where + str(getattr(error, "msg", error))[:MAX_TEXT]]
        except (RecursionError, MemoryError) as error:
            return ["syntax", f"too complex to compile ({type(error).__name__})"]
        try:
            exec(code, module.__dict__)  # noqa: S102  this is what the jail is for
        except BaseException as error:  # noqa: BLE001  reported as the verdict's reason
            return ["raised", self.encode_error(error)]
        return ["loaded"]


_UNCHANGING = frozenset(
    "i b c t fs const builtin range slice dec fr date dt time td uuid path ppath re fn it lo exc gen coro "  # noqa: SIM905
    "class h".split()
)


def serve(fd: int, source: str) -> NoReturn:
    """Loads `source` and answers on `fd` until the judge closes it; never returns.

    Called in the jailed child after all isolation is in force; stdin, stdout and stderr are set up and the
    working folder is its own.
    """
    worker = Worker(fd)
    outcome = worker.load(source)
    if os.getpid() == worker.process:
        worker.send([0, *outcome])
        worker.answer_until_end()
    os._exit(0)

"""The judge's end of the wire: requests to the jail, callbacks from it, and the objects both speak about.

Whatever arrives here was written by a program that wants to pass: it is taken apart with checks at each
step, and anything that is out of form ends the verdict as `tampered`.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard

from afterword.evaluators.judge.ends import JailLost, Tampered, TooManyCallbacks, UnsupportedFeature, VerdictEnd
from afterword.evaluators.judge.exposed import accessor, may_expose, shape_of, specials_of
from afterword.evaluators.judge.held import Held
from afterword.evaluators.judge.remote import RemoteClass, number_of
from afterword.evaluators.judge.remotes import Remotes
from afterword.sandbox.jail.codec import BASES, MAX_FRAME, Codec, Unsendable, WireError, base_value, dump, json_value
from afterword.sandbox.jail.sharing import put

MAX_CALLBACKS = 100_000
MAX_CAUSES = 3
_WINDOW_BYTES = 32_768  # both socket buffers hold this much, so that neither end waits for the other to read
_KEPT_CALLS = 3


class CannotCross(Exception):
    """What the program returned cannot leave the jail: nested too deeply, too large or containing itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call on the program, kept as it was sent, since arguments may be changed in place."""

    name: str
    args: list[object]
    kwargs: list[list[object]]
    result: object = None
    returned: bool = False
    raised: str = ""
    """The name of the exception class, if it raised."""


class Connection(Codec):
    """Speaks with one jail, one request at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self.calls: deque[Call] = deque(maxlen=_KEPT_CALLS)
        self.remotes = Remotes(self)
        self.shared = Held(self)
        self.stops_iteration = False
        """Whether the tests speak of StopIteration: else one from a call would end their `map` or `zip` unnoticed."""
        self._sock = sock
        self._buffer = bytearray()
        self._sequence = 0
        self._outstanding: deque[int] = deque()
        self._early: dict[int, list[object]] = {}
        self._callbacks: list[Callable[..., object]] = []
        self._callback_numbers: dict[tuple[int, str | int], int] = {}
        self._callbacks_run = 0
        self._errors: list[Exception] = []
        self._objects: dict[int, object] = {}
        self._exposed_numbers: dict[int, int] = {}

    # -- frames --

    def _send(self, message: object) -> None:
        try:
            self._sock.sendall(dump(message))
        except OSError as error:
            raise JailLost from error

    def receive(self) -> list[object]:
        """The next message, which is a list that starts with a number and a word."""
        (length,) = struct.unpack(">I", self._exactly(4))
        if length > MAX_FRAME:
            raise Tampered(f"a message of {length:,} bytes")
        try:
            message = json_value(self._exactly(length).decode("ascii"))
        except (ValueError, RecursionError) as error:
            raise Tampered(f"a message that is not JSON ({type(error).__name__})") from None
        if type(message) is not list or len(message) < 2 or type(message[0]) is not int or type(message[1]) is not str:
            raise Tampered("a message that is out of form")
        return message

    def _exactly(self, count: int) -> bytes:
        buffer = self._buffer
        while len(buffer) < count:
            try:
                part = self._sock.recv(min(max(count - len(buffer), 65_536), 1 << 20))
            except OSError as error:
                raise JailLost from error
            if not part:
                raise JailLost
            buffer += part
        taken = bytes(buffer[:count])
        del buffer[:count]
        return taken

    # -- requests --

    def request(self, operation: str, *parts: object) -> list[object]:
        """Asks the jail and returns the parts of its answer; raises what the program raised."""
        return self._answer(self._ask(operation, *parts))

    def ask_ahead(self, operation: str, *parts: object) -> int:
        """Asks before the jail is known to be there; if it is not, what is received next says why."""
        with suppress(JailLost):
            self._send([self._sequence + 1, operation, *parts])
        return self._asked()

    def answered(self, sequence: int) -> list[object]:
        """The answer to what was asked ahead."""
        return self._answer(sequence)

    def _ask(self, operation: str, *parts: object) -> int:
        self._tell_changes()
        self._send([self._sequence + 1, operation, *parts])
        return self._asked()

    def _tell_changes(self) -> None:
        """What the tests did to containers that the program holds too, before it is asked anything."""
        if self.shared and (changes := self.shared.changes()):
            self._send([self._sequence + 1, "update", changes])
            self._answer(self._asked())

    def _asked(self) -> int:
        self._sequence += 1
        self._outstanding.append(self._sequence)
        return self._sequence

    def _answer(self, sequence: int) -> list[object]:
        while sequence not in self._early:
            number, word, *parts = self.receive()
            if number == 0 and word == "callback":
                self._call_back(parts)
            elif number == 0 and word == "changed" and len(parts) == 1:
                self.shared.take_over(parts[0])
            elif self._outstanding and number == self._outstanding[0]:
                self._early[self._outstanding.popleft()] = [word, *parts]
            else:
                raise Tampered("an answer that was not asked for")
        word, *parts = self._early.pop(sequence)
        if word == "ok":
            return parts
        if word == "unsendable" and len(parts) == 1:
            raise CannotCross(str(parts[0])[:500])
        if word == "raised" and len(parts) == 1:
            raise self._raised(parts[0])
        raise Tampered("an answer that is out of form")

    def call(
        self, target: int, name: str, args: tuple[object, ...], kwargs: dict[str, object], owner: object = None
    ) -> object:
        """Calls an object of the program; changed arguments, and the owner of a method, are written back."""
        nodes = [self.encode(value) for value in args]
        named = [[key, self.encode(value)] for key, value in kwargs.items()]
        extra = [] if owner is None else [self.encode(owner)]
        self.calls.append(Call(name, nodes, named))
        try:
            parts = self.request("call", target, nodes, named, *extra)
        except BaseException as error:
            self._ended(Call(name, nodes, named, raised=type(error).__name__))
            raise
        self._ended(Call(name, nodes, named, parts[0] if parts else None, returned=True))
        return self.result(parts, [*args, *kwargs.values(), owner])

    def _ended(self, call: Call) -> None:
        self.calls.pop()
        self.calls.append(call)

    def special(self, name: str, args: tuple[object, ...]) -> object:
        """Uses an operator on objects of the program."""
        parts = self.request("special", name, [self.encode(value) for value in args])
        return self.result(parts, list(args))

    def result(self, parts: list[object], given: list[object]) -> object:
        """A result with its written-back arguments."""
        if len(parts) not in (2, 3) or type(parts[1]) is not list:
            raise Tampered("an answer that is out of form")
        for change in parts[1]:
            if type(change) is not list or len(change) != 2 or not _is_place(change[0], given):
                raise Tampered("a change to an argument that was not given")
            _write_back(given[change[0]], self.received(change[1]))
        if len(parts) == 3:
            self.shared.keep(parts[2], given)
        node = parts[0]
        if type(node) is list and node[:1] == ["arg"]:
            if len(node) != 2 or not _is_place(node[1], given):
                raise Tampered("an argument that was not given")
            return given[node[1]]
        return self.received(node)

    def calls_at_once(self, calls: list[tuple[str, list[object], list[list[object]]]]) -> Iterator[object]:
        """Results of calls that do not depend on each other, with several of them under way.

        Yields a value, or the exception that the call raised.
        """
        waiting: deque[int] = deque()
        sizes: deque[int] = deque()
        rest = deque(calls)
        while rest or waiting:
            while rest:
                frame = dump([self._sequence + 1, "call", *rest[0]])
                if waiting and sum(sizes) + len(frame) > _WINDOW_BYTES:
                    break
                rest.popleft()
                waiting.append(self._asked())
                sizes.append(len(frame))
                try:
                    self._sock.sendall(frame)
                except OSError as error:
                    raise JailLost from error
            sizes.popleft()
            _, args, named = calls[len(calls) - len(rest) - len(waiting)]
            yield self._outcome(waiting.popleft(), [*args, *(node for _, node in named)])

    def _outcome(self, sequence: int, nodes: list[object]) -> object:
        """What one of several calls returned or raised; its arguments are known from what was sent."""
        try:
            parts = self._answer(sequence)
            if _is_argument(parts):
                return self.result(parts, [self.decode(node) for node in nodes])
            return self.result([*parts[:1], []], [])
        except VerdictEnd:
            raise
        except BaseException as error:  # noqa: BLE001  the caller records it
            return error

    def received(self, node: object) -> object:
        """A value from the jail."""
        try:
            return self.decode(node)
        except RecursionError:
            raise CannotCross("a value is nested too deeply") from None
        except WireError as error:
            raise Tampered(str(error)) from None

    # -- callbacks and errors --

    def _call_back(self, parts: list[object]) -> None:
        self._callbacks_run += 1
        if self._callbacks_run > MAX_CALLBACKS:
            raise TooManyCallbacks(MAX_CALLBACKS)
        if len(parts) != 3 or not _is_place(parts[0], self._callbacks) or type(parts[2]) is not list:
            raise Tampered("a call of a function that was not given")
        arguments = self.received(["t", parts[1]])
        named = {str(key): self.received(node) for key, node in _pairs(parts[2])}
        assert isinstance(arguments, tuple)  # noqa: S101  the tag says so
        outer, self._outstanding = self._outstanding, deque()  # what the tests ask meanwhile is answered first
        try:
            answer = ["returned", self.encode(self._callbacks[parts[0]](*arguments, **named))]
        except Exception as error:  # noqa: BLE001  it goes on through the program and comes back
            self._errors.append(error)
            answer = ["error", len(self._errors) - 1, _builtin_kind(error), self._error_arguments(error)]
        self._tell_changes()
        self._outstanding = outer
        self._send([0, *answer])

    def _error_arguments(self, error: Exception) -> list[object]:
        try:
            return [self.encode(argument) for argument in error.args]
        except UnsupportedFeature as end:
            end.take_back()
        except Unsendable:
            pass
        return [str(error)[:2000]]

    def _raised(self, node: object, depth: int = 0) -> BaseException:
        if type(node) is not list or len(node) != 7 or depth > MAX_CAUSES:
            raise Tampered("an error that is out of form")
        if node[5] is not None:
            if not _is_place(node[5], self._errors):
                raise Tampered("an error that the tests did not raise")
            return self._errors[node[5]]
        try:
            raised = self.remotes.error(*node[:5])
        except WireError as error:
            raise Tampered(str(error)) from None
        if node[6] is not None:
            raised.__cause__ = self._raised(node[6], depth + 1)
        if isinstance(raised, StopIteration) and not self.stops_iteration:
            text = f"the program raised {type(raised).__name__}"
            return self.remotes.error(node[0], ["builtin", "RuntimeError"], [text], text, node[4])
        return raised

    # -- values that are not plain data --

    def encode_other(self, value: object, depth: int) -> object:
        number = number_of(value) if self.remotes.owns(value) else None
        if number is not None:
            tag = "class" if isinstance(value, RemoteClass) else "h"
            if tag == "h":
                for base in BASES:
                    if isinstance(value, base):
                        return ["sub", number, None, self.encode(base_value(value, base), depth)]
            return [tag, number]
        known = self.remotes.number_of_generator(value)
        if known is not None:
            return ["gen", known]
        for base in BASES:
            if isinstance(value, base):
                return self.encode(base_value(value, base), depth)
        if isinstance(value, (Exception, GeneratorExit)):
            return ["exc", _builtin_kind(value), [self.encode(argument, depth) for argument in value.args]]
        if callable(value) and (number_of(value) is not None or not may_expose(value)):
            name = str(getattr(value, "__name__", type(value).__name__))
            return ["fn", self._callback(value), name, *shape_of(value)]
        if isinstance(value, Iterator) and not may_expose(value):
            return ["it", self._callback(lambda: _next_item(value))]
        if may_expose(value):
            return ["lo", self._exposed(value), type(value).__name__, specials_of(value)]
        raise UnsupportedFeature(f"a {type(value).__name__} object as an argument of the program")

    def decode_other(self, tag: str, node: list[object]) -> object:
        if tag == "sh":
            return self.shared.container(node[1], self.decode(node[2]))
        if tag == "lo" and type(node[1]) is int and node[1] in self._objects:
            return self._objects[node[1]]
        if tag == "fn":
            if not _is_place(node[1], self._callbacks):
                raise WireError("a function that was not given")
            return self._callbacks[node[1]]
        return self.remotes.decode(tag, node)

    def _exposed(self, value: object) -> int:
        known = self._exposed_numbers.get(id(value))
        if known is None:
            known = self._exposed_numbers[id(value)] = self._callback(accessor(value))
            self._objects[known] = value
        return known

    def _callback(self, function: Callable[..., object]) -> int:
        owner = getattr(function, "__self__", None)  # `log.append` is a new object each time, and equal to itself
        method: object = getattr(function, "__func__", None)  # two methods of one object may have one name
        name = str(getattr(function, "__name__", "")) if method is None else id(method)
        key = (id(function), "") if owner is None else (id(owner), name)
        known = self._callback_numbers.setdefault(key, len(self._callbacks))
        if known == len(self._callbacks):
            self._callbacks.append(function)  # kept, so that its id stays its own
        return known


def _builtin_kind(error: BaseException) -> str:
    return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins")


def _next_item(iterator: Iterator[object]) -> tuple[bool, object]:
    for item in iterator:
        return True, item
    return False, None


def _is_place(place: object, among: Sequence[object]) -> TypeGuard[int]:
    return type(place) is int and 0 <= place < len(among)


def _is_argument(parts: list[object]) -> bool:
    node = parts[0] if parts else None
    return type(node) is list and len(node) == 2 and node[0] == "arg"


def _pairs(nodes: list[object]) -> Iterator[tuple[object, object]]:
    for pair in nodes:
        if type(pair) is not list or len(pair) != 2:
            raise Tampered("named arguments that are out of form")
        yield pair[0], pair[1]


def _write_back(target: Any, content: Any) -> None:
    """Gives a mutable argument the content that it has in the jail; the types have to agree."""
    if type(target).__module__ == "numpy" and type(target) is type(content):
        target[...] = content
    elif not put(target, content):
        raise Tampered("a change to an argument that cannot change")

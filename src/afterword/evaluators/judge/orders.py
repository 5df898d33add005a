"""What passes between the main process, a runner and the judge that watches over it: orders, notes, reports.

Separate from both processes, since each form is written on one side and read on another.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

HEADER = struct.Struct(">IId")
"""Bytes of the head, bytes of the program, and the wall time; first since the judge is told of it at once."""
_PRELOADABLE = frozenset({"numpy"}) | sys.stdlib_module_names
_MAX_REPORT = 8 * 2**20
_WALL = struct.Struct(">d")

SENDING, SENT = b"sending", b"sent"
_IMPORTING, _IMPORTED = b"importing", b"imported"
_IMPORT_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Order:
    """What a runner is asked for."""

    program: bytes
    check_ids: tuple[str, ...]
    wall_s: float
    memory_mb: int
    seed: int
    preload: tuple[str, ...]
    """Modules that tests or the program use."""
    jails: tuple[int, ...]
    """The sockets of the program and, where tests are not trusted, of the tests."""


def wait_for_order(control: socket.socket) -> float | None:
    """The wall time of the order that has come, still unread; None when no more will come."""
    seen = control.recv(HEADER.size, socket.MSG_PEEK | socket.MSG_WAITALL)
    if len(seen) < HEADER.size:
        return None
    wall_s: float = HEADER.unpack(seen)[2]
    return wall_s


def read_order(control: socket.socket) -> Order:
    """The order that `wait_for_order` saw. Raises EOFError when it breaks off."""
    data, descriptors, _, _ = socket.recv_fds(control, HEADER.size, 2)
    data += _exactly(control, HEADER.size - len(data))
    head_length, program_length, wall_s = HEADER.unpack(data)
    head = json.loads(_exactly(control, head_length))
    return Order(
        program=_exactly(control, program_length),
        check_ids=tuple(head["check_ids"]),
        wall_s=wall_s,
        memory_mb=head["memory_mb"],
        seed=head["seed"],
        preload=tuple(head["preload"]),
        jails=tuple(descriptors),
    )


def _exactly(control: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = control.recv(min(count, 1 << 20))
        if not part:
            raise EOFError("the order breaks off")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def new_record() -> int:
    """A descriptor of a nameless file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("record", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def note_order_read(record: int) -> None:
    """An empty line, as the first thing in a record: all of the order has been taken off the socket."""
    os.write(record, b"\n")


def has_read_order(record: int) -> bool:
    return os.fstat(record).st_size > 0


def send_report(control: socket.socket, status: str, record: int) -> None:
    """Sends what is in the record; `status` is `done`, or `timeout` where the runner had to be ended."""
    size = min(os.fstat(record).st_size, _MAX_REPORT)
    body = json.dumps({"status": status}).encode() + b"\n" + os.pread(record, size, 0)
    control.sendall(struct.pack(">I", len(body)) + body)


class Notes:
    """What a runner has noted for its judge, as far as it has been read."""

    def __init__(self) -> None:
        self.wall_s = 0.0
        self.took_order = False
        self.since = 0.0
        """When the last note came that starts a time limit."""
        self.word = b""
        """The last thing it said that it is about."""
        self.imports: list[str] = []
        """Modules that it had to import."""
        self._unread = b""

    def take(self, data: bytes, now: float) -> None:
        self._unread += data
        if not self.took_order and len(self._unread) >= _WALL.size:
            self.took_order = True
            (self.wall_s,) = _WALL.unpack_from(self._unread)
            self._unread = self._unread[_WALL.size :]
            self.since = now
        while self.took_order and b"\n" in self._unread:
            line, _, self._unread = self._unread.partition(b"\n")
            self.word, *names = line.split(b" ")
            self.imports += [name.decode() for name in names]
            self.since = now + (_IMPORT_WITHIN_S if self.word == _IMPORTING else 0.0)


class Notebook:
    """The runner's end of its notes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def took_order(self, wall_s: float) -> None:
        """The time starts."""
        os.write(self._descriptor, _WALL.pack(wall_s))

    def say(self, word: bytes) -> None:
        os.write(self._descriptor, word + b"\n")

    def import_missing(self, names: Sequence[str]) -> bool:
        """Imports what the judge has not imported yet; its time does not count. Whether there was anything."""
        new = [name for name in names if name in _PRELOADABLE and name not in sys.modules]
        if new:
            self.say(b" ".join([_IMPORTING, *(name.encode() for name in new)]))
            import_known(new)
            self.say(_IMPORTED)
        return bool(new)


def import_known(names: Sequence[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):  # the tests will say so themselves
            importlib.import_module(name)

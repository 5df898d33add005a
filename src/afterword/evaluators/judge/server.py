"""The judge: an exec'd, single-threaded process that forks a runner for each verdict and passes on its report.

It holds no program and decides nothing itself. `serve` reads orders from a socket until the main process
closes it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable

from afterword.evaluators.judge.runner import Order, run, silence

_HEADER = struct.Struct(">II")
_GRACE_S = 0.5  # for a runner whose C code does not see its alarm
_MAX_REPORT = 8 * 2**20
_PRELOADABLE = frozenset({"numpy"}) | sys.stdlib_module_names


def serve(control: socket.socket) -> None:
    """Answers orders until the other end is closed."""
    die_with_parent = _parent_death_signal()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides when this one ends
    gc.collect()
    gc.freeze()
    tried: set[str] = set()
    while (received := _receive(control)) is not None:
        order, preload, jails = received
        if new := [name for name in preload if name not in tried]:
            tried.update(new)
            _preload(new)
        status, report = _verdict(control, order, jails, die_with_parent)
        body = json.dumps({"status": status}).encode() + b"\n" + report
        control.sendall(struct.pack(">I", len(body)) + body)


def _parent_death_signal() -> Callable[[], object]:
    """What makes a process end with its parent, looked up once."""
    if sys.platform != "linux":
        return lambda: None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def _preload(names: list[str]) -> None:
    """Imports what tests or programs use before the fork, so that no runner pays for it."""
    for name in names:
        if name in _PRELOADABLE:
            with contextlib.suppress(ImportError):  # the tests will say so themselves
                importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _receive(control: socket.socket) -> tuple[Order, list[str], list[int]] | None:
    data, descriptors, _, _ = socket.recv_fds(control, _HEADER.size, 2)
    if not data:
        return None
    data += _exactly(control, _HEADER.size - len(data))
    head_length, program_length = _HEADER.unpack(data)
    head = json.loads(_exactly(control, head_length))
    program = _exactly(control, program_length)
    order = Order(program, tuple(head["check_ids"]), head["wall_s"], head["memory_mb"], head["seed"])
    return order, head["preload"], list(descriptors)


def _exactly(control: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = control.recv(min(count, 1 << 20))
        if not part:
            sys.exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _verdict(
    control: socket.socket, order: Order, jails: list[int], die_with_parent: Callable[[], object]
) -> tuple[str, bytes]:
    reading, writing = os.pipe()
    runner = os.fork()
    if runner == 0:
        try:
            die_with_parent()
            control.close()
            os.close(reading)
            silence()
            run(order, jails, writing)
        except BaseException:  # noqa: BLE001  told by the exit code
            os._exit(1)
        os._exit(0)
    os.close(writing)
    for jail in jails:
        os.close(jail)
    try:
        status, report = _collect(reading, control, order.wall_s + _GRACE_S)
    finally:
        os.kill(runner, signal.SIGKILL)
        os.close(reading)
        os.waitpid(runner, 0)
    if status == "closed":
        sys.exit(0)
    return status, report


def _collect(reading: int, control: socket.socket, timeout_s: float) -> tuple[str, bytes]:
    """What the runner reports until it closes its end, hangs, or the main process is gone."""
    poller = select.poll()
    poller.register(reading, select.POLLIN)
    poller.register(control, select.POLLIN)
    deadline = time.monotonic() + timeout_s
    report = bytearray()
    while True:
        left_s = deadline - time.monotonic()
        events = poller.poll(max(left_s, 0) * 1000)
        if not events:
            return "timeout", bytes(report)
        for descriptor, _ in events:
            if descriptor != reading:
                return "closed", b""  # nothing is sent before the answer: this is the end
            part = os.read(reading, 65_536)
            if not part or len(report) > _MAX_REPORT:
                return "done", bytes(report)
            report += part


def main() -> None:
    """Run with the number of an inherited socket as the only argument."""
    with contextlib.suppress(ConnectionError):  # the main process has gone and left something unread
        serve(socket.socket(fileno=int(sys.argv[-1])))

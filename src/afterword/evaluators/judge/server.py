"""The judge: an exec'd, single-threaded process that forks a runner for each verdict and watches over it.

It holds no program and decides nothing itself. A runner is forked before it is needed and waits for the next order,
which it reads and answers itself, on the socket that both share; this process ends one that hangs or died, and then
says so in its place.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time

from afterword.evaluators.judge.orders import (
    SENDING,
    SENT,
    Notes,
    has_read_order,
    import_known,
    new_record,
    send_report,
)
from afterword.evaluators.judge.runner import serve_once

if sys.platform == "linux":
    from afterword.sandbox.jail.syscalls import PR_SET_PDEATHSIG, prctl
    from afterword.sandbox.jail.syscalls import fork_bare as fork

    def die_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

else:
    from os import fork

    def die_with_parent() -> None:
        """There, a process whose parent is gone ends when it next reads or writes."""


_GRACE_S = 0.5  # for a runner whose C code does not see its alarm
_SEND_WITHIN_S = 10.0
_DEATHS = 3  # of runners in a row that died while they waited for an order


def serve(control: socket.socket) -> None:
    """Answers orders until the other end is closed."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides when this one ends
    gc.collect()
    gc.freeze()
    deaths = 0
    while deaths < _DEATHS:
        supervised = _Supervised(control)
        try:
            took_order = supervised.watch()
        finally:
            supervised.end()
        deaths = 0 if took_order else deaths + 1
        if supervised.notes.imports:
            import_known(supervised.notes.imports)  # so that no later runner pays for it
            gc.collect()
            gc.freeze()


class _Supervised:
    """A runner, from its fork to its end."""

    def __init__(self, control: socket.socket) -> None:
        self.notes = Notes()
        self._control = control
        self._record = new_record()
        self._reading, writing = os.pipe()
        self._runner = fork()
        if self._runner == 0:
            try:
                die_with_parent()
                os.close(self._reading)
                serve_once(control, self._record, writing)
            except BaseException:  # noqa: BLE001  told by what it did not say
                os._exit(1)
            os._exit(0)
        os.close(writing)
        self._poll = select.poll()
        self._poll.register(self._reading, select.POLLIN)
        self._poll.register(control, 0)  # only for its hang-up: orders are the runner's

    def watch(self) -> bool:
        """Until the order is answered, by the runner or in its place; False if it died before it took one."""
        status = self._followed()
        if self.notes.word == SENT:
            return True
        self._kill()
        self._hear()
        if self.notes.word in (SENDING, SENT):
            sys.exit(0)  # half a report is out: nothing more can be said on this socket
        if not self.notes.took_order:
            return False
        if not has_read_order(self._record):
            sys.exit(0)  # what is left of the order would be taken for the next one, and the program had no part in it
        send_report(self._control, status, self._record)
        return True

    def _followed(self) -> str:
        """Follows the runner until it is done or gone (`done`) or out of time (`timeout`)."""
        while self.notes.word != SENT:
            ready = [fd for fd, _ in self._poll.poll(self._left_ms())]
            if self._control.fileno() in ready:
                self.end()
                os._exit(0)  # at once: the main process waits for it
            if not ready:
                return "timeout"
            if not self._hear():
                break
        return "done"

    def _hear(self) -> bool:
        """Takes in what the runner noted; False at its end."""
        heard = os.read(self._reading, 4096)
        self.notes.take(heard, time.monotonic())
        return bool(heard)

    def _left_ms(self) -> float | None:
        if not self.notes.took_order:
            return None
        grace_s = _SEND_WITHIN_S if self.notes.word == SENDING else self.notes.wall_s + _GRACE_S
        return 1000 * max(0.0, self.notes.since + grace_s - time.monotonic())

    def _kill(self) -> None:
        if self._runner:
            os.kill(self._runner, signal.SIGKILL)
            os.waitpid(self._runner, 0)
            self._runner = 0

    def end(self) -> None:
        """Nothing of the runner is left."""
        self._kill()
        os.close(self._reading)
        os.close(self._record)


def main() -> None:
    """Run with the number of an inherited socket as the only argument."""
    with contextlib.suppress(ConnectionError):  # the main process has gone and left something unread
        serve(socket.socket(fileno=int(sys.argv[-1])))

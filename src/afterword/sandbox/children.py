"""A child process of the main process that is waited for without blocking, and ended with what belongs to it.

Separate from the job it runs, since this is about process ids only.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import anyio

_POLL_S = 0.005
_REAP_WITHIN_S = 2.0


class Child:
    """One started process. `contains` says that its own children end everything below them when they are killed."""

    def __init__(self, popen: subprocess.Popen[bytes], *, contains: bool) -> None:
        self._popen = popen
        self._contains = contains

    async def exited(self) -> None:
        """Returns when the process has ended; it is not reaped yet."""
        if not hasattr(os, "pidfd_open"):
            while self._popen.poll() is None:  # noqa: ASYNC110 - the end of a process sets no event
                await anyio.sleep(_POLL_S)
            return
        if self._popen.returncode is None:
            pidfd = os.pidfd_open(self._popen.pid)
            try:
                await anyio.wait_readable(pidfd)
            finally:
                os.close(pidfd)

    def kill(self) -> None:
        """Kills the process group, or the pid 1 inside, whose end bubblewrap then reports as its own."""
        if self._popen.returncode is not None:
            return
        inner = self._children() if self._contains else []
        for pid in inner:
            _signal(pid)
        if not inner:
            self._kill_group()

    async def end(self) -> int:
        """Waits for the end of a process that has ended or was killed, reaps it and ends its group."""
        with anyio.move_on_after(_REAP_WITHIN_S):
            await self.exited()
        self._kill_group()
        return self._popen.wait()

    def _kill_group(self) -> None:
        """Before reaping, while the group's number is still ours."""
        if self._popen.returncode is None:
            try:
                os.killpg(self._popen.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
                return

    def _children(self) -> list[int]:
        try:
            text = Path(f"/proc/{self._popen.pid}/task/{self._popen.pid}/children").read_text()
        except OSError:
            return []
        return [int(pid) for pid in text.split()]


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return

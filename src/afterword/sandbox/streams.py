"""Reading what a jail writes: until its end or a cap, never blocking the event loop and never without a bound.

Separate since output, collected files and control messages are all read this way.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import anyio

_CHUNK = 1 << 16


class Allowance:
    """Bytes that may still be captured, shared by the streams of one program."""

    def __init__(self, bytes_left: int) -> None:
        self.bytes_left = bytes_left


class Drain:
    """Collects one pipe or socket. Owns the descriptor and closes it when done.

    `on_overflow` is called once when the allowance is used up; reading stops there, so that a flood costs nothing.
    """

    def __init__(self, fd: int, allowance: Allowance, on_overflow: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._allowance = allowance
        self._on_overflow = on_overflow
        self._chunks: list[bytes] = []
        self._done = anyio.Event()
        self._scope = anyio.CancelScope()

    @property
    def content(self) -> bytes:
        return b"".join(self._chunks)

    async def run(self) -> None:
        try:
            with self._scope:
                while await self._step():
                    pass
        finally:
            self.close()

    def close(self) -> None:
        """Closes the descriptor, also of a drain that never ran; may be called more than once."""
        if not self._done.is_set():
            os.close(self._fd)
            self._done.set()

    def stop(self) -> None:
        """Gives up on what is still to come."""
        self._scope.cancel()

    async def wait(self) -> None:
        await self._done.wait()

    def catch_up(self) -> None:
        """Takes in what was written so far, for somebody who cannot wait for the end."""
        with suppress(BlockingIOError):
            while not self._done.is_set() and self._read():
                pass

    async def _step(self) -> bool:
        await anyio.wait_readable(self._fd)
        with suppress(BlockingIOError):
            return self._read()
        return True

    def _read(self) -> bool:
        """Takes in one chunk; false if it was the last one."""
        try:
            chunk = os.read(self._fd, _CHUNK)
        except ConnectionResetError:
            return False
        if not chunk:
            return False
        if len(chunk) > self._allowance.bytes_left:
            self._chunks.append(chunk[: self._allowance.bytes_left])
            self._allowance.bytes_left = 0
            self._on_overflow()
            return False
        self._allowance.bytes_left -= len(chunk)
        self._chunks.append(chunk)
        return True

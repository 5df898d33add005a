"""The main process's hold on a submission in a jail, the same at every level.

Separate from the levels, which differ in how a jail is made and followed, and not in how it is called.
"""

from __future__ import annotations

import socket
from typing import Protocol

from afterword.core.records import RunResult
from afterword.errors import SandboxFault


class Jail(Protocol):
    """A jail that is followed to its end."""

    async def wait(self) -> RunResult: ...

    async def close(self) -> None: ...

    def let_go(self) -> bool: ...


class JailedPeer:
    """A submission in a jail. Its printed output is in `stdout` of the result, both streams in order.

    A jail that is closed while its program runs ends as `signal`.
    """

    def __init__(self, jail: Jail, ours: socket.socket, isolation: str) -> None:
        self.isolation = isolation
        self._jail = jail
        self._socket = ours

    def detach(self) -> int:
        if self._socket.fileno() < 0:
            raise SandboxFault("the socket of this peer was taken or closed already")
        return self._socket.detach()

    async def wait(self) -> RunResult:
        return await self._jail.wait()

    def let_go(self) -> bool:
        self._socket.close()
        return self._jail.let_go()

    async def close(self) -> None:
        self._socket.close()
        await self._jail.close()

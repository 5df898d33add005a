"""Descriptors over a unix socket, on interpreters that do not have `socket.send_fds` yet.

Separate since both the zygote and the cell it keeps ready receive them.
"""

from __future__ import annotations

import array
import os
import socket
from collections.abc import Sequence

MESSAGE_BYTES = 1 << 17
_AT_MOST = 4


def send(channel: socket.socket, data: bytes, fds: Sequence[int]) -> None:
    channel.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    """One message and the descriptors that came with it. Ends the process when nobody is left who could send one."""
    size = socket.CMSG_SPACE(_AT_MOST * array.array("i").itemsize)
    data, ancillary, _, _ = channel.recvmsg(MESSAGE_BYTES, size, socket.MSG_CMSG_CLOEXEC)
    if not data:
        os._exit(0)
    fds = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
    return data, list(fds)

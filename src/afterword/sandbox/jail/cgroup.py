"""Memory and process limits of the zygote and its cell together, in a control group that the main process made.

Separate since it is optional, and since its files are opened while the zygote still sees the host: what is kept is
open descriptors, which the cell closes before it runs anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from .limits import MEGABYTE, Limits

_OWN_PROCESSES = 4
"""The zygote, its parent that waits for it, the init of the cell, and one to spare."""
_OWN_MEMORY = 96 * MEGABYTE
"""What the zygote and the init may take besides; address-space limits bind first, with a clear MemoryError."""


class ControlGroup:
    """`folders` maps `memory` and `pids` (version 1), or `unified` (version 2), to a folder each; empty for none."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._fds: dict[str, int] = {}
        self._in_force: dict[str, int] = {}
        self._folders = folders
        unified = folders.get("unified")
        if unified:
            self._open("memory", unified, "memory.max")
            self._open("pids", unified, "pids.max")
            self._open("events", unified, "memory.events")
            self._write_once(os.path.join(unified, "memory.swap.max"), "0")
        if "memory" in folders:
            self._open("memory", folders["memory"], "memory.limit_in_bytes")
            self._open("events", folders["memory"], "memory.oom_control")
            self._write_once(os.path.join(folders["memory"], "memory.swappiness"), "0")
        if "pids" in folders:
            self._open("pids", folders["pids"], "pids.max")

    def join(self) -> None:
        """Moves this process into the group; its children are born there."""
        for folder in self._folders.values():
            self._write_once(os.path.join(folder, "cgroup.procs"), str(os.getpid()))

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    @property
    def limits_processes(self) -> bool:
        return "pids" in self._fds

    @property
    def limits_memory(self) -> bool:
        return "memory" in self._fds

    def _open(self, name: str, folder: str, file: str) -> None:
        flags = os.O_RDONLY if name == "events" else os.O_RDWR
        self._fds[name] = os.open(os.path.join(folder, file), flags | os.O_CLOEXEC)

    def _write_once(self, path: str, text: str) -> None:
        if os.path.exists(path):  # absent where the kernel counts no swap
            with open(path, "w") as file:
                file.write(text)

    def limit(self, limits: Limits) -> None:
        wanted = {
            "memory": limits.memory_mb * MEGABYTE + _OWN_MEMORY,
            "pids": limits.processes + _OWN_PROCESSES,
        }
        for name, value in wanted.items():
            if name in self._fds and self._in_force.get(name) != value:
                os.pwrite(self._fds[name], str(value).encode(), 0)
                self._in_force[name] = value

    def memory_kills(self) -> int:
        """How often the kernel has killed in this group for want of memory."""
        if "events" not in self._fds:
            return 0
        for line in os.pread(self._fds["events"], 4096, 0).split(b"\n"):
            if line.startswith(b"oom_kill "):
                return int(line.split()[1])
        return 0

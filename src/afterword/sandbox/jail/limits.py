"""The limits of one jailed program, as they arrive at the zygote, and their enforcement by rlimits.

Separate from the cell since the levels without a zygote enforce them in the same way.
"""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Callable, Mapping
from typing import NamedTuple

MEGABYTE = 1 << 20
_OPEN_FILES = 512


class Limits(NamedTuple):
    """The wire form of `afterword.core.records.Limits`."""

    wall_s: float
    cpu_s: float | None
    memory_mb: int
    processes: int
    file_mb: int

    @classmethod
    def from_wire(cls, fields: Mapping[str, float]) -> Limits:
        return cls(
            float(fields["wall_s"]),
            None if fields["cpu_s"] is None else float(fields["cpu_s"]),
            int(fields["memory_mb"]),
            int(fields["processes"]),
            int(fields["file_mb"]),
        )

    @property
    def cpu_ceiling_s(self) -> int:
        """Whole seconds of processor time that one process may use."""
        allowed = self.wall_s * (os.cpu_count() or 1) if self.cpu_s is None else self.cpu_s
        return max(1, math.ceil(allowed))

    @property
    def scratch_mb(self) -> int:
        """The size of each private folder."""
        return max(16, min(4 * self.file_mb, self.memory_mb))


def address_space_in_use() -> int:
    """Bytes that this process has mapped before the program adds to them; 0 where that cannot be told."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def processes_of_user() -> int:
    """Threads of this user that count against a limit set in a new user namespace.

    Since Linux 5.14 a namespace counts its own only; before, the user's on the whole host.
    """
    release = os.uname().release.split(".")
    if (int(release[0]), int("".join(filter(str.isdigit, release[1][:3])) or 0)) >= (5, 14):
        return 0
    return threads_of_user()


def threads_of_user() -> int:
    """Threads of this user on the whole host; 0 for root, whom no limit binds, and where there is no /proc."""
    if os.geteuid() == 0 or not os.path.isdir("/proc/self"):
        return 0
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:  # ended meanwhile
            continue
    return count


def memory_of_others() -> int:
    """Bytes of memory that all other processes in this /proc hold, each shared page counted once."""
    resident = _summed("statm", lambda text: int(text.split()[1]) * resource.getpagesize())
    if resident < _WORTH_A_CLOSER_LOOK:
        return resident
    return _summed("smaps_rollup", lambda text: 1024 * int(text.split("\nPss:")[1].split()[0]))


_WORTH_A_CLOSER_LOOK = 64 * MEGABYTE


def _summed(name: str, measure: Callable[[str], int]) -> int:
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        try:
            with open(f"/proc/{pid}/{name}") as file:
                total += measure(file.read())
        except (OSError, IndexError):  # ended meanwhile
            continue
    return total


def apply(limits: Limits, *, already_mapped: int, limit_address_space: bool) -> None:
    """Binds this process and all it starts."""
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _set(resource.RLIMIT_FSIZE, limits.file_mb * MEGABYTE)
    resource.setrlimit(resource.RLIMIT_CPU, _capped(resource.RLIMIT_CPU, limits.cpu_ceiling_s, spare=1))
    if limit_address_space:
        _set(resource.RLIMIT_AS, limits.memory_mb * MEGABYTE + already_mapped)
    _set(resource.RLIMIT_NPROC, limits.processes)


def _set(kind: int, value: int) -> None:
    resource.setrlimit(kind, _capped(kind, value))


def _capped(kind: int, value: int, *, spare: int = 0) -> tuple[int, int]:
    """Soft and hard limit, never above a hard limit that is already in force."""
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY:
        return value, value + spare
    return min(value, hard), min(value + spare, hard)

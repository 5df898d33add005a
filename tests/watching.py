"""What a test can see of processes, any of which may end while it looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

PATIENCE_S = 100.0
"""How long to wait for what should take a second; a busy machine takes longer."""


def alive(pid: int) -> bool:
    """Whether a process is there and not only waits to be reaped."""
    try:
        return Path("/proc", str(pid), "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def survivors(pids: Iterable[int]) -> set[int]:
    """Those of them that are alive."""
    return set(filter(alive, pids))


def children(pid: int) -> set[int]:
    """Processes below one, whichever of its threads started them; dead ones that nobody has waited for included."""
    found: set[int] = set()
    for task in Path("/proc", str(pid), "task").glob("*"):
        try:
            found |= {int(child) for child in (task / "children").read_text().split()}
        except OSError:  # the thread has ended meanwhile
            continue
    return found


def descendants(pid: int) -> set[int]:
    below = children(pid)
    return below.union(*(descendants(child) for child in below))


def command_line(pid: int) -> str:
    """Its arguments, each with a NUL behind it; empty for a process that has ended."""
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def processes() -> dict[int, str]:
    """All processes of this host that can be seen, with their command lines."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return {pid: command_line(pid) for pid in numbers}


def processes_with(marker: str) -> set[int]:
    """Those whose command line holds `marker`."""
    return {pid for pid, line in processes().items() if marker in line}


def descriptors() -> int:
    """How many descriptors this process holds."""
    return len(list(Path("/proc/self/fd").iterdir()))


def eventually(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    """Whether it comes true within the patience of a test."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True

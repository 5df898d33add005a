"""Who is at work on a run. A second process is refused; a dead one's run is free.

On one machine a holder is alive as long as its process is, whatever clocks say. Of a holder on another machine only
its heartbeat is seen: it is watched for a while with the own monotonic clock, and no two clocks are compared.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

BEAT_S = 3.0
"""How often a holder says that it is alive."""
SILENCE_S = 20.0
"""How long another machine's holder is watched before it is taken for dead."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that works on runs."""

    host: str
    machine: str
    """Changes with every boot, and from container to container."""
    pid: int
    born: str
    """When the process was started, by the kernel: a number that is used again is another process."""
    token: str
    """Tells two journals of one process apart."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def here(self) -> bool:
        """Whether it is, or was, a process of this machine."""
        return (self.host, self.machine) == (socket.gethostname(), _machine())

    @property
    def alive(self) -> bool:
        """For one of this machine: whether its process still runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # somebody else's, so it is there
        return _born(self.pid) == self.born and not _is_zombie(self.pid)


def holder_of(text: str) -> Holder:
    """A holder as it was kept."""
    return Holder(**json.loads(text))


def myself() -> Holder:
    """This process, at work on one journal."""
    pid = os.getpid()
    return Holder(socket.gethostname(), _machine(), pid, _born(pid), uuid.uuid4().hex[:12])


@cache
def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"{uuid.getnode():x}"


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _born(pid: int) -> str:
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _is_zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]

"""How a jailed program ended: its captured output made harmless, and one result type for every level.

Separate since all levels share it and none of it touches a process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from afterword.core.records import Limits, RunResult
from afterword.errors import InputError, SandboxFault

Cause = Literal["deadline", "closed", "memory", "output_limit"]
"""Why a jail was ended from outside."""

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))
_STRIPPED = dict.fromkeys((*_CONTROLS, *_BIDI))
_OUT_OF_MEMORY = re.compile(
    r"MemoryError\b|memory allocation of \d+ bytes failed|std::bad_alloc|[Cc]annot allocate memory"
    r"|[Oo]ut of memory|OutOfMemoryError|virtual memory exhausted"
)
_TAIL_CHARS = 2_000


def clean(captured: bytes) -> str:
    """Untrusted output as text: undecodable bytes as escapes, terminal controls and direction marks taken out."""
    return captured.decode("utf-8", "backslashreplace").translate(_STRIPPED)


def anonymous_file(content: bytes) -> int:
    """A descriptor of a nameless file that holds `content`; the caller closes it."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("afterword", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """The input files of a command as one payload: a line of JSON, then the contents in order.

    Raises InputError for a name that leads out of the work folder.
    """
    for name in files:
        if not name or name.startswith("/") or ".." in name.split("/"):
            raise InputError(f"expected file names inside the work folder, found {name!r}")
    header = [{"name": name, "size": len(content)} for name, content in files.items()]
    return json.dumps(header).encode() + b"\n" + b"".join(files.values())


def unpack_collected(stream: bytes) -> dict[str, bytes]:
    """The files that a jail handed out; one cut off in the middle is left out."""
    files: dict[str, bytes] = {}
    at = 0
    while (end := stream.find(b"\n", at)) >= 0:
        entry = json.loads(stream[at:end])
        at = end + 1 + entry["size"]
        if at > len(stream):
            break
        files[entry["name"]] = stream[end + 1 : at]
    return files


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a jail that has ended."""

    status: int | None
    """The wait status of the program; None when it was ended with the whole jail."""
    cause: Cause | None
    wall_s: float
    cpu_s: float = 0.0
    memory_kill: bool = False
    """The kernel killed in this jail for want of memory."""
    stdout: bytes = b""
    stderr: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def result(self, limits: Limits, isolation: str) -> RunResult:
        """Raises SandboxFault when the jail went away and nothing says why."""
        stdout, stderr = clean(self.stdout), clean(self.stderr)
        reason = self._reason(limits, (stderr or stdout)[-_TAIL_CHARS:])
        exit_code = os.waitstatus_to_exitcode(self.status) if self.status is not None and reason == "exited" else None
        return RunResult(exit_code, reason, stdout, stderr, self.wall_s, isolation, self.files)

    def _reason(
        self, limits: Limits, last_words: str
    ) -> Literal["exited", "signal", "timeout", "memory", "output_limit"]:
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        if self.cause == "output_limit":
            return "output_limit"
        if self.cause == "memory" or (self.memory_kill and code != 0):
            return "memory"
        if self.cause == "deadline":
            return "timeout"
        if code is None:
            if self.cause == "closed":
                return "signal"
            raise SandboxFault("the jail ended without saying how; try again, and see `afterword doctor` if it recurs")
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and self.cpu_s >= cpu_ceiling_s(limits)):
            return "timeout"
        if code != 0 and _OUT_OF_MEMORY.search(last_words):
            return "memory"
        return "exited" if code >= 0 else "signal"


def cpu_ceiling_s(limits: Limits) -> float:
    """Processor seconds after which one process is ended."""
    return limits.wall_s * (os.cpu_count() or 1) if limits.cpu_s is None else limits.cpu_s

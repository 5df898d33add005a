"""One submission or command in a fresh sandbox, and counts of what this host holds before and after."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from afterword.core.protocols import Sandbox
from afterword.core.records import Limits, RunResult
from afterword.sandbox import Level, open_sandbox
from tests.watching import children, command_line, descendants, descriptors

FAST = Limits(wall_s=5.0, memory_mb=512, processes=32)


@asynccontextmanager
async def jail(level: Level | None = None, *, python: Path | None = None, workers: int = 1) -> AsyncIterator[Sandbox]:
    allow_weak = level in ("seatbelt", "process")
    async with open_sandbox(level, python=python, workers=workers, allow_weak=allow_weak) as sandbox:
        yield sandbox


async def submit(sandbox: Sandbox, source: str, limits: Limits = FAST) -> RunResult:
    """Loads a submission, waits for the worker's answer or its end, and hangs up."""
    peer = await sandbox.open(source, limits)
    fd = peer.detach()
    try:
        with anyio.move_on_after(limits.wall_s + 5):
            await anyio.wait_readable(fd)
            os.read(fd, 1 << 16)
    finally:
        os.close(fd)
    return await peer.wait()


def outcome(source: str, limits: Limits = FAST, *, level: Level | None = None, python: Path | None = None) -> RunResult:
    """How one submission ended in a sandbox of its own."""

    async def main() -> RunResult:
        async with jail(level, python=python) as sandbox:
            return await submit(sandbox, source, limits)

    return anyio.run(main)


def told(expression: str, level: Level, *, before: str = "", limits: Limits = FAST) -> object:
    """The JSON value of an expression, evaluated inside."""
    source = f"import json, os\n{before}\nos.write(1, json.dumps({expression}).encode())"
    return json.loads(outcome(source, limits, level=level).stdout)


@dataclass(frozen=True)
class Held:
    """What this process and host hold that a sandbox could leave behind."""

    descriptors: int
    children: int
    mounts: int
    groups: int
    shared_memory: int
    temporary: int


def held() -> Held:
    return Held(
        descriptors=descriptors(),
        children=len(children(os.getpid())),
        mounts=len(Path("/proc/self/mountinfo").read_text().splitlines()),
        groups=len(_groups()),
        shared_memory=sum(name.startswith("h_") for name in _names("/dev/shm")),
        temporary=sum(name.startswith("afterword") for name in _names(tempfile.gettempdir())),
    )


def zygotes() -> set[int]:
    """The processes of this one that are zygotes or watchers."""
    return {pid for pid in descendants(os.getpid()) if "jail.zygote" in command_line(pid)}


def kill_zygotes() -> set[int]:
    """Kills them all, and returns which they were; a watcher ends with its zygote, perhaps before it is killed."""
    victims = zygotes()
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return victims


def _groups() -> list[Path]:
    found: list[Path] = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        base = Path("/sys/fs/cgroup", controllers or "unified", path.strip("/"))
        if base.is_dir():
            found += base.glob(f"afterword-{os.getpid()}-*")
    return found


def _names(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]

"""One judge process, from the main process's side: starting it, giving it an order, reading its report."""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

import afterword
from afterword.errors import SandboxFault
from afterword.evaluators.judge.orders import HEADER

_MAX_REPORT = 16 * 2**20
_REPORT_GRACE_S = 10.0
_END_WITHIN_S = 0.5
RUNNER_MEMORY_MB = 2048

# The judge needs a few modules of the package and none of what `afterword/__init__` loads: the smaller process
# forks in half the time.
_BOOT = """
import sys, types
for name in ("afterword", "afterword.sandbox"):
    package = types.ModuleType(name)
    package.__path__ = [sys.argv[1] + name.replace("afterword", "", 1).replace(".", "/")]
    sys.modules[name] = package
from afterword.evaluators.judge.server import main
main()
"""


class AttemptLost(Exception):
    """The judge or a jail was gone before there was a verdict; another attempt may reach one."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a judge says of one verdict."""

    status: str
    """`done`, or `timeout` when the runner had to be ended."""
    results: dict[str, tuple[str, str]]
    """Check id -> (passed, failed, error or memory; message)."""
    reason: str
    """Why the verdict ended early; empty when it did not; `died` when the runner did not finish."""
    message: str
    current: str
    """The check under way when it ended early."""
    rest: str
    """Why checks after an error outside of them were not reached."""


class Judge:
    """A started judge process."""

    def __init__(self, seed: int = 0) -> None:
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        root = str(Path(afterword.__file__).parent)
        command = [sys.executable, "-s", "-c", _BOOT, root, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(seed),
                cwd="/",
                start_new_session=True,  # the terminal's Ctrl-C is for the main process to answer
            )
        self._sock.setblocking(False)

    async def order(self, head: dict[str, object], program: bytes, jails: Sequence[int]) -> Report:
        """Sends one order with the sockets of its jails and returns the report.

        Raises:
            AttemptLost: the judge died or does not answer.
        """
        body = json.dumps(head).encode()
        wall_s = head["wall_s"]
        assert isinstance(wall_s, float)  # noqa: S101  the pool made it
        try:
            with anyio.fail_after(wall_s + _REPORT_GRACE_S):
                await self._send(HEADER.pack(len(body), len(program), wall_s) + body + program, jails)
                (length,) = struct.unpack(">I", await self._exactly(4))
                if length > _MAX_REPORT:
                    raise AttemptLost(f"the judge sent a report of {length:,} bytes")
                return read_report(await self._exactly(length))
        except (OSError, TimeoutError) as error:
            raise AttemptLost(f"the judge was lost ({type(error).__name__}: {error})") from error

    async def _send(self, data: bytes, descriptors: Sequence[int]) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        view = memoryview(data)
        while view:
            try:
                sent = self._sock.sendmsg([view[: 1 << 18]], rights)
            except BlockingIOError:
                await anyio.wait_writable(self._sock)
                continue
            rights = []
            view = view[sent:]

    async def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = self._sock.recv(min(count, 1 << 18))
            except BlockingIOError:
                await anyio.wait_readable(self._sock)
                continue
            if not part:
                raise AttemptLost(f"the judge ended with status {self._process.poll()}")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Ends the process and its runner; what they have under way is lost."""
        self._sock.close()
        try:
            self._process.wait(_END_WITHIN_S)  # it ends its runner when it sees this: nobody else would reap that one
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid


def _environment(seed: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "PYTHONPATH", "LANG") if name in os.environ}
    # One hash seed: sets come in one order, so the same program gets the same messages.
    return {**kept, "PYTHONHASHSEED": str(seed), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def read_report(data: bytes) -> Report:
    """The report as a record."""
    first, *lines = data.split(b"\n")
    status = str(json.loads(first)["status"])
    results: dict[str, tuple[str, str]] = {}
    reason, message, current, rest = "died", "", "", ""
    for line in lines:
        try:
            record: dict[str, str] = json.loads(line)
        except ValueError:
            continue  # the last line of a runner that was ended while it wrote
        if "check" in record:
            before = results.get(record["check"], ("passed", ""))
            results[record["check"]] = before if before[0] != "passed" else (record["result"], record["message"])
        elif "rest" in record:
            rest = record["rest"]
        elif "end" in record:
            reason, message, current = record["end"], record["message"], record["current"]
    if status == "timeout" and reason == "died":
        reason = "timeout"
    return Report(status, results, reason, message, current, rest)


def fault(losses: Sequence[AttemptLost]) -> SandboxFault:
    """Where attempt after attempt is lost there is no verdict."""
    return SandboxFault(f"{len(losses)} attempts in a row broke off before there was a verdict; the last: {losses[-1]}")

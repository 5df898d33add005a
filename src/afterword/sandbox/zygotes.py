"""The main process's end of a zygote: starting it, sending it jobs, hearing how they ended, and ending it.

Separate from the pool and the sandbox above it: this knows one process and its socket, and nothing of verdicts.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from afterword.core.records import Limits
from afterword.errors import InputError, SandboxFault
from afterword.sandbox.cgroups import ControlGroups
from afterword.sandbox.environment import DEFAULT_HASH_SEED, environment, interpreter_environment
from afterword.sandbox.results import anonymous_file

_MESSAGE_BYTES = 1 << 17
_START_WITHIN_S = 30.0
_ACCEPT_WITHIN_S = 10.0
_END_WITHIN_S = 5.0
_STDERR_CHARS = 1_000
_FOLDER = Path(__file__).parent
HOME = "/sandbox"
"""The work folder of a cell, as its program sees it."""
_BOOT = "import sys; sys.path[0] = sys.argv[1]; from jail.zygote import main; del sys.path[0]; main()"


class ZygoteLost(Exception):
    """The zygote is gone or makes no sense; what it was doing is to be repeated with another one.

    Caught here in the package: outside it becomes a SandboxFault.
    """


@dataclass(frozen=True, slots=True)
class View:
    """What the programs of a zygote may see and do."""

    python: Path
    toolchain: bool
    """Commands may be executed, and the system's programs are readable."""
    readable: tuple[Path, ...] = ()
    """Folders shown besides what the interpreter needs."""
    preload: tuple[str, ...] = ()
    """Modules imported once by the zygote, so that no program pays for them again."""
    hash_seed: str = DEFAULT_HASH_SEED
    """As PYTHONHASHSEED: decides the order of sets."""
    hidden: tuple[Path, ...] = (_FOLDER.parent,)
    """Folders shown empty: this package's own code is no business of a submission."""


class Zygote:
    """One zygote process. Not for concurrent use: it does one job at a time."""

    def __init__(self, view: View, groups: ControlGroups) -> None:
        self._groups = groups
        self._group = groups.make()
        self._jobs = 0
        self._zygote_pidfd: int | None = None
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        self._stderr = anonymous_file(b"")
        with theirs:
            self._watcher = _spawn(view, theirs.fileno(), self._stderr)
        self._configuration = {
            "parent": os.getpid(),
            "toolchain": view.toolchain,
            "readable": [str(path) for path in view.readable],
            "preload": list(view.preload),
            "hidden": [str(path) for path in view.hidden],
            "cgroups": self._group,
        }

    async def ready(self) -> None:
        """Waits until it can take a job. Raises SandboxFault with the host's reason when it cannot."""
        try:
            with anyio.fail_after(_START_WITHIN_S):
                self._send(self._configuration)
                while True:
                    message = await self._receive()
                    if "zygote" in message:
                        # One that has ended already says why in the next message.
                        with suppress(ProcessLookupError):
                            self._zygote_pidfd = os.pidfd_open(int(str(message["zygote"])))
                    if "fault" in message:
                        raise SandboxFault(f"the jail cannot be set up here: {message['fault']}")
                    if "ready" in message:
                        return
        except (ZygoteLost, TimeoutError, OSError) as error:
            raise SandboxFault(f"the jail's zygote did not start ({error!r}): {self._last_words()}") from error

    async def begin(
        self,
        kind: str,
        limits: Limits,
        fds: Sequence[int],
        *,
        argv: Sequence[str] = (),
        collect: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> int:
        """Hands over a job (payload, stdout, stderr and peer descriptors) and returns its number once accepted."""
        self._jobs += 1
        order: dict[str, object] = {
            "job": self._jobs,
            "kind": kind,
            "limits": asdict(limits),
            "argv": list(argv),
            "collect": list(collect),
            "environment": dict(variables or {}),
        }
        try:
            with anyio.fail_after(_ACCEPT_WITHIN_S):
                self._send(order, fds)
                message = await self._receive()
        except (OSError, TimeoutError) as error:
            raise ZygoteLost(repr(error)) from error
        if message.get("accepted") != self._jobs:
            raise ZygoteLost(f"expected job {self._jobs} to be accepted, found {message!r}")
        return self._jobs

    def end(self, job: int) -> None:
        """Asks for the end of a job; one that has ended already is ignored, and so is a zygote that is gone."""
        try:
            self._send({"end": job})
        except OSError:
            return

    async def ended(self, job: int, within_s: float) -> Mapping[str, object]:
        """The report of a job. Raises ZygoteLost when none comes."""
        try:
            with anyio.fail_after(within_s):
                message = await self._receive()
        except (OSError, TimeoutError) as error:
            raise ZygoteLost(repr(error)) from error
        if message.get("ended") != job:
            raise ZygoteLost(f"expected the end of job {job}, found {message!r}")
        return message

    def kill(self) -> None:
        """Ends it and everything below it at once; `close` is still needed."""
        try:
            if self._zygote_pidfd is not None:
                signal.pidfd_send_signal(self._zygote_pidfd, signal.SIGKILL)
            else:
                self._watcher.kill()
        except ProcessLookupError:
            return

    async def close(self) -> None:
        """Ends it and waits until nothing of it is left. May be called more than once."""
        if self._control.fileno() < 0:
            return
        self._control.close()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_END_WITHIN_S):
                while self._watcher.poll() is None:  # noqa: ASYNC110 - the end of a process sets no event
                    await anyio.sleep(0.002)
            if self._watcher.poll() is None:
                self.kill()
                self._watcher.kill()
                self._watcher.wait()
            for fd in (self._stderr, self._zygote_pidfd):
                if fd is not None:
                    os.close(fd)
            await self._groups.remove(self._group)

    def _send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        data = json.dumps(message).encode()
        if len(data) > _MESSAGE_BYTES:
            raise InputError(f"expected arguments below {_MESSAGE_BYTES} bytes, found {len(data)}; pass them in a file")
        socket.send_fds(self._control, [data], fds)

    async def _receive(self) -> Mapping[str, object]:
        while True:
            try:
                data = self._control.recv(_MESSAGE_BYTES)
                break
            except BlockingIOError:
                await anyio.wait_readable(self._control)
        if not data:
            raise ZygoteLost("it closed its socket")
        message: Mapping[str, object] = json.loads(data)
        return message

    def _last_words(self) -> str:
        size = os.fstat(self._stderr).st_size
        text = os.pread(self._stderr, _STDERR_CHARS, max(0, size - _STDERR_CHARS)).decode(errors="backslashreplace")
        return text.strip().rpartition("\n")[2] or "no word on stderr"


def _spawn(view: View, control_fd: int, stderr_fd: int) -> subprocess.Popen[bytes]:
    """Starts from the thread of the event loop: the kernel ends the child when the thread that started it ends."""
    try:
        return subprocess.Popen(
            [str(view.python), "-s", "-B", "-X", "utf8", "-c", _BOOT, str(_FOLDER), str(control_fd)],
            pass_fds=(control_fd,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr_fd,
            env=interpreter_environment({**environment(HOME), "PYTHONHASHSEED": view.hash_seed}),
            start_new_session=True,  # out of reach of the terminal's Ctrl-C, which is for the main process to answer
            cwd="/",
        )
    except OSError as error:
        raise InputError(f"expected a Python interpreter at {str(view.python)!r}: {error.strerror}") from error

"""The command line as processes of its own, where a test needs signals, pipes or a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.watching import PATIENCE_S

# Whoever started the tests may have had signals ignored, as nohup and `&` do; a command in a terminal has them.
_SIGNALS = (
    "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "signal.signal(signal.SIGINT, signal.default_int_handler); "
)
_DEAF = "signal.signal(signal.SIGINT, signal.SIG_IGN); "
_MAIN = "from afterword.cli.main import main; main()"
COMMAND = (sys.executable, "-c", _SIGNALS + _MAIN)


@contextmanager
def started(
    arguments: Sequence[str | Path],
    *,
    stdin: int | None = subprocess.DEVNULL,
    stderr: int | None = subprocess.PIPE,
    deaf: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a session of its own; what is left of it is ended. A deaf one has Ctrl-C ignored, as by `&`."""
    command = [*COMMAND[:-1], _SIGNALS + _DEAF * deaf + _MAIN]
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Terminal:
    """A command behind a terminal: what it showed, and keys for it."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Reads until the text has been shown."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            assert self._read(0.1), f"it ended without {text!r}:\n{self.shown}"

    def type(self, keys: str) -> None:
        """Types keys. With Ctrl-C the terminal drops what it has not shown yet, as terminals do."""
        os.write(self._master, keys.encode())

    @property
    def cursor_seen(self) -> bool:
        """Whether a person sees the cursor now."""
        return self.shown.rfind("\x1b[?25l") <= self.shown.rfind("\x1b[?25h")

    def interrupt(self) -> int:
        """Types Ctrl-C as a person would, again where nothing happens for a while; returns the exit code.

        CPython loses an interrupt that comes between the prompt of `input` and its wait for a key.
        """
        for _ in range(int(PATIENCE_S / 5)):
            self.type("\x03")
            pause = time.monotonic() + 5
            while time.monotonic() < pause:
                if not self._read(0.1):
                    return self.process.wait(PATIENCE_S)
        raise AssertionError(self.shown)

    def echoes(self) -> bool:
        """Whether a person sees what is typed."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def finish(self) -> int:
        """Reads to the end; returns the exit code."""
        end = time.monotonic() + PATIENCE_S
        while self._read(0.1):
            assert time.monotonic() < end, self.shown
        return self.process.wait(PATIENCE_S)

    def _read(self, wait_s: float) -> bool:
        """False at the end."""
        ready, _, _ = select.select([self._master], [], [], wait_s)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # Linux's way to say that the other side is closed
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


@contextmanager
def terminal(
    arguments: Sequence[str | Path], *, columns: int = 80, environment: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """A command in a terminal of so many columns, which it controls, so that Ctrl-C is a key."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    code = "import os, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); " + COMMAND[2]
    process = subprocess.Popen(
        [COMMAND[0], COMMAND[1], code, *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "NO_COLOR": "", "TERM": "xterm-256color", **(environment or {})},
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)

"""A long-lived measured process: it is asked over its standard streams and answers with what it measured.

Each peer runs under an interpreter of its own, is warm before it is timed, and can be asked in turn with the
others, so that a noisy minute of the machine falls on all of them alike.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PEERS = Path(__file__).parent.parent / "peers"


class DriverError(Exception):
    """The driver died, did not answer in time, or said that it could not do what it was asked."""


class Driver:
    """One such process. Use it as a context manager: leaving it ends the process."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        start_timeout_s: float = 120.0,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the driver
        self._pending = b""
        self._asked = 0
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=None if environment is None else dict(environment),
            cwd=folder,
        )
        try:
            self.hello = self._receive(start_timeout_s)
        except DriverError:
            self.close()
            raise

    def send(self, request: Mapping[str, object]) -> None:
        """Asks without waiting; `receive` waits. In between the process works."""
        self._asked += 1
        line = json.dumps({**request, "id": self._asked}) + "\n"
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(line.encode())
            stdin.flush()
        except BrokenPipeError:
            raise DriverError(f"the driver died: {self._last_error()}") from None

    def receive(self, timeout_s: float) -> dict[str, object]:
        """The answer to the last question.

        Raises:
            DriverError: there is none.
        """
        answer = self._receive(timeout_s)
        if "error" in answer:
            raise DriverError(str(answer["error"]))
        return answer

    def ask(self, request: Mapping[str, object], timeout_s: float = 600.0) -> dict[str, object]:
        """Asks and waits."""
        self.send(request)
        return self.receive(timeout_s)

    def _receive(self, timeout_s: float) -> dict[str, object]:
        """The next line that answers the last question; a judged program may write others in between."""
        deadline = time.monotonic() + timeout_s
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            line, newline, rest = self._pending.partition(b"\n")
            if newline:
                self._pending = rest
                answer = _decode(line)
                if answer.get("id") == self._asked:
                    return answer
                continue
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([stdout], [], [], left_s)[0]:
                raise DriverError(f"no answer within {timeout_s:g} s")
            got = os.read(stdout.fileno(), 1 << 16)
            if not got:
                raise DriverError(f"the driver died: {self._last_error()}")
            self._pending += got

    def _last_error(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        lines = self._errors.read().decode(errors="backslashreplace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:  # an unread question; the process is gone
                continue

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _decode(line: bytes) -> dict[str, object]:
    try:
        answer = json.loads(line)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}

"""Starts processes quickly: one that has all modules of the job loaded already, and forks for each line on its input.

A line holds the arguments of `job.main` as JSON. It answers with the new process's number, and once that has ended with
its exit status, negative for a signal. A killed process is a real one; only its imports are shared.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

_PATIENCE_S = 600.0


class Child:
    """A process of the nursery."""

    def __init__(self, pid: int, answers: IO[str], errors: Path) -> None:
        self.pid = pid
        self.status: int | None = None
        self._answers = answers
        self._errors = errors

    def poll(self, wait_s: float = 0.0) -> int | None:
        """The exit status, once it has ended."""
        if self.status is None and select.select([self._answers], [], [], wait_s)[0]:
            self.status = int(self._answers.readline())
        return self.status

    def kill(self) -> int:
        """Ends it at once, if it has not ended; returns the exit status."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """The exit status."""
        status = self.poll(_PATIENCE_S)
        assert status is not None, "it does not end"
        return status

    @property
    def said(self) -> str:
        """What it wrote on its stderr."""
        return self._errors.read_text()


class Nursery:
    """Starts one process at a time."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._errors = folder / "stderr"

    def start(self, *arguments: str) -> Child:
        """A process that runs the job."""
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        orders.write(json.dumps([str(self._errors), *arguments]) + "\n")
        orders.flush()
        return Child(int(answers.readline()), answers, self._errors)


@contextmanager
def open_nursery(folder: Path) -> Iterator[Nursery]:
    """A nursery, whose processes write their errors into this folder."""
    command = [sys.executable, "-m", "tests.faults.nursery"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            yield Nursery(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()  # it ends with its input


async def _load_what_is_loaded_late() -> None:
    import psycopg  # noqa: F401
    import stamina  # noqa: F401

    import afterword.sandbox.namespaced  # noqa: F401
    from afterword.journal import RunSpec, open_journal
    from afterword.models import ModelOptions, open_model

    async with open_model("openai:m", options=ModelOptions(base_url="http://127.0.0.1:1")) as model:
        assert model.price is None
    async with open_journal(":memory:") as journal:
        await journal.start(RunSpec())


def _serve() -> None:
    import anyio

    from tests.faults import job

    anyio.run(_load_what_is_loaded_late)
    for line in sys.stdin:
        errors, *arguments = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(errors, partial(anyio.run, job.main, *arguments))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(errors: str, work: partial[None]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(os.open(errors, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()

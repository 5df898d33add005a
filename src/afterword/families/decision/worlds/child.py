"""`ChildWorld`: an environment whose library runs in a process of its own, behind pipes.

Measured on ALFWorld: of six games played in six threads of one process five broke, as its parser and its planner
keep state of their own; a native crash would take the whole run along. A child costs 1.2 s and 75 MB for each open
game and 0.1 ms a step, its game takes 25 to 40 ms of its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from typing import IO

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from afterword.core.protocols import EnvironmentStep
from afterword.errors import MissingExtra, WorldFault

MAX_ANSWER_BYTES = 4_000_000
_LOG_BYTES = 2_000


class ChildWorld:
    """A world in a child process, started at the first reset and again after it broke."""

    def __init__(
        self, module: str, settings: Mapping[str, object], *, name: str, package: str, timeout_s: float = 300.0
    ) -> None:
        """`module` is run with `-m` and speaks as `serving` does; `package` is what it needs of the extra `games`.

        `timeout_s` is for one answer, the first one of a new process included: seconds here, minutes on a busy machine.
        """
        self.name = name
        self._module = module
        self._settings = settings
        self._package = package
        self._timeout_s = timeout_s
        self._child: Process | None = None
        self._answers: BufferedByteReceiveStream | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Of the child; None where there is none."""
        return None if self._child is None else self._child.pid

    async def open(self, settings: Mapping[str, object]) -> None:
        """Makes this the world of other settings, in the same process where there is one.

        Raises:
            WorldFault: the child broke or gave no answer in time.
        """
        self._settings = settings
        if self._child is not None:
            await self._ask({"do": "open", "settings": settings})

    async def reset(self) -> str:
        """The first observation.

        Raises:
            MissingExtra: the library is not installed.
            WorldFault: the child broke or gave no answer in time.
        """
        if self._child is None:
            await self._start()
        return _text(await self._ask({"do": "reset"}), "observation")

    async def step(self, action: str) -> EnvironmentStep:
        """What the world answers.

        Raises:
            WorldFault: the child broke or gave no answer in time.
        """
        answer = await self._ask({"do": "step", "action": action})
        reward = answer["reward"]
        return EnvironmentStep(
            _text(answer, "observation"),
            done=answer["done"] is True,
            won=answer["won"] is True,
            reward=float(reward) if isinstance(reward, int | float) else 0.0,
        )

    async def fingerprint(self) -> str:
        """A hash of the whole state, as far as the library tells it."""
        return _text(await self._ask({"do": "fingerprint"}), "fingerprint")

    async def close(self) -> None:
        """Ends the child; may be called at any time and more than once."""
        child, self._child, self._answers = self._child, None, None
        log, self._log = self._log, None
        if log is not None:
            log.close()
        if child is None:
            return
        with anyio.CancelScope(shield=True):
            _kill(child)
            await child.wait()
            await child.aclose()

    async def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._child = await anyio.open_process(
            [sys.executable, "-m", self._module, str(os.getpid())],
            stderr=self._log,
            start_new_session=True,  # an interrupt of the terminal is the parent's affair
        )
        assert self._child.stdout is not None  # noqa: S101 - anyio opens a pipe unless told otherwise
        self._answers = BufferedByteReceiveStream(self._child.stdout)
        await self._ask(self._settings)

    async def _ask(self, order: Mapping[str, object]) -> Mapping[str, object]:
        child, answers = self._child, self._answers
        if child is None or answers is None or child.stdin is None:
            raise WorldFault(f"{self.name} is not open; reset it first")
        try:
            with anyio.fail_after(self._timeout_s):
                await child.stdin.send(json.dumps(order).encode() + b"\n")
                line = await answers.receive_until(b"\n", MAX_ANSWER_BYTES)
        except TimeoutError:
            await self.close()
            raise WorldFault(f"{self.name} gave no answer within {self._timeout_s:g} s; try again") from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.IncompleteRead):
            said = self._last_words()
            await self.close()
            raise WorldFault(f"the process of {self.name} has ended{said}") from None
        except anyio.DelimiterNotFound:
            await self.close()
            raise WorldFault(f"{self.name} gave an answer of more than {MAX_ANSWER_BYTES:,} bytes") from None
        except anyio.get_cancelled_exc_class():
            await self.close()  # an answer is under way that nobody will read
            raise
        answer: Mapping[str, object] = json.loads(line)
        if "error" in answer:
            await self.close()
            if answer.get("missing"):
                raise MissingExtra("games", self._package)
            raise WorldFault(f"{self.name} broke: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOG_BYTES))
        lines = self._log.read().decode("utf-8", "replace").strip().split("\n")
        return f": {lines[-1][:300]}" if lines[-1] else ""


def _text(answer: Mapping[str, object], key: str) -> str:
    return str(answer[key])


def _kill(child: Process) -> None:
    """Ends the child and whatever it has started, e.g. a Java machine."""
    if child.returncode is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

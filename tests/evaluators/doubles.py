"""A sandbox without a jail: its peer says on the wire what a test tells it to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

from afterword.core.records import Limits, RunResult

Reason = Literal["exited", "memory"]
Answer = Callable[[socket.socket], None]


class ScriptedPeer:
    """The jail's end of the wire is a thread that runs a script."""

    isolation = "namespaces"

    def __init__(self, script: Answer, reason: Reason) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(10)
        self._reason = reason
        self._thread = threading.Thread(target=self._run, args=(script,), daemon=True)
        self._thread.start()

    def _run(self, script: Answer) -> None:
        with self._ours:
            try:
                script(self._ours)
            except OSError:
                return  # the judge has hung up

    def detach(self) -> int:
        return self._theirs.detach()

    def let_go(self) -> bool:
        """The thread ends when the judge hangs up."""
        return True

    async def close(self) -> None:
        self._thread.join(10)

    async def wait(self) -> RunResult:
        return RunResult(0, self._reason, "", "", 0.01, self.isolation)


class ScriptedSandbox:
    """Opens scripted peers."""

    isolation = "namespaces"

    def __init__(self, script: Answer, reason: Reason = "exited") -> None:
        self.script = script
        self._reason = reason

    async def open(self, source: str, limits: Limits) -> ScriptedPeer:
        return ScriptedPeer(self.script, self._reason)

    async def run(
        self, argv: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, collect: Sequence[str] = ()
    ) -> RunResult:
        raise OSError("a scripted sandbox runs no commands")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Nothing to close."""

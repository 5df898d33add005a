"""The record of a verdict inside the runner: each check's result goes out as soon as it is known.

So a runner that hangs or dies later has lost nothing, and what was not reached is known not to have passed.
"""

from __future__ import annotations

import json
import os
from types import TracebackType

from afterword.evaluators.judge.connection import Connection
from afterword.evaluators.judge.display import cut, show_call, show_error
from afterword.evaluators.judge.ends import VerdictEnd
from afterword.evaluators.judge.failures import MAX_MESSAGE, describe_failure
from afterword.evaluators.judge.origins import origin_of

TESTS_FILE = "tests.py"


class Checks:
    """Takes results and sends them on."""

    def __init__(self, descriptor: int, check_ids: tuple[str, ...], lines: tuple[str, ...], connection: Connection):  # noqa: ANN204
        self.wanted = frozenset(check_ids)
        self.connection = connection
        self.current = ""
        self._lines = lines
        self._descriptor = descriptor
        self._known: dict[str, str] = {}

    def record(self, check_id: str, result: str, message: str = "") -> None:
        """`result` is passed, failed, error or memory; a check that failed once stays failed.

        Raises VerdictEnd if one was raised before: whatever the tests made of it.
        """
        VerdictEnd.insist()
        if self._known.get(check_id, "passed") != "passed":
            return
        self._known[check_id] = result
        self.send({"check": check_id, "result": result, "message": cut(message, MAX_MESSAGE)})

    def error(self, check_id: str, error: BaseException) -> None:
        """Records what a check raised."""
        origin = origin_of(error)
        if isinstance(error, AssertionError) and origin is None:
            self.record(check_id, "failed", describe_failure(error, self.connection))
            return
        result = "memory" if isinstance(error, MemoryError) else "error"
        self.record(check_id, result, self._describe(error))

    def end(self, reason: str, message: str) -> None:
        """The verdict ends early, or (`reason` empty) was reached by the checks alone."""
        self.send({"end": reason, "message": cut(message, MAX_MESSAGE), "current": self.current})

    def send(self, message: dict[str, str]) -> None:
        data = memoryview(json.dumps(message).encode("ascii") + b"\n")
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _describe(self, error: BaseException) -> str:
        lines = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == TESTS_FILE and 0 < trace.tb_lineno <= len(self._lines):
                lines = [cut(self._lines[trace.tb_lineno - 1].strip(), 500)]
            trace = trace.tb_next
        calls = self.connection.calls
        if calls and (origin_of(error) is not None or not calls[-1].returned):
            lines.append(f"  {show_call(self.connection, calls[-1])} raised {show_error(error)}")
        else:
            lines.append(f"  {show_error(error)}")
        return "\n".join(lines)

    def guard(self, check_id: str) -> Check:
        """A context that records how its body ends."""
        return Check(self, check_id)


class Check:
    """`with` one check: an exception is recorded and goes no further, unless it ends the verdict."""

    def __init__(self, checks: Checks, check_id: str) -> None:
        self._checks = checks
        self._id = check_id

    def __enter__(self) -> None:
        self._checks.current = self._id
        self._checks.connection.calls.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            self._checks.record(self._id, "passed")
        elif isinstance(error, VerdictEnd):
            return False
        else:
            self._checks.error(self._id, error)
        return True

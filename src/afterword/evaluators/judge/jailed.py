"""Tests that a model wrote, run in a jail of their own: what is not trusted runs neither here nor beside the program.

Two jails never meet. This process stands between them: it hands a test the program's function as one that calls back,
passes each call on, and takes what the test does in the end, return or raise, as its result.
"""

from __future__ import annotations

from collections import deque

from afterword.evaluators.judge.checks import Checks
from afterword.evaluators.judge.connection import Call, CannotCross, Connection
from afterword.evaluators.judge.display import cut, show, show_call, show_error
from afterword.evaluators.judge.ends import DeadlinePassed, JailLost, VerdictEnd
from afterword.evaluators.judge.origins import origin_of
from afterword.evaluators.judge.program import Jailed

_MAX_TEXT = 500
_MAX_SHOWN = 300
_SHOWN_CALLS = 3


def run_jailed(
    tests: tuple[Jailed, ...], program: Connection, candidate: object, jail: Connection, checks: Checks
) -> tuple[str, str]:
    """Runs the wanted tests. Returns why the verdict ended early, or two empty texts."""
    for test in tests:
        if test.check_id not in checks.wanted:
            continue
        checks.current = test.check_id
        program.calls.clear()
        forwarded = _Forwarded(candidate, program)
        try:
            _run_one(test, forwarded, jail, checks)
        except VerdictEnd as end:
            if end is forwarded.raised:
                raise  # the program's own end: lost, tampered, out of time
            return "error", f"the test {test.check_id} could not be brought to its end ({end_of_tests(end)})"
    return "", ""


class _Forwarded:
    """The program's function as a test may call it; it remembers the last calls and what the last one raised."""

    def __init__(self, target: object, program: Connection) -> None:
        self.raised: BaseException | None = None
        self._calls: deque[tuple[Call, object]] = deque(maxlen=_SHOWN_CALLS)
        self._target = target
        self._program = program
        self.__name__ = str(getattr(target, "__name__", "the program's function"))

    def __call__(self, *args: object, **kwargs: object) -> object:
        try:
            if not callable(self._target):
                raise TypeError(f"{show(self._target, _MAX_SHOWN)} is not callable")
            result: object = self._target(*args, **kwargs)
        except VerdictEnd as end:
            self.raised = end
            raise
        except BaseException as error:
            self.raised = error
            self._remember(error)
            raise
        self._remember(result)
        return result

    def _remember(self, result: object) -> None:
        if self._program.calls:
            self._calls.append((self._program.calls[-1], result))

    def shown(self) -> list[str]:
        """The last calls with what they returned or raised."""
        return [f"  {show_call(self._program, call)} {_ended(call, result)}" for call, result in self._calls]


def _ended(call: Call, result: object) -> str:
    if call.raised and isinstance(result, BaseException):
        return f"raised {show_error(result)}"
    return f"returned {show(result, _MAX_SHOWN)}"


def _run_one(test: Jailed, forwarded: _Forwarded, jail: Connection, checks: Checks) -> None:
    tail: list[str] = []
    try:
        parts = jail.request("call", test.name, [jail.encode(forwarded)], [])
        if jail.result(parts, [forwarded]) is None:
            checks.record(test.check_id, "passed")
            return
        result, tail = "error", ["  the test did not end as a test does"]
    except VerdictEnd:
        raise
    except BaseException as error:  # noqa: BLE001  becomes the result of the check
        if error is forwarded.raised:
            result = "memory" if isinstance(error, MemoryError) else "error"
            tail = [] if forwarded.shown() else [f"  {show_error(error)}"]
        elif type(error) is AssertionError:
            result = "failed"
        else:
            result, tail = "error", [f"  {_test_error(error)}"]
    checks.record(test.check_id, result, "\n".join([cut(test.text, _MAX_TEXT), *forwarded.shown(), *tail]))


def _test_error(error: BaseException) -> str:
    if isinstance(error, CannotCross):
        return show_error(error)
    origin = origin_of(error)
    text = origin.text if origin is not None else str(error)
    return cut(f"the test raised {type(error).__name__}: {text}", _MAX_TEXT)


def end_of_tests(end: VerdictEnd) -> str:
    """How the tests' own jail ended, where nothing that the program did ended it."""
    if isinstance(end, JailLost):
        return "its process ended"
    if isinstance(end, DeadlinePassed):
        return "the time is up"
    return cut(str(end) or type(end).__name__, _MAX_TEXT)

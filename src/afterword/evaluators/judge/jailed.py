"""Tests that a model wrote, run in a jail of their own: what is not trusted runs neither here nor beside the program.

Two jails never meet. This process stands between them: it hands a test the program's function as one that calls back,
passes each call on, and takes what the test does in the end, return or raise, as its result.
"""

from __future__ import annotations

from afterword.evaluators.judge.checks import Checks
from afterword.evaluators.judge.connection import CannotCross, Connection
from afterword.evaluators.judge.display import cut, show, show_call, show_error, show_result
from afterword.evaluators.judge.ends import DeadlinePassed, JailLost, VerdictEnd
from afterword.evaluators.judge.program import Jailed
from afterword.evaluators.judge.remotes import origin_of

_MAX_TEXT = 500


def run_jailed(
    tests: tuple[Jailed, ...], program: Connection, candidate: object, jail: Connection, checks: Checks
) -> tuple[str, str]:
    """Runs the wanted tests. Returns why the verdict ended early, or two empty texts."""
    forwarded = _Forwarded(candidate)
    for test in tests:
        if test.check_id not in checks.wanted:
            continue
        checks.current = test.check_id
        program.calls.clear()
        forwarded.raised = None
        try:
            _run_one(test, program, forwarded, jail, checks)
        except VerdictEnd as end:
            if end is forwarded.raised:
                raise  # the program's own end: lost, tampered, out of time
            return "error", f"the test {test.check_id} could not be brought to its end ({_end_of_test(end)})"
    return "", ""


class _Forwarded:
    """The program's function as a test may call it; it remembers what the last call raised."""

    def __init__(self, target: object) -> None:
        self._target = target
        self.raised: BaseException | None = None

    def __call__(self, *args: object, **kwargs: object) -> object:
        try:
            if not callable(self._target):
                raise TypeError(f"{show(self._target, _MAX_TEXT)} is not callable")
            result: object = self._target(*args, **kwargs)
            return result
        except BaseException as error:
            self.raised = error
            raise


def _run_one(test: Jailed, program: Connection, forwarded: _Forwarded, jail: Connection, checks: Checks) -> None:
    try:
        parts = jail.request("call", test.name, [jail.encode(forwarded)], [])
        value = jail.result(parts, [forwarded])
    except VerdictEnd:
        raise
    except BaseException as error:  # noqa: BLE001  becomes the result of the check
        by_program = error is forwarded.raised
        failed = type(error) is AssertionError and not by_program
        tail = [] if failed else [f"  {show_error(error) if by_program else _test_error(error)}"]
        result = "failed" if failed else "memory" if by_program and isinstance(error, MemoryError) else "error"
        checks.record(test.check_id, result, _message(test, program, tail))
        return
    if value is None:
        checks.record(test.check_id, "passed")
    else:
        checks.record(test.check_id, "error", _message(test, program, ["  the test did not end as a test does"]))


def _message(test: Jailed, program: Connection, tail: list[str]) -> str:
    """The assertion, the last calls on the program with what they gave, and what else is known."""
    lines = [cut(test.text, _MAX_TEXT)]
    for call in program.calls:
        result = show_result(program, call)
        ended = f"returned {result}" if result is not None else f"raised {call.raised or 'an error'}"
        lines.append(f"  {show_call(program, call)} {ended}")
    return "\n".join(lines + tail)


def _test_error(error: BaseException) -> str:
    if isinstance(error, CannotCross):
        return show_error(error)
    origin = origin_of(error)
    text = origin.text if origin is not None else str(error)
    return cut(f"the test raised {type(error).__name__}: {text}", _MAX_TEXT)


def _end_of_test(end: VerdictEnd) -> str:
    if isinstance(end, JailLost):
        return "its process ended"
    if isinstance(end, DeadlinePassed):
        return "the time is up"
    return cut(str(end) or type(end).__name__, _MAX_TEXT)

"""What the rewritten asserts raise, and how a failure reads.

It shows the assertion, the last call with its arguments, and both values.
"""

from __future__ import annotations

from afterword.evaluators.judge.connection import Connection
from afterword.evaluators.judge.display import cut, difference, show, show_call, show_result

MAX_MESSAGE = 2_000
MAX_SHOWN = 300  # of each value: a message has to show several, and where they differ


class Unset:
    """Stands for a part of a chained comparison that was not reached."""

    def __repr__(self) -> str:
        return "(not reached)"


UNSET = Unset()


class CheckFailed(AssertionError):
    """A rewritten assert that did not hold, with the values it saw."""

    def __init__(self, text: str, names: tuple[str, ...], values: tuple[object, ...], message: object) -> None:
        self.text = text
        self.names = names
        self.values = values
        self.message = message
        super().__init__(message if message is not None else text)


def describe_failure(error: AssertionError, connection: Connection) -> str:
    """The message of a failed assertion."""
    lines = []
    if isinstance(error, CheckFailed):
        lines.append(cut(error.text, 500))
        if error.message is not None:
            lines.append(cut(str(error.message), 500))
        called = _last_call(connection)
        lines += called
        for name, value in zip(error.names, error.values, strict=True):
            text = show(value, MAX_SHOWN)
            if not isinstance(value, Unset) and not (called and called[0].endswith(f" returned {text}")):
                lines.append(f"  {name}: {text}")
        if error.names == ("left", "right") and (found := difference(*error.values)) is not None:
            lines.append(f"  {found}")
    else:
        lines.append(cut(str(error) or type(error).__name__, 500))
        lines += _last_call(connection)
    return cut("\n".join(lines), MAX_MESSAGE)


def _last_call(connection: Connection) -> list[str]:
    if not connection.calls:
        return []
    call = connection.calls[-1]
    result = show_result(connection, call)
    said = show_call(connection, call)
    if result is not None:
        return [f"  {said} returned {result}"]
    return [f"  {said} raised {call.raised}" if call.raised else f"  {said} did not return"]

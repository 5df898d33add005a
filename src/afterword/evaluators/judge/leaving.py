"""How a `with` block over an object of the program ends: what its exit may swallow, and what it is told.

Apart from the other operators, since an exit that answers true would take a failed assertion for its own and let
every check pass.
"""

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Coroutine
from types import CodeType, TracebackType

from afterword.evaluators.judge.ends import VerdictEnd
from afterword.evaluators.judge.origins import origin_of
from afterword.evaluators.judge.remote import RemoteObject

_RAISE = dis.opmap["RAISE_VARARGS"]
_BUILTINS = frozenset(dir(builtins))


class Leaving:
    """The exits of remote context managers, with the lines of the tests at hand."""

    def __init__(self, tests_file: str = "", lines: tuple[str, ...] = ()) -> None:
        self._file = tests_file
        self._lines = lines

    def leave(self, manager: RemoteObject, error: BaseException | None) -> bool:
        """Tells the program that the block has ended; whether the error goes no further."""
        if isinstance(error, VerdictEnd):
            return False
        may_swallow = error is not None and self.may_swallow(error)
        answer = manager._aw_remotes.connection.special("__exit__", (manager, _told(error, may_swallow)))
        return may_swallow and bool(answer)

    async def leave_async(self, manager: RemoteObject, error: BaseException | None) -> bool:
        """The same for `async with`."""
        if isinstance(error, VerdictEnd):
            return False
        may_swallow = error is not None and self.may_swallow(error)
        answer = manager._aw_remotes.connection.special("__aexit__", (manager, _told(error, may_swallow)))
        if isinstance(answer, Coroutine):
            answer = await answer
        return may_swallow and bool(answer)

    def may_swallow(self, error: BaseException) -> bool:
        """Only an error that the test made on purpose, with no value of the program in it.

        Any other may be a check that does not hold: an assertion, or the TypeError of a value of another kind.
        """
        if isinstance(error, AssertionError) or origin_of(error) is not None or error.__traceback__ is None:
            return False
        trace: TracebackType = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        code = trace.tb_frame.f_code
        if code.co_filename != self._file:
            return False
        if code.co_code[trace.tb_lasti] == _RAISE:
            return True
        return self._names(code, trace.tb_lasti) <= _BUILTINS

    def _names(self, code: CodeType, at: int) -> set[str]:
        """The names in the expression that failed; one that no program knows if it cannot be read."""
        line, end_line, column, end_column = list(code.co_positions())[at // 2]
        if line is None or line != end_line or column is None or not 0 < line <= len(self._lines):
            return {""}
        text = self._lines[line - 1].encode()[column:end_column].decode(errors="replace")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return {""}
        return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _told(error: BaseException | None, may_swallow: bool) -> BaseException | None:
    """A failed assertion holds what the tests expect, and so does the text of other errors."""
    if error is None or may_swallow or origin_of(error) is not None:
        return error
    kind: type[BaseException] = next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")
    return BaseException.__new__(kind)


__all__ = ["Leaving"]

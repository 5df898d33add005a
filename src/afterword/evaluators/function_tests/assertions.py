"""Rewrites asserts so that a failure shows the values it saw, and puts guards around checks.

`assert a == b` keeps its meaning and its order of evaluation; its parts are bound to names on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from afterword.evaluators.function_tests.source import text_of

_PREFIX = "__aw_value_"
_MAX_TEXT = 2_000
_MAX_SHOWN_ARGUMENTS = 4
_Bind = Callable[[ast.expr, str], ast.expr]  # to a fresh variable, under the name that a message shows


class AssertRewriter:
    """Rewrites every assert of a test file."""

    def __init__(self, source: list[str]) -> None:
        self._source = source
        self._count = 0

    def rewrite(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements with all asserts in them, at any depth, rewritten."""
        found: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Assert):
                text = f"assert {text_of(self._source, node.test, _MAX_TEXT)}"
                for part in _conjuncts(node):
                    found += self._rewritten(part, text, node.msg, node)
                continue
            for inner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                for name in ("body", "orelse", "finalbody"):
                    if getattr(inner, name, None):
                        setattr(inner, name, self.rewrite(getattr(inner, name)))
            found.append(node)
        return found

    def _rewritten(self, test: ast.expr, text: str, message: ast.expr | None, at: ast.stmt) -> list[ast.stmt]:
        names: list[str] = []
        bound: list[str] = []

        def bind(value: ast.expr, name: str) -> ast.expr:
            variable = f"{_PREFIX}{self._count}"
            self._count += 1
            names.append(name)
            bound.append(variable)
            return ast.NamedExpr(ast.Name(variable, ast.Store()), value)

        shown = _bind_parts(test, bind)
        failure = ast.Call(
            ast.Name("__aw_failed__", ast.Load()),
            [
                ast.Constant(text),
                ast.Tuple([ast.Constant(name) for name in names], ast.Load()),
                ast.Tuple([ast.Name(variable, ast.Load()) for variable in bound], ast.Load()),
                message if message is not None else ast.Constant(None),
            ],
            [],
        )
        made: list[ast.stmt] = []
        if isinstance(test, ast.Compare) and len(test.ops) > 1:  # later parts may not be reached
            unset = ast.Name("__aw_unset__", ast.Load())
            made += [ast.Assign([ast.Name(variable, ast.Store())], unset) for variable in bound[2:]]
        made.append(ast.If(ast.UnaryOp(ast.Not(), shown), [ast.Raise(failure)], []))
        return [_placed(statement, at) for statement in made]


def _conjuncts(node: ast.Assert) -> list[ast.expr]:
    """`assert a and b` asserts a, then b."""
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
        return list(node.test.values)
    return [node.test]


def _bind_parts(test: ast.expr, bind: _Bind) -> ast.expr:
    if isinstance(test, ast.Compare):
        count = len(test.comparators)
        names = ["left", "right"] if count == 1 else [f"part {number}" for number in range(1, count + 2)]
        left = bind(test.left, names[0])
        others = [bind(value, name) for value, name in zip(test.comparators, names[1:], strict=True)]
        return ast.Compare(left, test.ops, others)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.UnaryOp(ast.Not(), bind(test.operand, "value"))
    if isinstance(test, ast.Call) and 0 < len(test.args) <= _MAX_SHOWN_ARGUMENTS and not _has_star(test):
        arguments = [bind(value, f"argument {number}") for number, value in enumerate(test.args, start=1)]
        return bind(ast.Call(test.func, arguments, test.keywords), "value")
    return bind(test, "value")


def _has_star(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in call.args)


def guarded(statement: ast.stmt, check_id: str) -> ast.stmt:
    """`if wanted(id): with check(id): statement`."""
    call = ast.Call(ast.Name("__aw_check__", ast.Load()), [ast.Constant(check_id)], [])
    body = ast.With([ast.withitem(call)], [statement])
    wanted = ast.Call(ast.Name("__aw_wanted__", ast.Load()), [ast.Constant(check_id)], [])
    return _placed(ast.If(wanted, [body], []), statement)


def _placed(made: ast.stmt, at: ast.stmt) -> ast.stmt:
    ast.copy_location(made, at)
    return ast.fix_missing_locations(made)

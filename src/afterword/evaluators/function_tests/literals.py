"""Asserts that compare a call on literals, read as labelled rows: quicker to judge, and no test code runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

from afterword.evaluators.function_tests.source import text_of
from afterword.evaluators.judge.program import How, Row

_MAX_TEXT = 2_000
_OPERATORS: dict[type[ast.operator], Callable[[complex, complex], complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


class NotLiteral(Exception):
    """An expression whose value is not plain to see."""


def literal(node: ast.expr) -> object:
    """The value of a literal, with arithmetic on numbers and empty sets.

    Raises:
        NotLiteral: it is anything else.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        items = [literal(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items) if isinstance(node, ast.Tuple) else _set(items)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [literal(key) for key in node.keys if key is not None]
        return _dict(keys, [literal(value) for value in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        number = _number(node.operand)
        return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.BinOp):
        return _arithmetic(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node.func.id, [literal(argument) for argument in node.args])
    raise NotLiteral


def _set(items: list[object]) -> set[object]:
    try:
        return set(items)
    except TypeError:
        raise NotLiteral from None


def _dict(keys: list[object], values: list[object]) -> dict[object, object]:
    try:
        return dict(zip(keys, values, strict=True))
    except TypeError:
        raise NotLiteral from None


def _number(node: ast.expr) -> complex:
    value = literal(node)
    if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
        raise NotLiteral
    return value


def _arithmetic(node: ast.BinOp) -> complex:
    left, right = _number(node.left), _number(node.right)
    function = _OPERATORS.get(type(node.op))
    if function is None or max(abs(left), abs(right)) > 1e30 or (function is operator.pow and abs(right) > 100):
        raise NotLiteral
    try:
        return function(left, right)
    except (ArithmeticError, TypeError):
        raise NotLiteral from None


def _call(name: str, arguments: list[object]) -> object:
    if name in ("set", "frozenset") and len(arguments) <= 1:
        items = arguments[0] if arguments else ()
        if not isinstance(items, (list, tuple, set, str)):
            raise NotLiteral
        made = _set(list(items))
        return made if name == "set" else frozenset(made)
    if name == "float" and len(arguments) == 1 and isinstance(arguments[0], str):
        try:
            return float(arguments[0])
        except ValueError:
            raise NotLiteral from None
    raise NotLiteral


@dataclass(frozen=True, slots=True)
class _Comparison:
    call: ast.Call
    how: How
    expected: object = None
    tolerance: float = 0.0


def row_of(node: ast.Assert, check_id: str, names: dict[str, str], lines: list[str]) -> Row:
    """The row that says the same as an assert; its message is left out, since a failed row shows the values.

    `names` maps what the tests call a function of the program to its own name.

    Raises:
        NotLiteral: the assert is of another form.
    """
    if isinstance(node.test, ast.Constant) and node.test.value is True:  # HumanEval has some
        return Row(check_id, "assert True", "", (), {}, "nothing")
    found = _comparison(node.test)
    call = found.call
    if not isinstance(call.func, ast.Name) or call.func.id not in names:
        raise NotLiteral
    if any(keyword.arg is None for keyword in call.keywords):
        raise NotLiteral
    return Row(
        check_id,
        f"assert {text_of(lines, node.test, _MAX_TEXT)}",
        names[call.func.id],
        tuple(literal(argument) for argument in call.args),
        {str(keyword.arg): literal(keyword.value) for keyword in call.keywords},
        found.how,
        found.expected,
        found.tolerance,
    )


def _comparison(test: ast.expr) -> _Comparison:
    if isinstance(test, ast.Call):
        return _Comparison(test, "true")
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call):
        return _Comparison(test.operand, "false")
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise NotLiteral
    left, kind, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(kind, ast.Lt):
        return _close(left, right)
    if isinstance(kind, ast.Eq) and isinstance(left, ast.Call) and not _is_literal(left):
        return _Comparison(left, "equal", literal(right))
    if isinstance(kind, ast.Eq) and isinstance(right, ast.Call):
        return _Comparison(right, "equal", literal(left))
    singleton = isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))
    if isinstance(kind, ast.Is) and isinstance(left, ast.Call) and singleton:
        return _Comparison(left, "is", literal(right))
    raise NotLiteral


def _close(left: ast.expr, right: ast.expr) -> _Comparison:
    """`abs(f(x) - 0.5) < 1e-6`."""
    if not (isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "abs"):
        raise NotLiteral
    if len(left.args) != 1 or left.keywords or not isinstance(left.args[0], ast.BinOp):
        raise NotLiteral
    inner, tolerance = left.args[0], _number(right)
    if not isinstance(inner.op, ast.Sub) or not isinstance(tolerance, (int, float)):
        raise NotLiteral
    call, expected = (inner.left, inner.right) if isinstance(inner.left, ast.Call) else (inner.right, inner.left)
    if not isinstance(call, ast.Call):
        raise NotLiteral
    return _Comparison(call, "close", _number(expected), float(tolerance))


def _is_literal(node: ast.expr) -> bool:
    try:
        literal(node)
    except NotLiteral:
        return False
    return True

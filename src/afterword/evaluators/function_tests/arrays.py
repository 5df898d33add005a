"""Rewrites comparisons in tests with numpy, so that a result without items is not equal and close to everything.

Apart from the rewriting of asserts, which shows values and changes no meaning: here `empty == 5`, which numpy
broadcasts to no items at all and whose `all()` is true, becomes a failed assertion.
"""

from __future__ import annotations

import ast

from afterword.evaluators.function_tests.source import walk
from afterword.evaluators.judge.program import LEFT_MAY_BE_EMPTY, RIGHT_MAY_BE_EMPTY

_COMPARING = frozenset(
    "allclose isclose array_equiv equal not_equal subtract assert_allclose assert_array_equal assert_equal "  # noqa: SIM905
    "assert_array_almost_equal assert_almost_equal".split()
)
"""Functions of numpy that compare their first two arguments."""
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Sub: "-",
}  # fmt: skip


def concerns_arrays(tree: ast.AST, imports: tuple[str, ...]) -> bool:
    """Whether arrays may be compared in these tests; all others are left as they are."""
    return "numpy" in imports or any(
        isinstance(node, ast.Attribute) and node.attr in ("all", "any") for node in walk(tree)
    )


class ArrayComparisons(ast.NodeTransformer):
    """Hands both sides of each comparison and difference to the runner."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sign = _OPERATORS.get(type(node.ops[0]))
        if len(node.ops) != 1 or sign is None:
            return node
        return _compared(node, sign, node.left, node.comparators[0])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        sign = _OPERATORS.get(type(node.op))
        return node if sign is None else _compared(node, sign, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _COMPARING:
            return node
        return _placed(ast.Call(_name("__aw_call__"), [node.func, *node.args], node.keywords), node)


def _compared(node: ast.expr, sign: str, left: ast.expr, right: ast.expr) -> ast.expr:
    allowed = LEFT_MAY_BE_EMPTY * _is_selection(left) + RIGHT_MAY_BE_EMPTY * _is_selection(right)
    arguments = [ast.Constant(sign), ast.Constant(allowed), left, right]
    return _placed(ast.Call(_name("__aw_compare__"), arguments, []), node)


def _is_selection(node: ast.expr) -> bool:
    """`result[labels == 2]` may well have no items; `result` and `result[0]` are what the program made."""
    inner = node.value if isinstance(node, ast.NamedExpr) else node
    return isinstance(inner, ast.Subscript) and not isinstance(inner.slice, ast.Constant)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _placed(made: ast.expr, at: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(made, at))

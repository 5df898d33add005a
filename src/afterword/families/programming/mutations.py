"""The small changes that a mutant can be made of: where each applies in a syntax tree, and how it reads.

A change puts one node in the place of another, so making and undoing it is the same for all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_TEXT = 60
_MAX_OPERATORS = 8  # of one chain of comparisons
_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_WRAPPERS = frozenset({"abs", "sorted", "set", "reversed", "round", "int", "list"})
_CLEANERS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "copy", "title", "capitalize"})
_COMMUTATIVE = frozenset({"min", "max", "gcd", "lcm", "hypot", "isinstance", "issubclass", "print"})
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TEXT = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node hangs in the tree."""

    holder: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def put(self, node: ast.AST) -> None:
        """Hangs another node here."""
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


@dataclass(frozen=True, slots=True)
class Change:
    """One replacement."""

    kind: str
    place: Place
    new: ast.AST
    line: int

    @property
    def description(self) -> str:
        """The change as a person reads it."""
        old = self.place.node
        if isinstance(self.new, ast.Pass):
            return f"the guard `if {_text(old.test)}` removed" if isinstance(old, ast.If) else f"`{_text(old)}` removed"
        if isinstance(old, ast.Constant) and isinstance(self.place.holder, (ast.expr, ast.AugAssign)):
            before, after = self._around(old), self._around(self.new)
            if before != after:  # else the difference was cut off
                return f"`{before}` → `{after}`"
        return f"`{_text(old)}` → `{_text(self.new)}`"

    def _around(self, node: ast.AST) -> str:
        """The text of what holds the place, with this node in it."""
        self.place.put(node)
        try:
            return _text(self.place.holder)
        finally:
            self.place.put(self.place.node)


def changes_of(tree: ast.Module) -> Iterator[Change]:
    """All changes that a program offers, in no particular order."""
    for place in _places(tree):
        node = place.node
        if isinstance(node, ast.expr):
            yield from (Change(kind, place, new, node.lineno) for kind, new in _expressions(node, place))
        elif isinstance(node, ast.stmt):
            yield from (Change(kind, place, new, node.lineno) for kind, new in _statements(node))


def _places(tree: ast.Module) -> Iterator[Place]:
    """Every statement and expression that may be changed, with where it hangs."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        holder = waiting.pop()
        for field, value in ast.iter_fields(holder):
            if _is_left_alone(holder, field):
                continue
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(node, ast.AST) and not _is_unnoticed(node):
                    waiting.append(node)
                    yield Place(holder, field, index if isinstance(value, list) else None, node)


def _is_left_alone(holder: ast.AST, field: str) -> bool:
    """Parts of a program that say nothing of what it computes."""
    if field in ("annotation", "returns", "decorator_list", "type_params", "format_spec", "bases"):
        return True
    if isinstance(holder, ast.JoinedStr):  # the pieces of text between the values
        return False
    return (isinstance(holder, (ast.Raise, ast.ExceptHandler)) and field in ("exc", "cause", "type")) or (
        isinstance(holder, ast.Assert) and field == "msg"
    )


def _is_unnoticed(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)):
        return True
    if isinstance(node, ast.Expr):  # docstrings; what is printed is not visible to tests
        value = node.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and _name(value.func) == "print")
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def _statements(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    if _is_dropped(node):
        yield "statement", ast.Pass()
    if isinstance(node, ast.AugAssign):
        if (other := _other_operator(node.op, node.target, node.value)) is not None:
            yield "arithmetic", ast.AugAssign(node.target, other, node.value)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_nothing(node.value):
        yield "return", ast.Return(None)
    elif isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _EXITS):
        yield "guard", ast.Pass()


def _is_dropped(node: ast.stmt) -> bool:
    """Whether a program without this statement still runs to where the difference could show."""
    if isinstance(node, ast.Assign):  # of a name: its first use would only raise NameError
        return all(isinstance(target, (ast.Subscript, ast.Attribute)) for target in node.targets)
    if isinstance(node, ast.Expr):  # a function that no longer yields is another kind of function
        return not isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Await))
    return isinstance(node, (ast.AugAssign, ast.Continue, ast.Break))


def _expressions(node: ast.expr, place: Place) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Compare):
        yield from _comparisons(node)
    elif isinstance(node, ast.BinOp):
        if (other := _other_operator(node.op, node.left, node.right)) is not None:
            yield "arithmetic", ast.BinOp(node.left, other, node.right)
    elif isinstance(node, ast.BoolOp):
        yield "logic", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, (ast.Not, ast.USub)):
            yield "unary", node.operand
    elif isinstance(node, ast.Constant):
        yield from (("constant", new) for new in _constants(node, place))
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    if place.field == "test" and not isinstance(node, (ast.Compare, ast.Constant, ast.UnaryOp)):
        yield "condition", ast.UnaryOp(ast.Not(), node)
    if isinstance(place.holder, ast.comprehension) and place.field == "ifs":
        yield "condition", ast.Constant(True)
    if isinstance(place.holder, ast.Slice) and not isinstance(node, (ast.Constant, ast.UnaryOp)):
        yield "bound", ast.BinOp(node, ast.Add(), ast.Constant(1))


def _comparisons(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for kind, table in (("boundary", _BOUNDARY), ("comparison", _OPPOSITE)):
        for at, operator in enumerate(node.ops[:_MAX_OPERATORS]):
            if (other := table.get(type(operator))) is not None:
                yield kind, ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)


def _other_operator(operator: ast.operator, left: ast.expr, right: ast.expr) -> ast.operator | None:
    """The operator to put instead; none where it could only raise TypeError, which says nothing about a test."""
    other = _ARITHMETIC.get(type(operator))
    if other is None or any(_is_text(side) for side in (left, right)):
        return None
    return other()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, _TEXT) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _constants(node: ast.Constant, place: Place) -> Iterator[ast.expr]:
    value = node.value
    if isinstance(place.holder, (ast.JoinedStr, ast.MatchValue)) or place.field == "test":
        return  # `while True` without end is no test's matter
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1) if value > 0 else ast.UnaryOp(ast.USub(), ast.Constant(1 - value))
    elif isinstance(value, float):
        yield ast.Constant(value + 1.0)
    elif isinstance(value, str):
        yield ast.Constant("" if value else "x")


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = _name(node.func)
    plain = not any(isinstance(one, ast.Starred) for one in node.args)
    if isinstance(node.func, ast.Name) and name in _TWINS:
        yield "call", ast.Call(ast.Name(_TWINS[name], ast.Load()), node.args, node.keywords)
    if isinstance(node.func, ast.Name) and name in _WRAPPERS and len(node.args) == 1 and plain:
        yield "call", node.args[0]
    if isinstance(node.func, ast.Attribute) and name in _CLEANERS and not node.args:
        yield "call", node.func.value
    if name == "range" and plain:
        yield from (("bound", new) for new in _ranges(node))
    elif len(node.args) >= 2 and plain and name not in _COMMUTATIVE:
        first, second, *rest = node.args
        yield "arguments", ast.Call(node.func, [second, first, *rest], node.keywords)


def _ranges(node: ast.Call) -> Iterator[ast.expr]:
    """Ends of a range moved by one; a constant end is changed as a constant."""
    for at, end in enumerate(node.args[:2]):
        if isinstance(end, ast.Constant):
            continue
        for operator in (ast.Add(), ast.Sub()):
            moved = ast.BinOp(end, operator, ast.Constant(1))
            yield ast.Call(node.func, [*node.args[:at], moved, *node.args[at + 1 :]], node.keywords)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_nothing(node: ast.expr) -> bool:
    """None, or False, which hardly any test tells from None."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _text(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"

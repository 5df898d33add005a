"""What a suite expects, as far as its source shows: its answers to plain calls, its values, its exceptions.

This is what a program could pass with that computes nothing, so it is what the trivial programs are made of.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from afterword.evaluators.function_tests import Suite
from afterword.evaluators.function_tests.literals import NotLiteral, literal, row_of
from afterword.evaluators.function_tests.source import parse, walk
from afterword.evaluators.judge.program import Row

MAX_LITERAL = 2_000
_ANSWERS = {"equal", "is", "case", "close"}
_RAISES = {"raises", "assertRaises", "assertRaisesRegex"}
_EQUAL = {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertAlmostEqual", "assertIs"}


def known_answers(suite: Suite) -> list[Row]:
    """The calls on plain data whose answer the suite gives away: labelled cases and asserts on literals."""
    if suite.program.rows:
        return [row for row in suite.program.rows if row.check_id in suite.check_ids]
    return list(_literal_asserts(suite))


def expected_values(suite: Suite) -> list[str]:
    """The values that the suite expects, as source text, the most frequent first."""
    values = [row.expected for row in known_answers(suite) if row.how in _ANSWERS]
    if not suite.program.rows:
        values = list(_compared(suite))
    texts = (as_source(value) for value in values)
    return [text for text, _ in Counter(text for text in texts if text is not None).most_common()]


def expected_errors(suite: Suite) -> list[str]:
    """The names of the exceptions that it expects, the most frequent first."""
    if suite.program.rows:
        names = [str(row.expected) for row in known_answers(suite) if row.how == "raises"]
    else:
        names = [name for node in _nodes(suite) if (name := _raised(node))]
    return [name for name, _ in Counter(names).most_common() if name.isidentifier()]


def as_source(value: object) -> str | None:
    """The value as Python text that gives it back; None where there is none."""
    text = repr(value)
    if len(text) > MAX_LITERAL:
        return None
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return text if same is True else None


def _nodes(suite: Suite) -> Iterator[ast.AST]:
    return walk(parse(suite.text, suite.file))


def _literal_asserts(suite: Suite) -> Iterator[Row]:
    names = {suite.entry_point: suite.entry_point}
    lines = suite.text.split("\n")
    for node in _nodes(suite):
        if isinstance(node, ast.FunctionDef) and node.name == "check" and len(node.args.args) == 1:
            names[node.args.args[0].arg] = suite.entry_point  # HumanEval calls the function by its parameter
    for node in _nodes(suite):
        try:
            if isinstance(node, ast.Assert):
                yield row_of(node, "", names, lines)
            elif isinstance(node, ast.With) and (name := _raised(node)):
                yield from _raising(node, name, names)
        except NotLiteral:
            continue


def _raising(node: ast.With, error: str, names: dict[str, str]) -> Iterator[Row]:
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
            args = tuple(literal(argument) for argument in call.args)
            kwargs = {str(keyword.arg): literal(keyword.value) for keyword in call.keywords if keyword.arg}
            yield Row("", "", names[call.func.id], args, kwargs, "raises", error)


def _compared(suite: Suite) -> Iterator[object]:
    """Literals that something is asserted to equal."""
    for node in _nodes(suite):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.Is)):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EQUAL:
            sides = node.args[:2]
        for side in sides:
            try:
                yield literal(side)
            except NotLiteral:
                continue


def _raised(node: ast.AST) -> str | None:
    """The exception of `with raises(ValueError):` and of `self.assertRaises(ValueError, …)`."""
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [node]
    for call in calls:
        if isinstance(call, ast.Call) and call.args:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in _RAISES:
                error = call.args[0]
                return error.attr if isinstance(error, ast.Attribute) else getattr(error, "id", None)
    return None

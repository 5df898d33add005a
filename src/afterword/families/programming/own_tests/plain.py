"""Whether a line of a model is a plain assert on the entry point; nothing else becomes a test.

The text is hostile until proved otherwise. Its length and nesting are bounded before CPython's parser sees it, which
crafted input can send into deep recursion, and what it holds is checked against what a plain assert needs.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from afterword.evaluators.function_tests.source import text_of
from afterword.families.programming.python_text import blank_strings, find_outside_strings

MAX_CHARS = 1_000
"""A longer assertion is no plain one."""
MAX_NESTING = 20
"""Nor one with brackets nested deeper."""
MAX_DEPTH = 60
"""Nor one whose syntax tree is deeper."""
_MAX_DESCRIPTION = 200
_PREFIX_RUN = re.compile(r"(?:(?:not|lambda|await)\b[ \t:]*|[-+~*][ \t]*){20}")
_FORMATTED = re.compile(r"(?<!\w)(?:[rR]?[fFtT]|[fFtT][rR])(?=[\"'])")
_MODULES = frozenset({"math"})
_BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float frozenset
    getattr hasattr hash hex int isinstance issubclass iter len list map max min next oct ord pow range repr reversed
    round set slice sorted str sum tuple type zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplemented
    OverflowError RuntimeError StopIteration TypeError ValueError ZeroDivisionError Ellipsis
    """.split()  # noqa: SIM905
)
_NOT_PLAIN = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.JoinedStr)


@dataclass(frozen=True, slots=True)
class OwnTest:
    """One assert of a model."""

    text: str
    """The whole statement, e.g. `assert f(2) == 4`, on one line."""
    description: str = ""
    """What the model says about the case; untrusted text."""


def read_test(text: str, entry_point: str, description: str = "") -> OwnTest | None:
    """The test that a text states, without its message and comments; None unless it is a plain assert."""
    node = parse_plain(text, entry_point)
    if node is None:
        return None
    shown = text_of(text.split("\n"), node.test, MAX_CHARS)
    if len(shown.splitlines()) > 1:  # a string holds a character that ends lines
        shown = ast.unparse(node.test)
    said = " ".join(description.split())[:_MAX_DESCRIPTION]
    return OwnTest(f"assert {shown}", said)


def parse_plain(text: str, entry_point: str) -> ast.Assert | None:
    """The syntax tree of a plain assert on the entry point; None if the text is anything else."""
    if not _is_harmless(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # e.g. an invalid escape
            body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        return None
    return body[0] if _is_plain(body[0].test, entry_point) else None


def key_of(test: OwnTest) -> str:
    """Equal for tests that say the same, whatever their layout."""
    return ast.dump(ast.parse(test.text)) if _is_harmless(test.text) else test.text


def _is_harmless(text: str) -> bool:
    """Whether the parser may see it."""
    if len(text) > MAX_CHARS or "\0" in text or _has_surrogate(text):
        return False
    code = blank_strings(text)
    if _PREFIX_RUN.search(code) or find_outside_strings(text, _FORMATTED, 0) is not None:
        return False
    depth = 0
    for character in code:
        if character in "([{":
            depth += 1
            if depth > MAX_NESTING:
                return False
        elif character in ")]}":
            depth -= 1
    return True


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _is_plain(test: ast.expr, entry_point: str) -> bool:
    if isinstance(test, ast.Tuple):  # `assert (a, "message")` holds whatever a is
        return False
    nodes = list(_walk(test))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known = bound | _BUILTINS | _MODULES | {entry_point}
    if entry_point in bound or any(not _is_plain_node(node, known) for node in nodes):
        return False
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point for node in nodes
    )


def _is_plain_node(node: ast.AST, known: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.Attribute):
        return not node.attr.startswith("_")
    return not isinstance(node, _NOT_PLAIN)


def _walk(test: ast.expr) -> Iterator[ast.AST]:
    """All nodes of a tree that is not too deep; none of one that is."""
    found: list[ast.AST] = []
    waiting: list[tuple[ast.AST, int]] = [(test, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return iter(())
        found.append(node)
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return iter(found)

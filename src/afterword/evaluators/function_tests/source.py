"""Reading a test file: parsing with a plain error, its lines, and the text of a part of it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from afterword.core.bounds import cut_end
from afterword.errors import BadTests

_LONG = 64


def parse(text: str, file: Path | None) -> ast.Module:
    """The syntax tree.

    Raises:
        BadTests: the file does not compile.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # e.g. an invalid escape, which is the file's matter
            return ast.parse(text)
    except SyntaxError as error:
        raise BadTests(f"the tests do not compile: {error.msg}; mend this line", file=file, line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadTests(f"the tests do not compile: {error or type(error).__name__}", file=file) from None


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, in no particular order, without the contents of long lists.

    Benchmarks have data of some 100,000 nodes in their tests; nothing that matters here stands inside of it.
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += children(found)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes directly below one; none of a long list's."""
    if len(getattr(node, "elts", ())) > _LONG or len(getattr(node, "keys", ())) > _LONG:
        return iter(())
    return ast.iter_child_nodes(node)


def text_of(lines: list[str], node: ast.expr, limit: int) -> str:
    """The text of an expression as it stands in the file, on one line."""
    first, last = node.lineno, node.end_lineno or node.lineno
    if first == last:
        line = lines[first - 1].encode()
        found = line[node.col_offset : node.end_col_offset].decode(errors="replace")
    else:
        found = ast.unparse(node)
    return cut_end(found, limit)


def bound_names(tree: ast.Module) -> set[str]:
    """Names that the module itself binds at its top level."""
    found: set[str] = set()
    for node in _top_level(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            found |= {name.id for name in walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
            found |= {name.name for name in walk(node) if isinstance(name, ast.ExceptHandler) and name.name}
    return found.union(*(part.names for part in walk(tree) if isinstance(part, ast.Global)))


def _top_level(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that run at module level, with those inside of if, for, with and try."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found += _top_level(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            found += _top_level(handler.body)
    return found

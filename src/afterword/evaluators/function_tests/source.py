"""Reading a test file: parsing with a plain error, its lines, and the text of a part of it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from afterword.errors import BadTests


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


def text_of(lines: list[str], node: ast.expr, limit: int) -> str:
    """The text of an expression as it stands in the file, on one line."""
    first, last = node.lineno, node.end_lineno or node.lineno
    if first == last:
        line = lines[first - 1].encode()
        found = line[node.col_offset : node.end_col_offset].decode(errors="replace")
    else:
        found = ast.unparse(node)
    if len(found) <= limit:
        return found
    return f"{found[:limit]}[… {len(found) - limit:,} characters cut …]"


def bound_names(tree: ast.Module) -> set[str]:
    """Names that the module itself binds at its top level."""
    found: set[str] = set()
    for node in _top_level(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            found |= {
                name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            }
            found |= {name.name for name in ast.walk(node) if isinstance(name, ast.ExceptHandler) and name.name}
    return found.union(*(part.names for part in ast.walk(tree) if isinstance(part, ast.Global)))


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

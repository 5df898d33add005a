"""Names that a test file uses and that are never the program's to give, although the file does not say where from.

Tests copied from elsewhere lean on the program's own `import math`, or take everything by `from solution import *`.
A program that chooses what `isclose` or `len` is in its tests passes them all.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections import defaultdict

from afterword.evaluators.function_tests.source import bound_names, walk

_STANDARD = frozenset(
    "abc array ast asyncio base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal "  # noqa: SIM905
    "enum fractions functools hashlib heapq inspect io itertools json math numbers operator os pickle queue random re "
    "statistics string struct sys textwrap threading time types typing unittest uuid warnings".split()
)
_OTHERS = {"np": "numpy", "numpy": "numpy", "pd": "pandas", "pandas": "pandas", "pytest": "pytest"}


def left_out_imports(tree: ast.Module, free_names: set[str]) -> list[ast.Import]:
    """Imports of the usual modules that the tests use without importing them, to stand before all else.

    A name counts as a module where it is only used for attributes that the module has.
    """
    attributes: dict[str, set[str]] = defaultdict(set)
    uses: dict[str, int] = defaultdict(int)
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes[node.value.id].add(node.attr)
            uses[node.value.id] -= 1
        elif isinstance(node, ast.Name):
            uses[node.id] += 1
    names = sorted(free_names & (_STANDARD | _OTHERS.keys()))
    return [
        ast.fix_missing_locations(ast.Import([ast.alias(_OTHERS.get(name, name), name)]))
        for name in names
        if uses[name] == 0 and _has_all(name, attributes[name])
    ]


def _has_all(name: str, attributes: set[str]) -> bool:
    if name in _OTHERS:
        return True
    module = importlib.import_module(name)
    return all(hasattr(module, attribute) for attribute in attributes)


def closed_to_star(tree: ast.Module, entry_point: str) -> tuple[str, ...]:
    """What `from solution import *` must not bring: built-ins, and what the tests have from somewhere else."""
    taken = [node for node in walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "solution"]
    if not any(alias.name == "*" for node in taken for alias in node.names):
        return ()
    wanted = {alias.asname or alias.name for node in taken for alias in node.names} | {entry_point}
    return tuple(sorted((set(dir(builtins)) | bound_names(tree)) - wanted))

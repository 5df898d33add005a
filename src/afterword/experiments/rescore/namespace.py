"""The interpreter that the items of an old run shared: which names an earlier item had left behind for a later one.

The paper's harness executed every solution in one namespace, so that one item's `sum` or `import math` was there
for all later ones. Only names that a program uses are given to it, each as the last earlier item left it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Left:
    """A name that an item left behind."""

    name: str
    item: int
    task_id: str
    statement: str
    imports: bool
    uses: frozenset[str]


@dataclass(slots=True)
class SharedNamespace:
    """What the items of a run left behind, in their order."""

    _left: dict[str, list[Left]] = field(default_factory=dict)

    @staticmethod
    def of(programs: Sequence[tuple[str, str]]) -> SharedNamespace:
        """The namespace of (task id, program) in the order in which they ran."""
        shared = SharedNamespace()
        for item, (task_id, program) in enumerate(programs):
            for name, node in _bound(program):
                left = Left(name, item, task_id, ast.unparse(node), _imports(node), frozenset(_used(node)))
                shared._left.setdefault(name, []).append(left)
        return shared

    def reaching(self, item: int, program: str) -> list[Left]:
        """What the program of an item would have found, with what that needs in turn, in the order it was left."""
        tree = _parsed(program)
        if tree is None:
            return []
        own = {name for name, _ in _bound(program)}
        return self._closed(item, set(_used(tree)) - own)

    def reaching_by(self, item: int, name: str) -> list[Left]:
        """The part of `reaching` that hangs on one name."""
        return self._closed(item, {name})

    def _closed(self, item: int, wanted: set[str]) -> list[Left]:
        found: dict[str, Left] = {}
        while wanted:
            name = wanted.pop()
            earlier = [left for left in self._left.get(name, ()) if left.item < item]
            if name in found or not earlier:
                continue
            found[name] = earlier[-1]
            wanted |= earlier[-1].uses - set(found)
        # Imports first: a definition needs its own when it is made, whoever imported the same again after it.
        return sorted(found.values(), key=lambda left: (not left.imports, left.item))


def with_left(left: Sequence[Left], program: str) -> str:
    """The program behind what earlier items had left for it."""
    return "\n\n".join([*dict.fromkeys(one.statement for one in left), program])


def _bound(program: str) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a program binds at its top, with the statement that does."""
    tree = _parsed(program)
    for node in [] if tree is None else tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node
            case ast.Import() | ast.ImportFrom() if getattr(node, "module", "") != "__future__":
                for alias in node.names:
                    yield (alias.asname or alias.name).partition(".")[0], node
            case ast.Assign():
                for target in node.targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            yield part.id, node


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _used(tree: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _parsed(program: str) -> ast.Module | None:
    # Read, never run: and read here since these are published logs, not what a model has just written.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

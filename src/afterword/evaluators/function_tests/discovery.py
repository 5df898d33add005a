"""Which checks a test file defines, with their ids, found in the source before anything runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afterword.errors import BadTests
from afterword.evaluators.function_tests.parametrize import Unreadable, parameter_ids
from afterword.evaluators.function_tests.source import children, walk
from afterword.evaluators.judge.program import Item, Kind

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPE = (*_FUNCTION, ast.ClassDef, ast.Lambda)
_CHECKING = (ast.Assert, ast.Expr, ast.For, ast.While, ast.With, ast.If, ast.Try)


@dataclass(slots=True)
class Found:
    """The checks of a file."""

    items: list[Item] = field(default_factory=list)
    guards: dict[int, str] = field(default_factory=dict)
    """Position of a statement in its body -> its check id."""

    @property
    def check_ids(self) -> list[str]:
        return [*self.guards.values(), *(item.check_id for item in self.items)]


def guards_of(body: list[ast.stmt], label: str, asserting: set[str]) -> dict[int, str]:
    """The statements of a body that are checks of their own, with ids `label:L12`."""
    found: dict[int, str] = {}
    lines: Counter[int] = Counter()
    for position, node in enumerate(body):
        if isinstance(node, _CHECKING) and not is_main_block(node) and asserts(node, asserting):
            lines[node.lineno] += 1
            again = f".{lines[node.lineno]}" if lines[node.lineno] > 1 else ""
            found[position] = f"{label}:L{node.lineno}{again}"
    return found


def is_main_block(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which is not run."""
    return isinstance(node, ast.If) and any(
        isinstance(name, ast.Name) and name.id == "__name__" for name in walk(node.test)
    )


def asserts(node: ast.AST, asserting: set[str]) -> bool:
    """Whether running a statement asserts something, directly or through one of the file's functions."""
    for part in _same_scope(node):
        if isinstance(part, ast.Assert):
            return True
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in asserting:
            return True
    return False


def asserting_functions(tree: ast.Module) -> set[str]:
    """The file's own functions that assert, tests excepted: those are run on their own."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("test")]
    found: set[str] = set()
    while True:
        more = {node.name for node in functions if any(asserts(part, found) for part in node.body)} - found
        if not more:
            return found
        found |= more


def _same_scope(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in children(node):
        if not isinstance(child, _SCOPE):
            yield from _same_scope(child)


class Discovery:
    """Walks a test file in order."""

    def __init__(self, tree: ast.Module, file: Path | None) -> None:
        self._tree = tree
        self._file = file
        self._constants = _constants(tree)
        self._functions = {node.name for node in tree.body if isinstance(node, (*_FUNCTION, ast.ClassDef))}
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def find(self) -> Found:
        """All checks, in the order in which they are run."""
        found = Found(guards=guards_of(self._tree.body, "module", asserting_functions(self._tree)))
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                found.items += self._expanded("function", "", node, node.name, [])
            elif isinstance(node, ast.ClassDef):
                found.items += self._class(node)
        found.items = _last_of_each(found.items)
        return found

    def _class(self, node: ast.ClassDef) -> list[Item]:
        is_unittest = self._is_unittest(node)
        if not is_unittest and not node.name.startswith("Test"):
            return []
        methods: dict[str, ast.FunctionDef] = {}
        for cls in reversed(self._ancestry(node)):
            for part in cls.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                    methods[part.name] = part
                if isinstance(part, ast.FunctionDef) and part.name == "__init__" and not is_unittest:
                    raise self._bad("a test class with __init__", part)
                if isinstance(part, ast.ClassDef) and part.name.startswith("Test"):
                    raise self._bad("a test class inside of a class", part)
        names = sorted(methods) if is_unittest else list(methods)
        kind: Kind = "unittest" if is_unittest else "method"
        items: list[Item] = []
        for name in names:
            marks = [] if is_unittest else node.decorator_list
            items += self._expanded(kind, node.name, methods[name], f"{node.name}::{name}", marks)
        return items

    def _expanded(self, kind: Kind, cls: str, node: ast.FunctionDef, base: str, marks: list[ast.expr]) -> list[Item]:
        try:
            ids = parameter_ids([*marks, *node.decorator_list], self._constants, self._functions)
        except Unreadable as problem:
            raise self._bad(f"parametrize whose ids the source does not show ({problem})", node) from None
        if ids is None:
            return [Item(kind, base, cls, node.name, 0)]
        return [Item(kind, f"{base}[{one}]", cls, node.name, row) for row, one in enumerate(ids)]

    def _ancestry(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        found: list[ast.ClassDef] = []
        waiting = [node]
        while waiting and len(found) < 20:
            cls = waiting.pop(0)
            found.append(cls)
            waiting += [
                self._classes[base.id] for base in cls.bases if isinstance(base, ast.Name) and base.id in self._classes
            ]
        return found

    def _is_unittest(self, node: ast.ClassDef) -> bool:
        for cls in self._ancestry(node):
            for base in cls.bases:
                name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
                if name in ("TestCase", "IsolatedAsyncioTestCase"):
                    return True
        return False

    def _bad(self, feature: str, node: ast.stmt) -> BadTests:
        return unsupported(feature, self._file, node.lineno)


def unsupported(feature: str, file: Path | None, line: int) -> BadTests:
    """The error for tests that use what is not offered."""
    return BadTests(
        f"the tests use {feature}, which is not supported; use plain asserts, raises, approx, parametrize and "
        "fixtures of the file",
        file=file,
        line=line,
    )


def _last_of_each(items: list[Item]) -> list[Item]:
    """A test defined twice under one name is the later one, as in Python."""
    return list({item.check_id: item for item in items}.values())


def _constants(tree: ast.Module) -> Mapping[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return found

"""Whether the checks of a test file depend on each other, as far as its source tells.

Checks that share state cannot be divided into visible and held-out ones: leaving some out changes the others.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from afterword.evaluators.function_tests.source import walk

_MUTATORS = frozenset(
    "append extend insert remove pop clear sort reverse add discard update setdefault popitem push put write".split()  # noqa: SIM905
)
_CHANGEABLE = (ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp)
_SETUPS = frozenset({"setUpClass", "setUpModule", "setup_module", "setup_class"})


def shared_state(
    tree: ast.Module, body: list[ast.stmt], guards: dict[int, str], program_names: set[str]
) -> tuple[str, ...]:
    """The reasons for which checks share state; empty if none is seen."""
    reasons: list[str] = []
    for node in walk(tree):
        if isinstance(node, ast.Global):
            reasons.append(f"line {node.lineno}: global {', '.join(node.names)}")
        elif isinstance(node, ast.FunctionDef) and node.name in _SETUPS:
            reasons.append(f"line {node.lineno}: {node.name}")
        elif isinstance(node, ast.FunctionDef) and _has_wide_scope(node):
            reasons.append(f"line {node.lineno}: the fixture {node.name} lives longer than one test")
    made = _made_by_program(body, guards, program_names)
    reasons += [
        f"line {line}: {name} is used by several checks" for name, line in made.items() if _used(body, name, guards)
    ]
    module_names = _module_data(tree)
    reasons += [
        f"line {line}: {name} is changed by a test" for name, line in _mutations(tree, module_names) if name not in made
    ]
    return tuple(dict.fromkeys(reasons))


def _has_wide_scope(node: ast.FunctionDef) -> bool:
    for mark in node.decorator_list:
        for keyword in mark.keywords if isinstance(mark, ast.Call) else []:
            if keyword.arg == "scope" and getattr(keyword.value, "value", None) != "function":
                return True
    return False


def _made_by_program(body: list[ast.stmt], guards: dict[int, str], program_names: set[str]) -> dict[str, int]:
    """Names bound between checks to what a call of the program made."""
    found: dict[str, int] = {}
    for position, node in enumerate(body):
        if position in guards or not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        called = {n.func.id for n in walk(node.value) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        if called & program_names:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                found |= {n.id: node.lineno for n in walk(target) if isinstance(n, ast.Name)}
    return found


def _used(body: list[ast.stmt], name: str, guards: dict[int, str]) -> bool:
    users = [
        node
        for position, node in enumerate(body)
        if (position in guards or isinstance(node, (ast.FunctionDef, ast.ClassDef))) and name in _names(node)
    ]
    tests = Counter(isinstance(node, ast.ClassDef) for node in users)
    return len(users) > 1 or tests[True] > 0


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


def _module_data(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, _CHANGEABLE):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _mutations(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, int]]:
    for function in [node for node in walk(tree) if isinstance(node, ast.FunctionDef)]:
        local = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for node in walk(function):
            target: ast.expr | None = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
                target = node.func.value
            elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                target = node.value
            if isinstance(target, ast.Name) and target.id in names - local:
                yield target.id, target.lineno

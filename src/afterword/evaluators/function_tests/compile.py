"""From the text of tests to a `Program`: rows where the tests are plain calls on literals, else guarded code."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from afterword.errors import NoTests
from afterword.evaluators.function_tests.arrays import ArrayComparisons, concerns_arrays
from afterword.evaluators.function_tests.assertions import AssertRewriter, guarded
from afterword.evaluators.function_tests.discovery import (
    Discovery,
    Found,
    asserting_functions,
    guards_of,
    is_main_block,
)
from afterword.evaluators.function_tests.features import check_features
from afterword.evaluators.function_tests.literals import NotLiteral, row_of
from afterword.evaluators.function_tests.own_names import closed_to_star, left_out_imports
from afterword.evaluators.function_tests.source import bound_names, parse, walk
from afterword.evaluators.function_tests.state import shared_state
from afterword.evaluators.judge.program import Item, Program, Row

_FILE = "tests.py"
_MAX_LINE = 1_000


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program and what is known about its source."""

    program: Program
    shared_state: tuple[str, ...]
    imports: tuple[str, ...]


def compile_source(text: str, entry_point: str, file: Path | None) -> Compiled:
    """A test file."""
    tree = parse(text, file)
    check_features(tree, file)
    found = Discovery(tree, file).find()
    lines = text.split("\n")
    ids = tuple(found.check_ids)
    names = _program_names(tree, entry_point)
    rows = _literal_rows(tree.body, found, names, lines)
    shared = shared_state(tree, tree.body, found.guards, set(names))
    return _compiled(tree, text, entry_point, ids, rows, found, shared)


def compile_humaneval(text: str, entry_point: str, file: Path | None) -> Compiled:
    """A file with `check(candidate)`."""
    tree = parse(text, file)
    check_features(tree, file)
    check = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"), None)
    if check is None or len(check.args.args) != 1:
        raise NoTests("expected a function check(candidate), found none", file=file)
    candidate = check.args.args[0].arg
    guards = guards_of(check.body, "check", asserting_functions(tree) - {"check"})
    found = Found(items=[], guards=guards)
    names = {candidate: entry_point}
    rows = _literal_rows(check.body, found, names, text.split("\n"))
    if any(
        not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)) and not _is_constant(node)
        for node in tree.body
    ):
        rows = ()
    ids = tuple(found.check_ids)
    shared = shared_state(tree, check.body, guards, {candidate})
    if not rows:
        check.body = [guarded(n, guards[i]) if i in guards else n for i, n in enumerate(check.body)] or [ast.Pass()]
        found = Found(items=[Item("check", "", "", "check", 0)], guards={})
        tree.body = [node for node in tree.body if not _calls_check(node)]
    return _compiled(tree, text, entry_point, ids, rows, found, shared)


def _compiled(
    tree: ast.Module, text: str, entry_point: str, ids: tuple[str, ...], rows: tuple[Row, ...], found: Found,
    shared: tuple[str, ...],
) -> Compiled:  # fmt: skip
    needs = tuple(dict.fromkeys([entry_point, *_imported_from_solution(tree)]))
    if rows:
        return Compiled(Program(entry_point, ids, needs, rows=rows), shared, _imports(tree))
    not_offered = bound_names(tree) | (set(dir(builtins)) - {entry_point}) | {"__file__", "__name__"}
    free = _free_names(text) - not_offered
    left_out = left_out_imports(tree, free)
    own = {str(alias.asname) for node in left_out for alias in node.names}
    closed = tuple(sorted({*closed_to_star(tree, entry_point), *own}))
    lines = text.split("\n")
    body = [guarded(node, found.guards[i]) if i in found.guards else node for i, node in enumerate(tree.body)]
    tree.body = [node for node in body if not is_main_block(node)]
    tree.body = AssertRewriter(lines).rewrite(tree.body)
    leading = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    at = leading + (ast.get_docstring(tree, clean=False) is not None)
    tree.body[at:at] = left_out
    imports = _imports(tree)
    if concerns_arrays(tree, imports):
        tree = ArrayComparisons().visit(tree)
    code = compile(tree, _FILE, "exec", dont_inherit=True)
    shown = tuple(line[:_MAX_LINE] for line in lines)
    offered = tuple(sorted(free - own))
    items = tuple(found.items)
    program = Program(entry_point, ids, needs, offered, closed=closed, code=code, items=items, lines=shown)
    return Compiled(program, shared, imports)


def _literal_rows(body: list[ast.stmt], found: Found, names: dict[str, str], lines: list[str]) -> tuple[Row, ...]:
    """Rows for all checks, if every check consists of asserts on literals; else none."""
    functions = {item.name: item for item in found.items}
    if any(item.kind != "function" or "[" in item.check_id for item in found.items):
        return ()
    rows: list[Row] = []
    late: list[Row] = []
    try:
        for position, node in enumerate(body):
            if position in found.guards:
                if not isinstance(node, ast.Assert):
                    return ()
                rows.append(row_of(node, found.guards[position], names, lines))
            elif isinstance(node, ast.FunctionDef) and node.name in functions:
                late += _function_rows(node, functions[node.name].check_id, names, lines)
            elif not (isinstance(node, ast.ImportFrom) and node.module == "solution") and not _is_constant(node):
                return ()
    except NotLiteral:
        return ()
    return (*rows, *late)


def _function_rows(node: ast.FunctionDef, check_id: str, names: dict[str, str], lines: list[str]) -> list[Row]:
    if node.decorator_list or node.args.args or node.args.kwonlyargs:
        raise NotLiteral
    body = [part for part in node.body if not _is_constant(part)]
    asserts = [part for part in body if isinstance(part, ast.Assert)]
    if not asserts or len(asserts) != len(body):
        raise NotLiteral
    return [row_of(part, check_id, names, lines) for part in asserts]


def _is_constant(node: ast.stmt) -> bool:
    """A statement without effect on the checks: a docstring, `pass`, or HumanEval's METADATA."""
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    if is_main_block(node) or _calls_check(node):
        return True
    return isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["METADATA"]


def _calls_check(node: ast.stmt) -> bool:
    """`check(f)` after the function, as some copies of HumanEval have it."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "check"
    )


def _program_names(tree: ast.Module, entry_point: str) -> dict[str, str]:
    """What the tests call the program's functions -> their own names."""
    bound = bound_names(tree)
    found = {entry_point: entry_point} if entry_point not in bound else {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            found |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name != "*"}
    stores = {n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defined = {n.name for n in walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return {name: own for name, own in found.items() if name not in stores | defined}


def _imported_from_solution(tree: ast.Module) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            yield from (alias.name for alias in node.names if alias.name != "*")


def _imports(tree: ast.Module) -> tuple[str, ...]:
    """The modules that a file imports, but for those that the runner has itself."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return tuple(sorted(found - {"solution", "pytest"}))


def _free_names(text: str) -> set[str]:
    """Names that are read from the module's globals somewhere."""
    found: set[str] = set()
    waiting = [symtable.symtable(text, _FILE, "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            module_level = table.get_type() == "module"
            if symbol.is_referenced() and (module_level or symbol.is_global()):
                found.add(symbol.get_name())
    return found

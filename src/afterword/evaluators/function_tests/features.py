"""Refuses tests that use what the judge does not offer, by name and line, before anything runs.

A feature that is only ignored would blame a right program: a skipped test never ran, a patched `print` never
saw the program's output.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from afterword.evaluators.function_tests.discovery import unsupported
from afterword.evaluators.function_tests.source import walk

_PYTEST = frozenset({"raises", "approx", "fixture", "param", "fail", "mark"})
_FOREIGN = frozenset({"hypothesis", "conftest", "_pytest", "nose", "pytest_mock", "anyio", "trio", "sandbox"})
_SKIPS = frozenset({"skip", "skipIf", "skipUnless", "expectedFailure", "skipTest", "SkipTest"})
_OUTPUT = frozenset({"redirect_stdout", "redirect_stderr", "capsys", "capfd"})
_STREAMS = frozenset({"stdin", "stdout", "stderr"})
_GIVEN = frozenset({"self", "cls"})


def check_features(tree: ast.Module, file: Path | None) -> None:
    """Raises `BadTests` for the first unsupported feature of a test file."""
    for node in walk(tree):
        feature = _feature(node)
        if feature is not None:
            raise unsupported(feature, file, getattr(node, "lineno", 1))
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test"):
            raise unsupported(
                f"the asynchronous test {node.name} (call asyncio.run inside of a test)", file, node.lineno
            )
        if isinstance(node, ast.FunctionDef) and (node.name.startswith("pytest_") or node.name == "load_tests"):
            raise unsupported(f"the hook {node.name}", file, node.lineno)
    _check_fixtures(tree, file)


def _feature(node: ast.AST) -> str | None:
    if isinstance(node, ast.Import):
        return next((f"the module {a.name}" for a in node.names if a.name.split(".")[0] in _FOREIGN), None)
    if isinstance(node, ast.ImportFrom):
        return _import_from(node)
    if isinstance(node, ast.Attribute):
        return _attribute(node)
    if isinstance(node, ast.Name):
        if node.id in _OUTPUT:
            return f"{node.id} (what the program prints is not visible to tests)"
        return node.id if node.id in ("pytestmark", "pytest_plugins") else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "patch":
        return "unittest.mock.patch"
    return None


def _import_from(node: ast.ImportFrom) -> str | None:
    module = node.module or ""
    if node.level:
        return "a relative import"
    if module.split(".")[0] in _FOREIGN:
        return f"the module {module}"
    names = {alias.name for alias in node.names}
    if module == "pytest" and (other := sorted(names - _PYTEST)):
        return f"pytest.{other[0]}"
    if module == "unittest" and (other := sorted(names & _SKIPS)):
        return f"unittest.{other[0]}"
    if module == "unittest.mock" and "patch" in names:
        return "unittest.mock.patch"
    return None


def _attribute(node: ast.Attribute) -> str | None:
    owner = node.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    if name == "pytest" and node.attr not in _PYTEST:
        return f"pytest.{node.attr}"
    if name == "mark" and node.attr != "parametrize":
        return f"pytest.mark.{node.attr}"
    if name in ("unittest", "self") and node.attr in _SKIPS:
        return f"{name}.{node.attr}"
    if name == "mock" and node.attr == "patch":
        return "unittest.mock.patch"
    if node.attr in _OUTPUT:
        return f"{node.attr} (what the program prints is not visible to tests)"
    if name == "sys" and node.attr in _STREAMS and isinstance(node.ctx, ast.Store):
        return f"an assignment to sys.{node.attr} (the program has streams of its own)"
    return None


def _check_fixtures(tree: ast.Module, file: Path | None) -> None:
    """Every parameter of a test is a parametrized name or a fixture of the file."""
    fixtures = {name for node in tree.body if isinstance(node, ast.FunctionDef) for name in _fixture_names(node, file)}
    for node, marks in _tests(tree):
        names = {name for mark in [*node.decorator_list, *marks] for name in _parametrized(mark)}
        positional = [*node.args.posonlyargs, *node.args.args]
        required = positional[: len(positional) - len(node.args.defaults)]
        for argument in required:
            if argument.arg not in names | fixtures | _GIVEN:
                raise unsupported(f"the fixture {argument.arg!r}", file, node.lineno)


def _tests(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, list[ast.expr]]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (node.name.startswith("test") or _fixture_decorator(node) is not None):
            yield node, []
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                    yield part, node.decorator_list


def _parametrized(mark: ast.expr) -> list[str]:
    if not (isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "parametrize"):
        return []
    first = mark.args[0] if mark.args else next((k.value for k in mark.keywords if k.arg == "argnames"), None)
    if isinstance(first, ast.Constant):
        return [name.strip() for name in str(first.value).split(",")]
    if isinstance(first, (ast.List, ast.Tuple)):
        return [str(item.value) for item in first.elts if isinstance(item, ast.Constant)]
    return []


def _fixture_decorator(node: ast.FunctionDef) -> ast.expr | None:
    for mark in node.decorator_list:
        inner = mark.func if isinstance(mark, ast.Call) else mark
        name = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
        if name == "fixture":
            return mark
    return None


def _fixture_names(node: ast.FunctionDef, file: Path | None) -> list[str]:
    mark = _fixture_decorator(node)
    if mark is None:
        return []
    name = node.name
    for keyword in mark.keywords if isinstance(mark, ast.Call) else []:
        if keyword.arg not in ("scope", "autouse", "name"):
            raise unsupported(f"a fixture with {keyword.arg}", file, node.lineno)
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            name = str(keyword.value.value)
    return [name]

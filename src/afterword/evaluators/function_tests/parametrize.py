"""The ids of parametrized tests, read from the source by pytest's rules, before anything runs.

So the values, or at least their number, have to stand in the source: a literal list, or a module-level name
of one.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections import Counter
from collections.abc import Mapping, Set

from afterword.evaluators.function_tests.literals import NotLiteral, literal

_MAX_TEXT = 100  # longer strings are numbered, as pytest does


class Unreadable(Exception):
    """Argument sets whose ids cannot be known from the source; the message says which part."""


def parameter_ids(
    decorators: list[ast.expr], constants: Mapping[str, ast.expr], functions: Set[str]
) -> list[str] | None:
    """The ids of all combinations, in pytest's order; None if the test is not parametrized.

    Raises:
        Unreadable: the source does not show them.
    """
    axes = [_axis(node, constants, functions) for node in reversed(decorators) if is_parametrize(node)]
    if not axes:
        return None
    return ["-".join(parts) for parts in itertools.product(*axes)]


def is_parametrize(node: ast.expr) -> bool:
    """Whether a decorator is `pytest.mark.parametrize(...)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize"


def _axis(node: ast.expr, constants: Mapping[str, ast.expr], functions: Set[str]) -> list[str]:
    assert isinstance(node, ast.Call)  # noqa: S101  is_parametrize looked
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    names_node = node.args[0] if node.args else options.get("argnames")
    values_node = node.args[1] if len(node.args) > 1 else options.get("argvalues")
    unknown = set(options) - {"ids", "argnames", "argvalues"}
    if names_node is None or values_node is None or unknown:
        raise Unreadable(f"the option {sorted(map(str, unknown))[0]!r}" if unknown else "its arguments")
    names = _names(names_node)
    given = _elements(options["ids"], constants, "ids") if "ids" in options else []
    rows = _elements(values_node, constants, "values")
    if given and len(given) != len(rows):
        raise Unreadable(f"{len(given)} ids for {len(rows)} argument sets")
    ids = [_row_id(row, names, index, given[index] if given else None, functions) for index, row in enumerate(rows)]
    return _unique(ids)


def _names(node: ast.expr) -> list[str]:
    try:
        found = literal(node)
    except NotLiteral:
        raise Unreadable("the argument names") from None
    parts = found.split(",") if isinstance(found, str) else found
    if not isinstance(parts, (list, tuple)):
        raise Unreadable("the argument names")
    return [str(name).strip() for name in parts if str(name).strip()]


def _elements(node: ast.expr, constants: Mapping[str, ast.expr], what: str) -> list[ast.expr]:
    if isinstance(node, ast.Name) and node.id in constants:
        node = constants[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        try:
            bounds = [literal(argument) for argument in node.args]
        except NotLiteral:
            raise Unreadable(f"the {what}") from None
        if all(isinstance(bound, int) for bound in bounds):
            return [ast.Constant(number) for number in range(*[bound for bound in bounds if isinstance(bound, int)])]
    if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(item, ast.Starred) for item in node.elts):
        raise Unreadable(f"the {what}")
    return node.elts


def _row_id(row: ast.expr, names: list[str], index: int, given: ast.expr | None, functions: Set[str]) -> str:
    values = [row]
    if isinstance(row, ast.Call) and _called(row) == "param":
        values = row.args
        for keyword in row.keywords:
            if keyword.arg == "id" and isinstance(keyword.value, ast.Constant) and keyword.value.value is not None:
                return escaped(str(keyword.value.value))
            if keyword.arg == "marks":
                raise Unreadable("the marks of pytest.param")
    elif len(names) > 1:
        if not isinstance(row, (ast.Tuple, ast.List)):
            raise Unreadable(f"argument set {index + 1}")
        values = row.elts
    if len(values) != len(names):
        raise Unreadable(f"argument set {index + 1}, with {len(values)} values for {len(names)} names")
    if given is not None and not (isinstance(given, ast.Constant) and given.value is None):
        return _value_id(given, "ids", index, functions)
    return "-".join(_value_id(value, name, index, functions) for value, name in zip(values, names, strict=True))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _value_id(node: ast.expr, name: str, index: int, functions: Set[str]) -> str:
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    if isinstance(node, ast.Name) and (node.id in functions or hasattr(getattr(builtins, node.id, None), "__name__")):
        return node.id  # a function or class
    try:
        value = literal(node)
    except NotLiteral:
        return f"{name}{index}"
    if isinstance(value, (str, bytes)):
        return escaped(value) if len(value) <= _MAX_TEXT else f"{name}{index}"
    if value is None or isinstance(value, (bool, int, float, complex)):
        return str(value)
    return f"{name}{index}"


def escaped(text: str | bytes) -> str:
    """pytest's form of a text in an id: printable ASCII, all else as escapes."""
    if isinstance(text, bytes):
        return text.decode("ascii", "backslashreplace").translate(_CONTROL)
    return text.encode("unicode_escape").decode("ascii").translate(_CONTROL)


_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), 127]} | {9: "\\t", 10: "\\n", 13: "\\r"}


def _unique(ids: list[str]) -> list[str]:
    counts = Counter(ids)
    taken = set(ids)
    next_suffix: Counter[str] = Counter()
    found = []
    for one in ids:
        if counts[one] == 1:
            found.append(one)
            continue
        separator = "_" if one[-1:].isdigit() else ""
        while (made := f"{one}{separator}{next_suffix[one]}") in taken:
            next_suffix[one] += 1
        taken.add(made)
        next_suffix[one] += 1
        found.append(made)
    return found

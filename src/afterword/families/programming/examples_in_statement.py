"""The worked examples of a problem statement, as visible checks: `Input:`/`Output:` blocks and `>>>` sessions.

Apart from files of checks, since people paste such statements as they are; an example that looks like one and cannot be
read is refused with its line, for a check that is silently left out is worse than none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite

MAX_EXAMPLE_CHARS = 20_000
_MAX_NESTING = 40
_TOLERANCE = 1e-5
"""Judges of such problems take floats within this distance, and statements show five digits."""

_LABEL = re.compile(r"^[\s>*_#`-]*(?P<name>input|output)\b[\s*_`]*(?::[\s*_]*(?P<rest>.*)|)$", re.IGNORECASE)
_END = re.compile(r"^[\s>*_#`-]*(?:explanation|example|note|constraints?|follow[- ]?up)\b", re.IGNORECASE)
_BOTH = re.compile(r"^(?P<input>.*\binput\b.*?)\s+(?P<output>\**output\b[\s*_]*:.*)$", re.IGNORECASE)
_NAMED = re.compile(r"\s*[A-Za-z_]\w*\s*=")
_TRACEBACK = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
_NODES = re.compile(r"\b(ListNode|TreeNode|Node)\b")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Example:
    """One example: an expression that calls the program, and what it has to give."""

    line: int
    """In the statement, from 1."""
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    expected: object = None
    raises: str | None = None
    expression: str | None = None
    """The expression itself, where it is more than a call on plain values."""
    lenient: bool = False
    """Floats may differ a little."""

    @property
    def is_row(self) -> bool:
        """Whether a labelled case can say it."""
        values = (*self.args, *self.kwargs.values(), self.expected)
        return self.expression is None and all(map(_is_json, values))


class _Unreadable(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def examples_suite(instructions: str, entry_point: str, signature: str | None, file: Path) -> Suite | None:
    """The examples of a statement as checks; None where it has none.

    Raises:
        InputError: an example cannot be read, or needs what plain data cannot say.
    """
    try:
        examples = [*_blocks(instructions, signature), *_sessions(instructions, entry_point)]
    except _Unreadable as unreadable:
        _refuse(instructions, unreadable, file)
    if not examples:
        return None
    if signature is not None and (node := _NODES.search(signature)):
        raise InputError(
            f"the examples are about {node[1]} objects, which plain values cannot say; write visible_tests.py, which "
            "builds and reads them",
            file=file,
        )
    method = _method(signature)
    if method is None and all(example.is_row for example in examples):
        return Suite.from_cases([_row(example) for example in examples], entry_point=entry_point, file=file)
    return Suite.from_source(_source(examples, entry_point, method), entry_point=entry_point, file=file)


def _refuse(instructions: str, unreadable: _Unreadable, file: Path) -> NoReturn:
    """The line of the file is sought by its text: TOML says where a value begins and not where its lines are."""
    shown = instructions.split("\n")[unreadable.line - 1].strip()
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except OSError:
        lines = []
    line = next((number for number, text in enumerate(lines, start=1) if shown and shown in text), None)
    raise InputError(
        f"this example cannot be read: {unreadable}; correct it, or write the checks into visible_cases.jsonl",
        file=file,
        line=line,
    )


def _blocks(instructions: str, signature: str | None) -> Iterator[Example]:
    """Examples of an `Input:` and an `Output:`; other mentions of input, without a value by name, are prose."""
    parts: dict[str, list[str]] = {}
    part, start = "", 0
    for number, line in _split_lines(instructions):
        label = _LABEL.match(line)
        if label is not None:
            name = label["name"].lower()
            if name == "input" or part != "input":
                yield from _block(parts, start, signature)
                parts, start = {}, number
            part = name
            parts[part] = [label["rest"] or ""]
        elif part and (_END.match(line) or (not line.strip() and any(text.strip() for text in parts[part]))):
            if part == "output" or _END.match(line):
                yield from _block(parts, start, signature)
                parts, part = {}, ""
        elif part:
            parts[part].append(line)
    yield from _block(parts, start, signature)


def _split_lines(instructions: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(instructions.split("\n"), start=1):
        if both := _BOTH.match(line):
            yield number, both["input"]
            yield number, both["output"]
        else:
            yield number, line


def _block(parts: Mapping[str, list[str]], start: int, signature: str | None) -> Iterator[Example]:
    if set(parts) != {"input", "output"}:
        return
    given, wanted = (_plain_text("\n".join(parts[name])) for name in ("input", "output"))
    if not _NAMED.match(given):
        return
    call = _call(f"f({given})", start)
    named = {str(each.arg): _value(each.value, start) for each in call.keywords}
    if call.args or "None" in named:
        raise _Unreadable(start, "its input is not written as name = value, name = value")
    expected = _value(_expression(wanted, start), start)
    yield Example(start, args=_in_order(named, signature), expected=expected, lenient=True)


def _plain_text(text: str) -> str:
    """Without the marks of Markdown and typographic quotes."""
    text = text.strip().strip("`*_ ").strip()
    return text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0x2212: "-", 0xA0: " "})


def _in_order(named: Mapping[str, object], signature: str | None) -> tuple[object, ...]:
    """By the signature's parameters where they are the same ones, else as they stand."""
    found = re.search(r"def\s+\w+\s*\((.*)\)", signature or "", re.DOTALL)
    parameters = re.findall(r"(?:^|,)\s*(\w+)\s*(?=[:,=]|$)", found[1]) if found else []
    order = [name for name in parameters if name in named]
    return tuple(named[name] for name in (order if len(order) == len(named) else named))


def _sessions(instructions: str, entry_point: str) -> Iterator[Example]:
    """The calls of the entry point in interactive sessions; lines that do not use it set nothing up here."""
    lines = [line.strip() for line in instructions.split("\n")]
    at = 0
    while at < len(lines):
        start, line = at + 1, lines[at]
        at += 1
        if not line.startswith(">>> "):
            continue
        text = line[4:]
        while at < len(lines) and lines[at].startswith("..."):
            text += "\n" + lines[at][4:]
            at += 1
        wanted: list[str] = []
        while at < len(lines) and lines[at] and not lines[at].startswith((">>>", "```")):
            wanted.append(lines[at])
            at += 1
        if wanted and re.search(rf"\b{re.escape(entry_point)}\b", text):
            yield _session(text, wanted, start, entry_point)


def _session(text: str, wanted: list[str], start: int, entry_point: str) -> Example:
    expression = _expression(text, start)
    raises: str | None = None
    expected: object = None
    if wanted[0].startswith("Traceback"):
        told = _TRACEBACK.match(wanted[-1])
        raises = told[1].rpartition(".")[2] if told else None
        if raises is None:
            raise _Unreadable(start, "its traceback does not end with an exception")
    else:
        expected = _value(_expression("\n".join(wanted), start), start)
    try:
        if not isinstance(expression, ast.Call) or ast.unparse(expression.func) != entry_point:
            raise _Unreadable(start, "")
        args = tuple(_value(each, start) for each in expression.args)
        if any(each.arg is None for each in expression.keywords):
            raise _Unreadable(start, "")
        kwargs = {str(each.arg): _value(each.value, start) for each in expression.keywords}
    except _Unreadable:  # more than a call on plain values: it becomes a test of its own
        return Example(start, expected=expected, raises=raises, expression=ast.unparse(expression))
    return Example(start, args, kwargs, expected, raises)


def _call(text: str, line: int) -> ast.Call:
    parsed = _expression(text, line)
    if not isinstance(parsed, ast.Call):
        raise _Unreadable(line, "its input is not written as name = value, name = value")
    return parsed


def _expression(text: str, line: int) -> ast.expr:
    depth = sum(text.count(bracket) for bracket in "([{")
    if len(text) > MAX_EXAMPLE_CHARS or (depth > _MAX_NESTING and _nesting(text) > _MAX_NESTING):
        raise _Unreadable(line, "it is too long or nested too deeply")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = " ".join(text.split())
        raise _Unreadable(line, f"{shown[:80]!r} is no plain value") from None


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _value(node: ast.expr, line: int) -> object:
    """A plain value; `true`, `false` and `null` as other languages write them."""
    try:
        value: object = ast.literal_eval(_Words().visit(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _Unreadable(line, f"{ast.unparse(node)[:80]!r} is no plain value") from None
    return value


class _Words(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node) if node.id in _WORDS else node


def _is_json(value: object) -> bool:
    """Whether a labelled case can say it: a tuple counts as a list there, and a set cannot stand in one."""
    if isinstance(value, list):
        return all(_is_json(each) for each in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def _row(example: Example) -> dict[str, object]:
    row: dict[str, object] = {"args": list(example.args), "kwargs": dict(example.kwargs), "line": example.line}
    if example.raises is not None:
        return {**row, "raises": example.raises}
    tolerance = {"tolerance": _TOLERANCE} if example.lenient and _has_float(example.expected) else {}
    return {**row, "expected": example.expected, **tolerance}


def _has_float(value: object) -> bool:
    if isinstance(value, list):
        return any(_has_float(each) for each in value)
    return isinstance(value, float)


def _method(signature: str | None) -> str | None:
    """The one method of `class Solution`, which is how such judges call a program."""
    if signature is None or not signature.lstrip().startswith("class "):
        return None
    names = [name for name in re.findall(r"def\s+(\w+)\s*\(\s*self\b", signature) if not name.startswith("__")]
    return names[0] if len(names) == 1 else None


def _source(examples: list[Example], entry_point: str, method: str | None) -> str:
    callee = f"{entry_point}().{method}" if method else entry_point
    lines = ["import pytest", f"from solution import {entry_point}"]
    for number, example in enumerate(examples, start=1):
        given = [*map(repr, example.args), *(f"{name}={value!r}" for name, value in example.kwargs.items())]
        expression = example.expression or f"{callee}({', '.join(given)})"
        lines += ["", "", f"def test_example_{number}():"]
        if example.raises is not None:
            lines += [f"    with pytest.raises({example.raises}):", f"        {expression}"]
        elif example.lenient and _has_float(example.expected):
            lines += [f"    assert {expression} == pytest.approx({example.expected!r}, abs={_TOLERANCE})"]
        else:
            lines += [f"    assert {expression} == {example.expected!r}"]
    return "\n".join(lines) + "\n"

"""Programs that differ from a given one in one small place: whoever tests a program well notices each of them.

Apart from what judges them, since they serve wherever a wrong program is wanted beside a right one. The text is parsed
in this process: it is meant for a program that somebody vouches for, and anything out of proportion (size, nesting) is
refused before CPython's parser sees it.
"""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from afterword.errors import InputError
from afterword.families.programming.mutations import Change, changes_of
from afterword.families.programming.python_text import blank_strings

MAX_CHARS = 50_000
"""A longer program is not parsed."""
MAX_NESTING = 60
"""Nor is one with brackets nested deeper, or indented further (in steps of one column times four)."""
_PREFIX_RUN = re.compile(r"(?:(?:not|lambda)\b[ \t:]*|[-+~][ \t]*){60}")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one change."""

    source: str
    """The whole program, in a normal form: without comments, otherwise equal."""
    line: int
    """Where the change is, in the original."""
    description: str
    """The change, e.g. `` `a < b` → `a <= b` ``."""


def mutants(source: str, *, seed: int, limit: int) -> tuple[Mutant, ...]:
    """At most `limit` different mutants of a program, in the order of their lines.

    Each kind of change gets its turn, so that a table of constants does not crowd out the rest; `seed` chooses within
    a kind. Left out is what no test can or should notice: docstrings, annotations, messages of errors, decorators,
    imports, the main block.

    Raises:
        InputError: the program does not compile, or is too large or too deeply nested to be parsed here.
    """
    tree = _parsed(source)
    try:
        return _chosen(tree, seed, limit)
    except RecursionError:
        raise InputError("the program is nested too deeply to be changed; give a plainer one") from None


def _chosen(tree: ast.Module, seed: int, limit: int) -> tuple[Mutant, ...]:
    seen = {_normal(ast.unparse(tree))}
    found: list[Mutant] = []
    for change in _in_turn(list(changes_of(tree)), seed):
        if len(found) >= limit:
            break
        text = _changed(tree, change)
        form = _normal(text)
        if form is not None and form not in seen:
            seen.add(form)
            found.append(Mutant(text, change.line, change.description))
    return tuple(sorted(found, key=lambda mutant: (mutant.line, mutant.description)))


def _in_turn(changes: list[Change], seed: int) -> Iterator[Change]:
    """One of each kind, then the next of each, and so on."""
    by_kind: dict[str, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    order = random.Random(seed)  # noqa: S311  a choice, not a secret
    for kind in sorted(by_kind):
        order.shuffle(by_kind[kind])
    for turn in range(max((len(rest) for rest in by_kind.values()), default=0)):
        for kind in sorted(by_kind):
            if turn < len(by_kind[kind]):
                yield by_kind[kind][turn]


def _changed(tree: ast.Module, change: Change) -> str:
    before = change.place.node
    change.place.put(change.new)
    try:
        return ast.unparse(tree) + "\n"
    finally:
        change.place.put(before)


def _normal(text: str) -> str | None:
    """What a text means, regardless of how it is written; None where it is not valid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def _parsed(source: str) -> ast.Module:
    if len(source) > MAX_CHARS:
        raise InputError(f"expected a program of at most {MAX_CHARS:,} characters, found {len(source):,}; shorten it")
    _refuse_nesting(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # e.g. an invalid escape, which is the program's matter
            return ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"the program does not compile: {error.msg}; mend this line", line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"the program does not compile: {str(error) or type(error).__name__}; mend it") from None


def _refuse_nesting(source: str) -> None:
    code = blank_strings(source)
    depth = 0
    for character in code:
        if character in "([{":
            depth += 1
            if depth > MAX_NESTING:
                break
        elif character in ")]}":
            depth = max(depth - 1, 0)
    indented = re.search(rf"^[ \t]{{{4 * MAX_NESTING},}}\S", code, re.MULTILINE)
    if depth > MAX_NESTING or indented or _PREFIX_RUN.search(code):
        raise InputError(f"the program is nested more than {MAX_NESTING} levels deep; give a plainer one")


__all__ = ["MAX_CHARS", "MAX_NESTING", "Mutant", "mutants"]

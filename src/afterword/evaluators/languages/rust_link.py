"""How Rust tests see the solution: by name, held to the stated signature, and with nothing else of it in reach.

Apart from the tests, since this is where a solution could slip in between: a return type that equals everything, a
re-exported macro named `assert_eq`, a type named like one of std's. So nothing is imported by a glob from the
solution's crate, names that std gives everywhere are never taken from it, and where a signature is stated its types are
the tests'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from afterword.evaluators.languages.protocol import TestFile
from afterword.evaluators.languages.rust_text import (
    CLOSING,
    OPENING,
    Token,
    close_of,
    items_of,
    public_names,
    tokens_of,
)

CRATE = "submission"
"""The name under which the solution is compiled; the tests know it as `solution`."""
_PRELUDE = "afterword_prelude"
_PRIMITIVES = (
    "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Self self super crate std core alloc"
)
_STD_NAMES = (
    "Option Some None Result Ok Err String Vec Box ToString ToOwned Clone Copy Send Sync Sized Drop drop Fn FnMut "
    "FnOnce Iterator IntoIterator Extend DoubleEndedIterator ExactSizeIterator Default PartialEq Eq PartialOrd Ord "
    "AsRef AsMut Into From TryFrom TryInto FromIterator Debug Hash"
)
_STD_MACROS = (
    "assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne matches panic print println eprint "
    "eprintln vec format format_args write writeln todo unimplemented unreachable dbg"
)
_STD = frozenset(f"{_PRIMITIVES} {_STD_NAMES} {_STD_MACROS}".split())


def link(tests: TestFile, solution: str) -> str:
    """The part of the tests' crate that stands between them and the solution's."""
    signature = tests.signature or ""
    imports = imports_of(signature)
    declared = [token.text for token in _declaration(signature, tests.entry_point)]
    written = tokens_of(tests.text)
    named, everything = _named(written)
    given = _STD | frozenset(re.findall(r"\w+", " ".join(imports)))
    wanted = set(declared) | {tests.entry_point}
    if everything or not named:
        wanted |= {token.text for token in written if token.kind == "name"}
    own = {item.name for item in items_of(written) if item.name}
    taken = ((wanted & _importable(solution)) - given - own) | named
    pinned = pin(signature, tests.entry_point)
    names = sorted((taken | {tests.entry_point}) - ({tests.entry_point} if pinned else set()))
    lines = [
        f"mod {_PRELUDE} {{ {' '.join(f'pub {line}' for line in imports)} }}",
        "mod solution {",
        f"    use super::{_PRELUDE}::*;",
        *([f"    pub use ::{CRATE}::{{{', '.join(names)}}};"] if names else []),
        *([f"    {pinned}"] if pinned else []),
        "}",
        f"use {_PRELUDE}::*;",
        *([] if named or everything else ["use solution::*;"]),
    ]
    return "\n".join(lines) + "\n"


def _importable(solution: str) -> frozenset[str]:
    """The names that tests may take without saying so: none of traits.

    A trait in scope can bring a method that comes before std's own of the same name. Where a macro makes traits their
    names are not known, and any function could stand beside one of its name.
    """
    tokens = tokens_of(solution)
    if any(one.text == "trait" and other.text == "$" for one, other in pairwise(tokens)):
        return frozenset()
    traits = {item.name for item in items_of(tokens) if item.word == "trait"}
    return public_names(solution) - traits


def imports_of(signature: str) -> list[str]:
    """The `use` lines that a signature begins with."""
    tokens = tokens_of(signature)
    return [
        " ".join(signature[tokens[item.start].start : tokens[item.last].end].split()).removeprefix("pub ")
        for item in items_of(tokens)
        if item.word == "use"
    ]


def names_taken(tests: TestFile) -> set[str]:
    """The names that tests take from the solution by a path."""
    return _named(tokens_of(tests.text))[0]


def _named(tokens: Sequence[Token]) -> tuple[set[str], bool]:
    """The names that tests take from `solution` by a path, and whether they take everything."""
    names: set[str] = set()
    everything = False
    for at in range(len(tokens) - 2):
        if tokens[at].text != "solution" or tokens[at + 1].text != "::":
            continue
        if at and tokens[at - 1].text == "::" and at > 1 and tokens[at - 2].kind == "name":
            continue
        after = tokens[at + 2]
        group = tokens[at + 3 : close_of(tokens, at + 2)] if after.text == "{" else [after]
        depth = group[0].depth if group else 0
        for number, token in enumerate(group):
            is_first = token.depth == depth and (number == 0 or group[number - 1].text == ",")
            everything |= is_first and token.text == "*"
            if is_first and token.kind == "name" and token.text != "self":
                names.add(token.text)
    return names, everything


def _declaration(signature: str, entry_point: str) -> list[Token]:
    """The tokens of a function's declaration, from `fn` to before its body."""
    tokens = tokens_of(signature)
    for at in range(len(tokens) - 1):
        if tokens[at].text == "fn" and tokens[at + 1].text == entry_point and tokens[at].depth == 0:
            end = next((i for i in range(at, len(tokens)) if tokens[i].depth == 0 and tokens[i].text in "{;"), None)
            return tokens[at:end]
    return []


def declares(signature: str, entry_point: str) -> bool:
    """Whether a signature declares this function or type."""
    return any(item.name == entry_point for item in items_of(tokens_of(signature)))


def head_of(signature: str, entry_point: str) -> str:
    """A function's declaration, from its qualifiers to before its body; empty where it is no function."""
    declaration = _declaration(signature, entry_point)
    if not declaration:
        return ""
    return signature[declaration[0].start : declaration[-1].end]


def pin(signature: str, entry_point: str) -> str | None:
    """A function with the stated signature that calls the solution's; None where there is no plain function to state.

    The types are those that the tests see, so a solution that returns another one does not compile against it.
    """
    tokens = _declaration(signature, entry_point)
    opening = _parameters_at(tokens)
    if opening is None:
        return None
    close = close_of(tokens, opening)
    if tokens[close].text != ")":
        return None
    before = signature[: tokens[0].start].split("\n")[-1].split()
    if "unsafe" in before or "extern" in before:
        return None
    parameters = _split(tokens, opening + 1, close)
    types = []
    for first, last in parameters:
        colon = next((i for i in range(first, last) if tokens[i].text == ":" and tokens[i].depth == 1), None)
        if colon is None:  # a receiver
            return None
        types.append(signature[tokens[colon + 1].start : tokens[last - 1].end])
    generics = signature[tokens[1].end : tokens[opening].start]
    rest = signature[tokens[close].end : tokens[-1].end]
    arguments = ", ".join(f"a{number}" for number in range(len(types)))
    typed = ", ".join(f"a{number}: {kind}" for number, kind in enumerate(types))
    is_async = "async" in before
    call = f"::{CRATE}::{entry_point}({arguments})" + (".await" if is_async else "")
    return f"pub {'async ' if is_async else ''}fn {entry_point}{generics}({typed}){rest} {{ {call} }}"


def _parameters_at(tokens: Sequence[Token]) -> int | None:
    """The bracket that opens a declaration's parameters, after its generics."""
    angles = 0
    for at in range(2, len(tokens)):
        text = tokens[at].text
        angles += (text == "<") - (text == ">")
        if text == "(" and angles == 0 and tokens[at].depth == 0:
            return at
    return None


def _split(tokens: Sequence[Token], first: int, end: int) -> list[tuple[int, int]]:
    """The parts between commas, which may stand inside of angle brackets too."""
    parts, start, angles = [], first, 0
    depth = tokens[first].depth if first < end else 0
    for at in range(first, end):
        text = tokens[at].text
        if text in OPENING or text in CLOSING:
            continue
        angles += (text == "<") - (text == ">")
        if text == "," and angles == 0 and tokens[at].depth == depth:
            parts.append((start, at))
            start = at + 1
    return [*parts, (start, end)] if start < end else parts

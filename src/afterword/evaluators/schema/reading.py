"""JSON text from an untrusted hand, read without surprises: bounded, each key once, no NaN.

Apart from the schemas, since two of them read the same text, and so that nothing malformed ever reaches a validator.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | Mapping[str, Json] | Sequence[Json] | None"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[{}\]]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_MAX_KEY = 80


@dataclass(frozen=True, slots=True)
class JsonBounds:
    """What is read of an output; beyond it the output fails."""

    characters: int = 200_000
    depth: int = 64
    violations: int = 20
    """Most violated paths that are told."""


class Unreadable(ValueError):
    """The text is not JSON that can be judged; the message says why, to whoever wrote it."""


def read_json(text: str, bounds: JsonBounds) -> Json:
    """The value that a JSON text stands for.

    Raises:
        Unreadable: it is not JSON, or JSON that readers take differently: a key twice, NaN, half a surrogate pair.
    """
    if len(text) > bounds.characters:
        raise Unreadable(f"it has {len(text):,} characters, and at most {bounds.characters:,} are read")
    if not text.strip():
        raise Unreadable("it is empty")
    _refuse_depth(text, bounds.depth)
    try:
        value: Json = json.loads(
            text, object_pairs_hook=_each_once, parse_constant=_no_constant, parse_float=_finite, parse_int=_short
        )
    except json.JSONDecodeError as error:
        fence = ", without a fence or words around it" if text.lstrip().startswith("```") else ""
        raise Unreadable(
            f"line {error.lineno}, column {error.colno}: {error.msg}; write one JSON value{fence}"
        ) from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    try:
        text.encode("utf-8")
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Unreadable("a string in it holds half of a surrogate pair") from None
    return value


def path_of(parts: Sequence[str | int]) -> str:
    """A place in a value, as `$.items[2].name`; an unusual key is quoted, a long one cut."""
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}"
        else:
            text += f"[{json.dumps(part if len(part) <= _MAX_KEY else part[:_MAX_KEY] + '…')}]"
    return text


def _refuse_depth(text: str, limit: int) -> None:
    """Before it is parsed: the parser itself recurses."""
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub('""', text)):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > limit:
            raise Unreadable(f"it is nested more than {limit} levels deep")


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise Unreadable(f"the key {key[:_MAX_KEY]!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> object:
    raise Unreadable(f"{name} is not JSON; use a number, a string or null")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise Unreadable(f"the number {text[:_MAX_KEY]} is too large")
    return value


def _short(text: str) -> int:
    if len(text) > 400:  # more than any float; and Python refuses to read thousands of digits
        raise Unreadable(f"a number in it has {len(text):,} digits")
    return int(text)

"""Labelled examples in a JSON Lines file, read with the line of each."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import NoReturn

from afterword.errors import InputError

KEYS = ("args", "kwargs", "expected", "raises", "tolerance", "label", "note", "id")


def read_cases(text: str, file: Path) -> list[dict[str, object]]:
    """The rows of a file, each with its `line`; what they mean is checked where they become a suite.

    Raises:
        InputError: a line is no JSON object, or has a key twice or one that is unknown.
    """
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            rows.append({**_read(line, file, number), "line": number})
    return rows


def _read(line: str, file: Path, number: int) -> dict[str, object]:
    def fail(message: str) -> NoReturn:
        raise InputError(message, file=file, line=number)

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        row = dict(pairs)
        if len(row) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            fail(f"the key {twice!r} stands twice in one object; keep one of them")
        return row

    def no_constant(name: str) -> NoReturn:
        fail(f"{name} is not JSON; use a number, a string or null")

    try:
        row: object = json.loads(line, object_pairs_hook=unique, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        fail(f"this line is not valid JSON: {error.msg} at column {error.colno}; write one object a line")
    except (ValueError, RecursionError) as error:
        fail(f"this line cannot be read: {str(error).splitlines()[0]}; write one plain object a line")
    if not isinstance(row, dict):
        fail(f"expected a JSON object with args and expected, found {type(row).__name__}; write one object a line")
    for key in row:
        if key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys are {', '.join(KEYS[:5])}"
            fail(f"unknown key {key!r}; {hint}")
    return row

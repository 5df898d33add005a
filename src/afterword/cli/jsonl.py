"""Rows of a user's JSON Lines file, read with errors that name file, line and field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from afterword.errors import InputError
from afterword.files import read_bounded

MAX_FILE_MB = 512


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a file, and where it stands."""

    values: dict[str, object]
    file: Path
    line: int


def read_rows(file: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file, in order; blank lines are passed over.

    Raises:
        InputError: the file cannot be read, holds no row, or a line is not a JSON object.
    """
    try:
        lines = read_bounded(file, MAX_FILE_MB).decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; check the path", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8 text, found byte {error.start} of another encoding", file=file) from None
    found = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = True
        try:
            values = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"expected one JSON object a line, found {error}", file=file, line=number) from None
        if not isinstance(values, dict):
            raise InputError(f"expected a JSON object, found {type(values).__name__}", file=file, line=number)
        yield Row(values, file, number)
    if not found:
        raise InputError("expected one JSON object a line, found an empty file", file=file)


def field(row: Row, name: str) -> str:
    """A text field that must be there."""
    value = optional_field(row, name)
    if value is None:
        raise InputError(f"expected the field {name!r}, found {sorted(row.values)}", file=row.file, line=row.line)
    return value


def row_id(row: Row) -> str:
    """The row's `id`, a text or a number."""
    value = row.values.get("id")
    return str(value) if type(value) is int else field(row, "id")


def optional_field(row: Row, name: str) -> str | None:
    """A text field that may be missing or null."""
    value = row.values.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(
            f"expected text in the field {name!r}, found {type(value).__name__}", file=row.file, line=row.line
        )
    return value

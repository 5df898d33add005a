"""Files of a user, read up to a bound: a device or a wrong path must not fill the memory.

Apart from those who read them, which are families, models and the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from afterword.errors import InputError

MEGABYTE = 1 << 20
MOST_LINE_CHARS = 16_000_000
MOST_ID_CHARS = 200


def read_bounded(path: Path, max_mb: int) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: it is larger than `max_mb`.
        OSError: it cannot be read.
    """
    limit = max_mb * MEGABYTE
    with path.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"the file is too large; expected at most {max_mb} MB, is it the right one?", file=path)
    return data


def refuse_unfit_id(name: str) -> None:
    """Refuses an id that cannot stand in a list, a file name or a journal.

    Raises:
        InputError: it is no short line of printable text.
    """
    if not name.isprintable() or len(name) > MOST_ID_CHARS:
        raise InputError(f"the id must be one short line of text, found {name!r:.80}; change it")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a JSON Lines file with their line numbers, each read when asked for; blank lines are skipped.

    Raises:
        InputError: the file cannot be read, holds no object, or a line is something else; the message names it.
    """
    found = False
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(_bounded(lines, path), start=1):
                if line.strip():
                    found = True
                    yield number, _object(line, path, number)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}; check the path", file=path) from None
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 text, found other bytes; save it as UTF-8", file=path) from None
    if not found:
        raise InputError("expected one JSON object a line, found an empty file", file=path)


def _bounded(lines: TextIO, path: Path) -> Iterator[str]:
    number = 0
    while line := lines.readline(MOST_LINE_CHARS + 1):
        number += 1
        if len(line) > MOST_LINE_CHARS:
            raise InputError(f"a line has at most {MOST_LINE_CHARS:,} characters; shorten it", file=path, line=number)
        yield line


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant}, which is no number of JSON; write it as a text")


def _object(line: str, path: Path, number: int) -> dict[str, object]:
    try:
        values: object = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected one JSON object a line, found {error}", file=path, line=number) from None
    if not isinstance(values, dict):
        raise InputError(f"expected a JSON object, found {type(values).__name__}", file=path, line=number)
    return values

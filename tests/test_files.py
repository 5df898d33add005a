"""Files of a user: read up to a bound, line by line, with errors that name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.files import MOST_LINE_CHARS, json_lines


def test_objects_come_with_their_line_numbers_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes('\ufeff{"a": 1}\r\n\n  \n{"b": "\u2028"}'.encode())
    assert list(json_lines(file)) == [(1, {"a": 1}), (4, {"b": "\u2028"})]


def test_what_stands_before_a_broken_line_is_given(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n{"a": \n')
    rows = json_lines(file)
    assert next(rows) == (1, {"a": 1})
    with pytest.raises(InputError, match=r"rows.jsonl:2: expected one JSON object a line"):
        next(rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found an empty file"),
        (b"\n \n", "found an empty file"),
        (b"[1]", "rows.jsonl:1: expected a JSON object, found list"),
        (b'{"a": "\xff"}', "expected UTF-8 text"),
        (b'{"a": NaN}', "rows.jsonl:1: expected one JSON object a line, found NaN, which is no number of JSON"),
        (b"[" * 100_000, "rows.jsonl:1: expected one JSON object a line"),
        (b'{"a": 1}\n"' + b"x" * MOST_LINE_CHARS + b'"', "rows.jsonl:2: a line has at most 16,000,000 characters"),
    ],
    ids=["empty", "blank", "a list", "other bytes", "no number", "deep", "a line without end"],
)
def test_whatever_is_wrong_is_told(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(json_lines(file))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(InputError, match="cannot be read"):
            list(json_lines(path))

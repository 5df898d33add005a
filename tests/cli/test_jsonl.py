from pathlib import Path

import pytest

from afterword.cli.jsonl import field, optional_field, read_rows
from afterword.errors import InputError


def write(folder: Path, text: str) -> Path:
    file = folder / "rows.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_rows_come_with_their_line_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    rows = list(read_rows(write(tmp_path, '{"id": "a"}\n\n{"id": "b"}\n')))
    assert [(field(row, "id"), row.line) for row in rows] == [("a", 1), ("b", 3)]


def test_broken_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows\.jsonl:2: expected one JSON object a line"):
        list(read_rows(write(tmp_path, '{"id": "a"}\n{"id": \n')))


def test_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows\.jsonl:1: expected a JSON object, found list"):
        list(read_rows(write(tmp_path, "[1]\n")))


def test_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty file"):
        list(read_rows(write(tmp_path, "\n")))


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(tmp_path / "none.jsonl"))


def test_missing_field_is_named_with_its_line(tmp_path: Path) -> None:
    row = next(read_rows(write(tmp_path, '{"id": "a"}\n')))
    with pytest.raises(InputError, match=r"rows\.jsonl:1: expected the field 'reply'"):
        field(row, "reply")
    assert optional_field(row, "reply") is None


def test_field_of_another_type_is_refused(tmp_path: Path) -> None:
    row = next(read_rows(write(tmp_path, '{"id": 3}\n')))
    with pytest.raises(InputError, match="expected text in the field 'id', found int"):
        field(row, "id")


def test_unicode_line_separators_inside_a_string_do_not_split_the_row(tmp_path: Path) -> None:
    rows = list(read_rows(write(tmp_path, '{"id": "a\u2028b"}\n')))
    assert field(rows[0], "id") == "a\u2028b"

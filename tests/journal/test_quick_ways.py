"""The quick ways of the journal give what the plain ones do: times by themselves, rows many at a step."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.journal.database import open_database
from afterword.journal.encoding import decode, encode
from afterword.journal.statements import Row, Statements


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_time_comes_back_as_it_was(seconds: float) -> None:
    text, kept = encode(seconds, float)
    back = decode(text, float)
    assert (repr(back), repr(kept)) == (repr(seconds), repr(seconds))


def test_a_whole_number_where_a_time_is_due_becomes_one() -> None:
    text, kept = encode(3, float)
    assert (repr(kept), repr(decode(text, float))) == ("3.0", "3.0")


@pytest.mark.parametrize("seconds", [float("inf"), float("-inf"), float("nan")])
def test_a_time_that_is_no_number_is_kept_too(seconds: float) -> None:
    text, kept = encode(seconds, float)
    assert repr(kept) == repr(decode(text, float)) == repr(seconds)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 63, 64, 65, 150])
def test_so_many_rows_are_inserted_each_once_and_in_order(tmp_path: Path, number: int) -> None:
    place = tmp_path / "journal.sqlite"
    database = open_database(place, fsync=False, create=True)
    note = Statements.of(database).note
    rows: list[Row] = [(1, at, at / 2, "some", f"task {at}", f"text {at}") for at in range(number)]
    connection = sqlite3.connect(place)
    note.insert_at_once(connection, rows)
    note.insert_at_once(connection, rows[:5])  # repeated, as after a lost connection
    found = connection.execute('SELECT run, number, "at", kind, task, text FROM notes ORDER BY number').fetchall()
    connection.close()
    database.engine.dispose()
    assert found == rows

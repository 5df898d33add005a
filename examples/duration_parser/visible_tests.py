"""What the agent is judged by while it tries. A repeated unit is in the instructions, but not here."""

import pytest
from solution import parse_duration


def test_hours_and_minutes():
    assert parse_duration("1h30m") == 5400


def test_seconds():
    assert parse_duration("45s") == 45


def test_minutes():
    assert parse_duration("90m") == 5400


def test_all_units():
    assert parse_duration("2h5m10s") == 7510


def test_bare_integer():
    assert parse_duration("120") == 120


def test_unparsable():
    with pytest.raises(ValueError):
        parse_duration("soon")

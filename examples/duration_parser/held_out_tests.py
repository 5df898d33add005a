"""What decides in the end: judged once, after the loop."""

import pytest
from solution import parse_duration


def test_one_hour():
    assert parse_duration("1h") == 3600


def test_minutes_and_seconds():
    assert parse_duration("10m5s") == 605


def test_hours_and_seconds():
    assert parse_duration("1h1s") == 3601


def test_large_number():
    assert parse_duration("100h") == 360000


def test_no_time_at_all():
    assert parse_duration("0s") == 0


def test_bare_zero():
    assert parse_duration("0") == 0


def test_empty():
    with pytest.raises(ValueError):
        parse_duration("")


def test_unit_without_number():
    with pytest.raises(ValueError):
        parse_duration("h")


def test_unknown_unit():
    with pytest.raises(ValueError):
        parse_duration("5d")


def test_negative():
    with pytest.raises(ValueError):
        parse_duration("-5s")


def test_number_left_over():
    with pytest.raises(ValueError):
        parse_duration("1h30")


def test_repeated_unit():
    with pytest.raises(ValueError):
        parse_duration("1h1h")

"""How numbers and names are put."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.experiments.report.wording import (
    counted,
    duration,
    interval,
    name_of,
    names_of,
    number,
    p_value,
    percent,
    points,
    share,
    signed,
    times,
    usd,
)
from afterword.intervals import Estimate


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.614, "61 %"),
        (0.004, "0.4 %"),
        (0.996, "99.6 %"),
        (0.0004, "<0.1 %"),
        (0.9996, ">99.9 %"),
        (None, "—"),
    ],
)
def test_few_is_not_none_and_most_is_not_all(value: float | None, told: str) -> None:
    assert percent(value) == told


def test_intervals_differences_and_points() -> None:
    assert interval(Estimate(0.5, 0.25, 0.75, 8)) == "25 to 75"
    assert share(Estimate(0.5, 0.25, 0.75, 8)) == "50 % (25 to 75)"
    assert share(Estimate(None, 0.0, 1.0, 0)) == "—"
    assert signed(Estimate(0.12, -0.03, 0.27, 8)) == "+12 (\N{MINUS SIGN}3 to 27)"
    assert signed(Estimate(0.0, -0.1, 0.1, 8)) == "0 (\N{MINUS SIGN}10 to 10)"
    assert signed(Estimate(None, -1.0, 1.0, 0)) == "—"
    assert (points(0.01), points(-0.12), points(0.004)) == ("1 point", "12 points", "0.4 points")


@pytest.mark.parametrize(
    ("p", "told"),
    [(1e-9, "p < .001"), (0.012, "p = .012"), (0.05, "p = .05"), (0.3, "p = .30"), (1.0, "p = 1")],
)
def test_a_p_value_is_never_nothing(p: float, told: str) -> None:
    assert p_value(p) == told


def test_prices() -> None:
    assert times(1.42, "tokens") == "at 1.4 times the tokens"
    assert times(1.02, "tokens") == "at about the same tokens"
    assert times(31.4, "tokens") == "at 31 times the tokens"
    assert times(None, "tokens") == ""
    assert (usd(None), usd(0.0), usd(0.00001), usd(0.0042), usd(1234.5)) == (
        "unknown",
        "$0",
        "<$0.0001",
        "$0.0042",
        "$1,234.50",
    )
    assert (usd(0.000442), usd(0.00038)) == ("$0.00044", "$0.00038")
    assert (number(None), number(3120.4), number(2.44), number(3.0)) == ("—", "3,120", "2.4", "3")
    assert (duration(None), duration(2.44), duration(185.0), duration(7800.0)) == (
        "—",
        "2.4 s",
        "3 min 5 s",
        "2 h 10 min",
    )
    assert (counted(1, "task"), counted(1200, "task")) == ("1 task", "1,200 tasks")


@given(st.text())
def test_a_name_is_one_short_line_without_anything_hidden(text: str) -> None:
    name = name_of(text)
    assert 0 < len(name) <= 40
    assert name.isprintable() or "\N{REPLACEMENT CHARACTER}" in name or " " in name
    assert "\n" not in name
    assert "\x1b" not in name


def test_a_long_name_keeps_its_ends() -> None:
    assert name_of("reflexion with a strong reflector and a window of three", 20) == "reflexion wi…f three"


def test_names_are_cut_no_further_than_they_can_be_told_apart() -> None:
    names = ["reflexion, three lessons", "reflexion, seven lessons", "retry"]
    short = names_of(names, 18)
    assert len(set(short.values())) == 3
    assert short["retry"] == "retry"
    assert names_of(names[1:], 18)["reflexion, seven lessons"] == "reflexion, …essons"

"""How numbers and names are put for a person: rounded alike in a sentence, a table and a plot.

Names come from files and models, so they are made plain and short here before anything shows them.
"""

from __future__ import annotations

from collections.abc import Iterable

from afterword.core.plain import plain
from afterword.intervals import Estimate

NAME = 40
"""Characters of an arm's name that are shown."""
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
NONE = "\N{EM DASH}"
"""Stands where there is nothing to tell."""


def name_of(text: str, most: int = NAME) -> str:
    """A name on one line, cut in its middle where it is long."""
    line = " ".join(plain(text).split()) or "(no name)"
    if len(line) <= most:
        return line
    head = (most - 1) * 2 // 3
    return f"{line[:head]}…{line[len(line) - (most - 1 - head) :]}"


def names_of(names: Iterable[str], most: int) -> dict[str, str]:
    """Short forms of names, cut no further than they can still be told apart."""
    known = list(dict.fromkeys(names))
    while len(set(short := [name_of(name, most) for name in known])) < len(set(known)) and most < max(map(len, known)):
        most += 4
    return dict(zip(known, short, strict=True))


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float | None) -> str:
    """`61 %`; near the ends with a decimal, so that few is not none and most is not all."""
    if share is None:
        return NONE
    if 0 < share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= share < 1 else f"{_hundredths(share)} %"


def _hundredths(share: float) -> str:
    value = 100 * share
    near_end = 0 < abs(value) < 1 or 99 < abs(value) < 100
    text = f"{abs(value):.1f}" if near_end else f"{abs(value):.0f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text


def interval(estimate: Estimate) -> str:
    """`53 to 68`, in percent or points."""
    return f"{_hundredths(estimate.low)} to {_hundredths(estimate.high)}"


def share(estimate: Estimate) -> str:
    """`61 % (53 to 68)`."""
    return NONE if estimate.value is None else f"{percent(estimate.value)} ({interval(estimate)})"


def points(difference: float) -> str:
    """`12 points`, without a sign."""
    text = _hundredths(abs(difference))
    return f"{text} point" if text == "1" else f"{text} points"


def signed(estimate: Estimate) -> str:
    """`+12 (3 to 21)`, in points."""
    if estimate.value is None:
        return NONE
    plus = "+" if estimate.value > 0 else ""
    return f"{plus}{_hundredths(estimate.value)} ({interval(estimate)})"


def p_value(p: float) -> str:
    """`p = .012`, never `p = 0`."""
    if p < 0.001:
        return "p < .001"
    return "p = 1" if p > 0.995 else f"p = {p:.2g}".replace("0.", ".") if p < 0.1 else f"p = {p:.2f}".replace("0.", ".")


def times(ratio: float | None, what: str) -> str:
    """`at 1.4 times the tokens`; empty where it is not known."""
    if ratio is None:
        return ""
    if 0.95 <= ratio < 1.05:
        return f"at about the same {what}"
    return f"at {ratio:.2g} times the {what}" if ratio < 10 else f"at {ratio:.0f} times the {what}"


def number(value: float | None) -> str:
    """`3,120`, `2.4`."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def usd(value: float | None) -> str:
    """`$0.0021`; a cost that is not known is not nothing."""
    if value is None:
        return "unknown"
    if value == 0:
        return "$0"
    if value < 0.0001:
        return "<$0.0001"
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}" if value >= 0.01 else f"${value:.2g}"


def duration(seconds: float | None) -> str:
    """`2.4 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds is None:
        return NONE
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"

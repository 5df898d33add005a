"""Text from a model or a program, made safe and short for a terminal.

What comes from outside may hold escape sequences, bidirectional marks or a megabyte; nothing of that may
reach the screen of a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from afterword.core.plain import plain
from afterword.core.records import Feedback, Usage

__all__ = ["counted", "findings", "lessons_of", "money", "plain", "score", "shortened", "spend"]

_GAP = re.compile(r"^(\S+:) +")
"""What a message leaves between a check's id and an indented line."""


def shortened(text: str, characters: int) -> str:
    """One line of at most so many characters, with a mark where it was cut."""
    line = " ".join(part for part in plain(text).replace("\t", " ").split("\n") if part.strip()).strip()
    return line if len(line) <= characters else f"{line[: characters - 1]}…"


def findings(feedback: Feedback) -> list[str]:
    """The lines of a message, without what stands beside them on the screen: the counts and the reason."""
    lines = [_GAP.sub(r"\1 ", line) for line in plain(feedback.message).strip().splitlines()]
    if not lines or not feedback.checks or "checks passed; " not in lines[0]:
        return lines
    why = lines[0].partition(f"; {feedback.reason}")[2].removeprefix(": ")
    return [why, *lines[1:]] if why else lines[1:]


def money(cost_usd: float | None) -> str:
    """A cost for display; an unknown one is not 0."""
    if cost_usd is None:
        return "cost unknown"
    if 0 < cost_usd < 0.0001:
        return "under $0.0001"
    return f"${cost_usd:.4f}" if cost_usd else "$0"


def counted(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def lessons_of(trials: Sequence[int]) -> str:
    """`the lesson of trial 1`, `the lessons of trials 1, 2`."""
    numbers = ", ".join(str(trial) for trial in trials)
    return f"the lesson of trial {numbers}" if len(trials) == 1 else f"the lessons of trials {numbers}"


def spend(usage: Usage) -> str:
    """`3 calls, 1,055 + 115 tokens, $0`."""
    tokens = f"{usage.tokens_in:,} + {usage.tokens_out:,} tokens"
    return f"{counted(usage.calls, 'call')}, {tokens}, {money(usage.cost_usd)}"


def score(feedback: Feedback) -> str:
    """`4/6 checks`; without checks the grade, or passed or failed where there is no grade."""
    if feedback.checks:
        return f"{feedback.checks_passed}/{len(feedback.checks)} checks"
    if feedback.graded or 0 < feedback.score < 1:
        return f"score {feedback.score:.2f}"
    return "passed" if feedback.passed else "failed"

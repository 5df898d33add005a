"""The tests in a model's reply, found line by line whatever stands around them.

Models put asserts into fenced blocks, lists, test functions or plain prose. A linear scan finds where each begins and
ends; what is not a plain assert on the entry point is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from afterword.core.thinking import strip_thinking
from afterword.families.programming.own_tests.plain import MAX_CHARS, OwnTest, read_test
from afterword.families.programming.python_text import blank_strings, find_outside_strings

MAX_REPLY_CHARS = 100_000
_MAX_LINES = 30
_START = re.compile(r"^(?P<before>[ \t>*\-+\d.)`]*)(?=assert[ \t(])")
_COMMENT = re.compile(r"#[^\n]*")
_COMMENT_LINE = re.compile(r"^[ \t>]*#+[ \t]*(?P<text>.*)$")
_DEFINITION = re.compile(r"^[ \t]*def[ \t]+test_?(?P<name>\w*)\(")
_OPEN_TRIPLE = re.compile(r"\"{3}|'{3}")


def read_tests(reply: str, entry_point: str, *, cut: bool = False) -> tuple[OwnTest, ...]:
    """The plain asserts on `entry_point` in a reply, in its order.

    The comment above an assert or behind it is its description. With `cut`, the reply ended at a token limit: an
    assert at its very end is left out, since half a number is a number.
    """
    lines = strip_thinking(reply[:MAX_REPLY_CHARS]).replace("\r\n", "\n").rstrip().split("\n")
    found = []
    for first, last, text, comment in _assertions(lines):
        if cut and last == len(lines) - 1:
            continue
        test = read_test(text, entry_point, comment or _description_above(lines, first))
        if test is not None:
            found.append(test)
    return tuple(found)


def _assertions(lines: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """(first line, last line, statement, comment behind it) of whatever begins like an assert."""
    next_line = 0
    for first, line in enumerate(lines):
        start = _START.match(line)
        if start is None or first < next_line:
            continue
        text = line[start.end() :]
        if "`" in start["before"]:
            text = text.partition("`")[0]
        last = first
        while not _is_complete(text) and last + 1 < min(len(lines), first + _MAX_LINES) and len(text) <= MAX_CHARS:
            last += 1
            text += f"\n{lines[last]}"
        if not _is_complete(text):
            continue
        comment = find_outside_strings(text, _COMMENT, 0) if last == first else None
        if comment is not None:
            text = text[: comment.start()]
        next_line = last + 1
        yield first, last, text.rstrip(), comment.group().lstrip("# ") if comment is not None else ""


def _is_complete(text: str) -> bool:
    """Whether a statement ends here: no bracket is open, no string and no continued line."""
    code = blank_strings(text)
    depth = sum(code.count(mark) for mark in "([{") - sum(code.count(mark) for mark in ")]}")
    open_triple = len(_OPEN_TRIPLE.findall(text)) % 2 == 1
    return depth <= 0 and not open_triple and not code.rstrip().endswith("\\")


def _description_above(lines: list[str], first: int) -> str:
    """The comment lines right above an assert, or the name of the test function that it begins."""
    said: list[str] = []
    for line in reversed(lines[max(0, first - 3) : first]):
        comment = _COMMENT_LINE.match(line)
        if comment is None:
            break
        said.insert(0, comment["text"])
    if not said and first > 0 and (definition := _DEFINITION.match(lines[first - 1])):
        return definition["name"].replace("_", " ").strip()
    return " ".join(said)

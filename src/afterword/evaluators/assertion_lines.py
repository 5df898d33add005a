"""What a test file of any language says it expects, line by line; the leak audit looks for it in prompts."""

from __future__ import annotations

import re

_EXPECTS = re.compile(r"\bassert|\bexpect\w*\(|\bshould\b|assert(?:_\w+)?!", re.IGNORECASE)
MAX_LINES = 500
_MAX_LINE_CHARS = 400
MAX_CHARS = 200_000


def assertion_lines(text: str) -> tuple[str, ...]:
    """The lines that state an expectation, without their indentation; of a very large file only the first ones."""
    lines = (line.strip() for line in text[:MAX_CHARS].splitlines())
    found = [line for line in lines if len(line) <= _MAX_LINE_CHARS and _EXPECTS.search(line)]
    return tuple(found[:MAX_LINES])

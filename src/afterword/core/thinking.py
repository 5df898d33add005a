"""What a reasoning model says to itself, taken out of its reply.

Chat templates leave the thoughts in the text in several forms: a closed block, a block whose opening tag the
template supplied, or a block that was cut. Every family reads replies, so this stands in `core`.
"""

from __future__ import annotations

import re

_NAMES = "think|thinking|thought|thoughts|reasoning|scratchpad"
_TAG = re.compile(
    rf"<(?P<close>/)?(?:{_NAMES})>|\[(?P<close2>/)?THINK\]|◁(?P<close3>/)?think▷",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final(?:[^<\n]*)<\|message\|>")
_OPEN_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")
_END_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end|>", "<|return|>", "</s>", "<end_of_turn>")


def strip_end_of_turn(text: str) -> str:
    """The reply without the special tokens that a server may leave at its end."""
    bare = text.rstrip()
    if not bare.endswith(_END_OF_TURN):
        return text
    while ended := next((token for token in _END_OF_TURN if bare.endswith(token)), None):
        bare = bare.removesuffix(ended).rstrip(" \t")
    return bare


def strip_thinking(text: str) -> str:
    """The reply without its thoughts; empty when the thoughts were cut before the answer began.

    A tag inside a string literal, inline code or a complete fenced block is part of a program and stays.
    """
    text = strip_end_of_turn(text)
    if channels := list(_FINAL_CHANNEL.finditer(text)):
        return text[channels[-1].end() :]
    kept = ""
    position = 0
    opened_at: int | None = None
    place = _Place(text)
    for tag in _TAG.finditer(text):
        place.advance(tag.start())
        closes = any(tag.group(name) for name in ("close", "close2", "close3"))
        if not place.is_structural(tag.end(), inside_thought=opened_at is not None):
            continue
        if not closes and opened_at is None:
            kept += text[position : tag.start()]
            opened_at = tag.start()
        elif closes:
            if opened_at is None:
                kept = ""
            opened_at = None
            position = tag.end()
            place.forget_docstrings()
    return kept if opened_at is not None else kept + text[position:]


class _Place:
    """Where in a reply the scan stands: in a fence, a docstring, a string. Moves forward only, so it is linear."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._docstring_quotes = [0, 0]
        self._line_quotes = [0, 0, 0]
        self._fences = _closed_fences(text)

    def advance(self, position: int) -> None:
        """Moves to `position`, counting the quotes on the way."""
        piece = self._text[self._at : position]
        for index, mark in enumerate(('"""', "'''")):
            self._docstring_quotes[index] += piece.count(mark)
        if "\n" in piece:
            piece = piece.rpartition("\n")[2]
            self._line_quotes = [0, 0, 0]
        counts = (piece.count('"'), piece.count("`"), len(_OPEN_QUOTE.findall(piece)))
        self._line_quotes = [old + new for old, new in zip(self._line_quotes, counts, strict=True)]
        self._at = position
        while self._fences and self._fences[-1][1] <= position:
            self._fences.pop()

    def forget_docstrings(self) -> None:
        """What a thought left open does not reach the answer."""
        self._docstring_quotes = [0, 0]

    def is_structural(self, end: int, *, inside_thought: bool) -> bool:
        """Whether a tag from here to `end` bounds a thought, and is not part of a program."""
        if any(count % 2 for count in self._line_quotes):
            return False
        if inside_thought:
            return True
        if any(count % 2 for count in self._docstring_quotes):
            return False
        if not self._fences or self._fences[-1][0] > self._at:
            return True
        # A thought may leave its fence open; then the tag stands alone at the left edge.
        text = self._text
        line_end = text.find("\n", end)
        at_edge = self._at == 0 or text[self._at - 1] == "\n"
        return at_edge and not text[end : line_end if line_end >= 0 else len(text)].strip()


def _closed_fences(text: str) -> list[tuple[int, int]]:
    """Where the complete fenced blocks lie, by line-opening fences alone; the last one first."""
    spans = []
    start: int | None = None
    mark = ""
    for match in _FENCE.finditer(text):
        run, info = match.group(1), match.group(2).strip()
        if start is None:
            start, mark = match.start(), run
        elif run[0] == mark[0] and len(run) >= len(mark) and not info:
            spans.append((start, match.end()))
            start = None
    return spans[::-1]

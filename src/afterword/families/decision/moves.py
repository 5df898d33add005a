"""From a model's reply to what it does next: at most one thought and one action.

Models wrap their move in labels, prompts and quotes, give several at once, and invent the world's answers. The first
action counts, and nothing that follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from afterword.core.thinking import strip_thinking
from afterword.families.decision.play import NOTED

MAX_MOVE_CHARS = 1_000
_MAX_LINE_CHARS = 4 * MAX_MOVE_CHARS
"""Of a longer line the rest is not looked at: a move is shorter, with all that may stand around it."""

_LABEL = re.compile(
    r"\A(?:[>*$#\-\s]|\d+[.)]\s)*(?P<label>think|thought|thinking|reasoning|action|act|command|next action|next)?"
    r"(?:\s+\d+)?\s*(?P<colon>:)?\s*",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"\A(?:[>$\s]+|[-*]\s|\d+[.)]\s)+")
_ANSWER = re.compile(r"\A\s*(?:\||(?:observation|obs|result|response|output)(?:\s+\d+)?\s*:)", re.IGNORECASE)
_THOUGHTS = frozenset({"think", "thought", "thinking", "reasoning"})
_BRACKETED_THOUGHT = re.compile(r"\A(?:think|thought)\s*\[(.*)\]\s*\Z", re.IGNORECASE)
_INLINE_ACTION = re.compile(r"(?<=\S)\s+(?:next )?(?:action|act)(?:\s+\d+)?\s*:\s*(?=\S)", re.IGNORECASE)
"""An action behind a thought in one line."""
_QUOTES = "`'\"*"


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a trial."""

    kind: Literal["thought", "action"]
    text: str


def read_moves(reply: str) -> tuple[Move, ...]:
    """The moves of a reply: a thought, an action, or a thought and the action after it; none if it says nothing."""
    thought: list[str] = []
    for line, more in _lines(reply):
        if _ANSWER.match(line):
            break  # what follows is invented
        if not line.strip() or set(line.strip()) <= {"`", "~", "-"} or re.match(r"\s*(?:```|~~~)", line):
            continue
        move = _read_line(line)
        if not move.text:
            continue
        if move.kind == "action":
            if more and (move.text == NOTED or move.text.endswith(":")):
                continue  # the world's answer to a thought, or words that lead up to the move
            return (*_thought(thought), move)
        thought.append(move.text)
    return _thought(thought)


def _lines(reply: str) -> list[tuple[str, bool]]:
    """The lines, each with whether there is more behind it; a thought and its action in one line are two."""
    lines: list[str] = []
    for line in strip_thinking(reply).replace("\r\n", "\n").strip().split("\n"):
        label = _LABEL.match(line[:_MAX_LINE_CHARS])
        thinks = label is not None and bool(label["colon"]) and (label["label"] or "").lower() in _THOUGHTS
        inline = _INLINE_ACTION.search(line, 0, _MAX_LINE_CHARS) if thinks else None
        lines += [line] if inline is None else [line[: inline.start()], line[inline.end() :]]
    return [(line, number < len(lines)) for number, line in enumerate(lines, start=1)]


def _thought(lines: list[str]) -> tuple[Move, ...]:
    return (Move("thought", " ".join(lines)[:MAX_MOVE_CHARS]),) if lines else ()


def _read_line(line: str) -> Move:
    line = line[:_MAX_LINE_CHARS]
    label = _LABEL.match(line)
    named = (label["label"] or "").lower() if label is not None and label["colon"] else ""
    text = line[label.end() :] if label is not None and named else _PROMPT.sub("", line)
    text = _bare(text)
    if (bracketed := _BRACKETED_THOUGHT.match(text)) is not None:
        return Move("thought", bracketed[1].strip())
    if named == "action" and text.lower().startswith(("think:", "thought:")):
        named, text = "think", text.partition(":")[2].strip()
    return Move("thought" if named in _THOUGHTS else "action", text[:MAX_MOVE_CHARS])


def _bare(text: str) -> str:
    """Without the quotes or emphasis around the whole; a full stop within them goes as well."""
    text = text.strip()
    while len(text) > 1 and text[0] in _QUOTES and text[-1] == text[0]:
        text = text[1:-1].strip()
    return text.strip("*").strip() if text.startswith("**") else text

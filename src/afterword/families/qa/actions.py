"""What a reply of a ReAct actor means: its thought and its first action.

Models number their steps, forget brackets, write in lower case, go on with an observation of their own making, or take
several steps at once. The first action counts and all behind it is cut; what cannot be read is told apart by a problem
that says what to write instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from afterword.core.bounds import cut_end
from afterword.core.thinking import strip_thinking

ActionName = Literal["Search", "Lookup", "Finish"]

FORMS = "Search[title], Lookup[word] or Finish[answer]"
MAX_ARGUMENT_CHARS = 1_000
_MAX_RAW_CHARS = 300

_NAMES: dict[str, ActionName] = {"search": "Search", "lookup": "Lookup", "finish": "Finish"}
_WIDE = str.maketrans("\uff3b\uff3d\uff1a", "[]:")
"""Brackets and colon of full width, as models for Chinese and Japanese write them."""
_OBSERVATION = re.compile(r"^[^\w\n]{0,6}observation[*_ ]{0,3}\d{0,3}[*_]{0,3}\s?:", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(
    r"(?:^[^\w\n]{0,6}|(?<=[.!?\])])[ \t]{1,4})action[*_ ]{0,3}\d{0,3}[*_]{0,3}\s?:[*_` \t]{0,6}",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_AT_END = re.compile(
    r"(?:\b(?:action|act)[*_ ]{0,3}\d{0,3}[*_]{0,3}\s?:|(?:\A|\n)[ \t]*(?:[-*>]|\d{1,3}[.)]))[*_`\s]{0,6}\Z",
    re.IGNORECASE,
)
"""What leads up to an action in the middle of a line, or numbers it."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_THOUGHT = re.compile(r"^[^\w\n]{0,6}thought[*_ ]{0,3}\d{0,3}[*_]{0,3}\s?:[*_ ]{0,4}", re.IGNORECASE)
_KNOWN = re.compile(r"\b(search|look[ -]?up|finish)[*_`]{0,3}[ ]?\[", re.IGNORECASE)
_OTHER = re.compile(r"\b([A-Za-z]\w{0,30})[ ]?\[")
_BREAK = re.compile(r"\n\s*\n|\n[^\w\n]{0,6}(?:thought|action)\b", re.IGNORECASE)
_NOTHING = frozenset(" .\"'`*_")
"""With these alone, and what cannot be seen, an argument is empty."""
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "*": "*", "_": "_", "«": "»"}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do."""

    name: ActionName
    argument: str

    def __str__(self) -> str:
        return f"{self.name}[{self.argument}]"


@dataclass(frozen=True, slots=True)
class Move:
    """What a reply says: a thought, and an action or why there is none."""

    thought: str
    action: Action | None
    raw: str
    """The action as it was written, in one line, shortened; empty where nothing was."""
    problem: str = ""
    """What is wrong and what to write instead; empty where there is an action."""


def read_move(reply: str, *, cut: bool = False) -> Move:
    """The thought and the first action of a reply. `cut` says that the reply was cut at the token limit."""
    text = _FENCE.sub("", strip_thinking(reply).translate(_WIDE).replace("\r\n", "\n")).strip()
    invented = _OBSERVATION.search(text)
    if invented:
        text, cut = text[: invented.start()], False
    label = _LABEL.search(text)
    if label is None:
        known = _KNOWN.search(text)
        start = known.start() if known else len(text)
        move = _move(_LABEL_AT_END.sub("", text[:start]), text[start:], cut=cut)
    else:
        move = _move(text[: label.start()], text[label.end() :], cut=cut)
    if invented and move.action is None and not move.raw:
        return replace(move, problem=f"There was no action before the observation, which is not yours: write {FORMS}.")
    return move


def _move(thought: str, rest: str, *, cut: bool) -> Move:
    line = rest.strip().split("\n", 1)[0]
    raw = cut_end(" ".join(line.split()), _MAX_RAW_CHARS)
    said = " ".join(_THOUGHT.sub("", thought.strip()).split())
    known = _KNOWN.search(rest, 0, rest.find(line) + len(line)) if line else None
    if known is None:
        return Move(said, None, raw, _no_action(line, said))
    name = _NAMES[re.sub(r"[ -]", "", known[1].lower())]
    argument, closed = _argument(rest[known.end() :])
    if cut and not closed:
        return Move(said, None, raw, f"The reply was cut before the action ended. Think in fewer words, then {FORMS}.")
    if name != "Finish":
        argument = _unquoted(argument[: 4 * MAX_ARGUMENT_CHARS])
    if not any(char.isprintable() and char not in _NOTHING for char in argument):
        return Move(said, None, raw, f"{name}[] is empty. Write what is meant between the brackets: {FORMS}.")
    return Move(said, Action(name, argument[:MAX_ARGUMENT_CHARS]), raw)


def _no_action(line: str, thought: str) -> str:
    other = _OTHER.search(line)
    if other:
        return f"There is no action {other[1]}. Use one of {FORMS}."
    if line:
        return f"The action has no brackets. Write it as {FORMS}."
    if thought:
        return f"There was no action. After the thought write a line like `Action: {FORMS.split(',')[0]}`: {FORMS}."
    return f"The reply was empty. Write a thought and then one action: {FORMS}."


def _argument(text: str) -> tuple[str, bool]:
    """What stands in the brackets, up to the one that closes them, and whether one does."""
    ahead = text[: found.start()] if (found := _BREAK.search(text)) else text
    depth = 1
    for place, char in enumerate(ahead):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            return " ".join(ahead[:place].split()), True
    line = ahead.split("\n", 1)[0]
    inner, bracket, _ = line.rpartition("]")
    return " ".join((inner if bracket else line).split()), bool(bracket)


def _unquoted(argument: str) -> str:
    while len(argument) > 1 and _QUOTES.get(argument[0]) == argument[-1]:
        argument = argument[1:-1].strip()
    return argument

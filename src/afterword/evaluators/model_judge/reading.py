"""Reading a judge's reply: one JSON object with a verdict, or nothing that counts.

Nothing is guessed in favour of the attempt: a pass needs the structure, a reply that says two things says none, and
"does NOT pass" is a fail however it is put.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from afterword.core.bounds import cut
from afterword.core.thinking import strip_thinking

MAX_REPLY_CHARS = 20_000
MAX_REASON_CHARS = 800
_MAX_OBJECTS = 50
_MAX_PHRASE = 300

_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[^\n]*\n(?P<body>[\s\S]*?)\n?\1\s*\Z")
_PASS = frozenset({"pass", "passes", "passed", "passing", "yes", "true"})
_NOT_PASSING = re.compile(
    r"\b(?:not|never|cannot|can't|doesn't|didn't|don't|won't|isn't|fails? to|failed to|unable to)\b"
    r"(?:\s+(?!(?:and|or|so|but|thus|therefore|hence|which|it|that)\b)[\w'-]+){0,4}\s+pass(?:es|ed|ing)?\b",
    re.IGNORECASE,
)
"""A negation that governs `pass`: "does not crash and passes" and "has no errors, not one, so it passes" are none."""
_FAIL = re.compile(
    r"(?:it |the (?:attempt|answer|output|program) )?(?:fail(?:s|ed|ure|ing)?|no|false|rejected)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reply says of the attempt."""

    passed: bool
    reason: str


class _Twice(ValueError):
    """A key stands twice in one object."""


def read_judgement(text: str) -> Judgement | None:
    """The verdict of a reply, or None where it gives none that can be relied on."""
    if len(text) > MAX_REPLY_CHARS:
        return None
    said = strip_thinking(text).strip()
    if (fenced := _FENCE.match(said)) is not None:
        said = fenced["body"].strip()
    try:
        objects, around = _objects_in(said)
    except (_Twice, RecursionError):
        return None
    judged = [found for found in objects if "verdict" in found]
    if not judged:
        return Judgement(False, cut(said, MAX_REASON_CHARS)) if _is_negative(said) else None
    verdicts = {_verdict_of(found["verdict"]) for found in judged}
    if len(verdicts) > 1 or None in verdicts:
        return None
    passed = verdicts.pop() is True
    reason = cut(str(judged[-1].get("reason") or "").strip(), MAX_REASON_CHARS)
    if passed and (_NOT_PASSING.search(_straight(reason)) or _NOT_PASSING.search(_straight(around))):
        return None  # it says two things
    return Judgement(passed, reason)


def _objects_in(text: str) -> tuple[list[dict[str, object]], str]:
    """The outermost JSON objects of a text, and the text around them.

    Raises:
        _Twice: one of them has a key twice.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_each_once)
    found: list[dict[str, object]] = []
    around = ""
    position = 0
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", position)
        if start < 0:
            break
        around += text[position:start]
        try:
            value, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            around += "{"
            position = start + 1
            continue
        found.append(value)
    return found, around + text[position:]


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _verdict_of(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    word = value.strip(" \t\n.!*_`'\"").lower()
    return True if word in _PASS else False if _is_negative(value) else None


def _is_negative(text: str) -> bool:
    """Whether a short text says that the attempt does not pass, and nothing else."""
    if len(text) > _MAX_PHRASE:
        return False
    phrase = _straight(text).strip(" \t\n.!*_`'\"")
    return _FAIL.fullmatch(phrase) is not None or _NOT_PASSING.search(phrase) is not None


def _straight(text: str) -> str:
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("*", "").replace("_", "")

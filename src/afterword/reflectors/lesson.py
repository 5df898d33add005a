"""Reading a reflector's reply: the lesson, what it retracts, and which check it disputes.

Weak models wrap their lesson in headings, quotes, bullets, fences or JSON. All of that is taken off here; nothing in a
reply can make the reading fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from afterword.core.thinking import strip_thinking

MAX_REPLY_CHARS = 20_000

_FENCED = re.compile(r"\A(?:`{3,}|~{3,})(?P<language>[^\n`]*)\n(?P<body>[\s\S]*?)\n?(?:`{3,}|~{3,})?\s*\Z")
_OPENING = re.compile(
    r"\A\W*(?:here(?:'s| is)[^\n:]{0,60}"
    r"|(?:my |the )?(?:lesson|reflection|self-reflection)(?:\s+(?:of|from|for)\s+trial\s+\d+)?(?:\s*\(trial\s+\d+\))?)"
    r"\s*[*_]{0,3}:[*_\s]{0,6}",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"(?:^(?:[^\w\n]|_){0,12}(?i:(?P<kind>retract|dispute)s?(?:ed)?)[\W_]{0,3}?:"
    r"|(?<![\w])[*_`(\[]{0,3}(?P<upper>RETRACT|DISPUTE)S?[*_`]{0,3}:)"
    r"[*_` \t]*(?P<value>[^\n]*?)(?=(?<!\w)[*_`(\[]{0,3}(?:RETRACT|DISPUTE)S?[*_`]{0,3}:|$)",
    re.MULTILINE,
)
_BULLET = re.compile(r"\A\s*(?:[-*+•]\s+|\(?\d{1,2}[.)]\s+|#{1,6}\s+)")
_NOTHING = re.compile(r"\W*(?:none|n/?a|nothing|null|no lessons?|no checks?|empty)?\W*\Z", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a reply says, before it is compared with the trial."""

    text: str
    retracts: tuple[int, ...] = ()
    """The trial numbers that it names."""
    disputes: str = ""
    """What it wrote behind DISPUTE; empty when it disputes nothing."""


def read_lesson(reply: str) -> Lesson:
    """The lesson in a reply; its text is empty when there is none."""
    text = strip_thinking(reply[:MAX_REPLY_CHARS].replace("\r\n", "\n")).strip()
    fenced = _FENCED.match(text)
    if fenced and "```" not in fenced["body"] and fenced["language"].strip().lower() not in {"python", "py", "python3"}:
        text = fenced["body"].strip()
    lesson = _from_json(text)
    return lesson if lesson is not None else _from_text(text)


def directives_in(texts: Iterable[str]) -> Lesson:
    """The retractions and disputes that stand in what a reflector was shown, where a program may have printed them."""
    found = [_from_text(text[:MAX_REPLY_CHARS]) for text in texts]
    retracts = _unique([number for lesson in found for number in lesson.retracts])
    return Lesson("", retracts, "\n".join(lesson.disputes for lesson in found if lesson.disputes))


def _from_text(text: str) -> Lesson:
    retracts: list[int] = []
    disputes = ""
    for directive in _DIRECTIVE.finditer(text):
        value = directive["value"].strip()
        if (directive["kind"] or directive["upper"]).lower() == "retract":
            retracts.extend(_numbers(value))
        elif not _says_nothing(value):
            disputes = disputes or value
    return Lesson(_tidy(_DIRECTIVE.sub("", text)), _unique(retracts), disputes)


def _from_json(text: str) -> Lesson | None:
    if not text.startswith("{"):
        return None
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields: dict[str, object] = {str(key).lower().rstrip("s"): item for key, item in value.items()}
    body = next(
        (fields[key] for key in ("lesson", "reflection", "text", "message") if isinstance(fields.get(key), str)), None
    )
    if not isinstance(body, str):
        return None
    inner = _from_text(body)
    retract, dispute = fields.get("retract"), fields.get("dispute")
    named = dispute if isinstance(dispute, str) and not _says_nothing(dispute) else ""
    return Lesson(inner.text, _unique([*inner.retracts, *_numbers(str(retract or ""))]), inner.disputes or named)


def _tidy(text: str) -> str:
    """Plain running text: without headings, bullets, emphasis and quotes around the whole."""
    text = _OPENING.sub("", text.strip()).strip()
    if _says_nothing(text):
        return ""
    if "```" in text or "~~~" in text:
        return text  # code in it is a problem of shape, to be named and not to be hidden
    lines = []
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        plain = (line[bullet.end() :] if bullet else line).replace("**", "").strip()
        if bullet and plain and plain[-1].isalnum():
            plain += "."
        if plain:
            lines.append(plain)
    whole = "\n".join(lines)
    first, last = whole[:1], whole[-1:]
    if len(whole) > 1 and _QUOTES.get(first) == last and first not in whole[1:-1] and last not in whole[1:-1]:
        whole = whole[1:-1].strip()
    return whole


def _says_nothing(text: str) -> bool:
    return not text.strip() or (len(text) <= 40 and _NOTHING.match(text) is not None)


def _numbers(value: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"(?<![\w.])\d{1,6}(?![\w.]\d)", value[:200])]


def _unique(numbers: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))


def match_check(named: str, check_ids: tuple[str, ...]) -> str | None:
    """The check that a reply means: the longest id that it names, or the one id that the named text abbreviates."""
    plain = named.strip(" `*_\"'.,;")
    mentioned = [name for name in check_ids if re.search(rf"(?<![\w]){re.escape(name)}(?![\w\[])", plain)]
    if mentioned:
        return max(mentioned, key=len)
    words = plain.split()
    word = words[0].strip("`*\"'.,;()") if words else ""
    partial = [name for name in check_ids if word and re.split(r"::|\[", name)[-1 if "::" in name else 0] == word]
    return partial[0] if len(partial) == 1 else None

"""Whether a lesson names a planted bug. The rule is mechanical, so that two people get the same count.

A lesson *names* the bug if it gives its line number or quotes what stands there, and *gives the fix* if it quotes what
should stand there: with the neighbouring tokens that tell the place from others, whatever the spacing and the kind of
quotation marks. Quoting both what is and what should be in one sentence is both. Giving the fix is naming, too. It only
*points* at the bug if one of its sentences has every name that stands in the changed place.
"""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass

from afterword.experiments.exam.planting import Fragment, PlantedBug
from afterword.reflectors.shape import sentences

_LINE = re.compile(r"\blines?\s*#?\s*(\d+)(?:\s*(?:-|to|and)\s*(\d+))?", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_NOT_NAMES = frozenset(keyword.kwlist) | frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Naming:
    """How a lesson names a bug."""

    line: bool = False
    place: bool = False
    """It quotes what stands there."""
    fix: bool = False
    """It quotes what should stand there."""
    names: bool = False
    """It has the names of the place in one sentence."""

    @property
    def named(self) -> bool:
        return self.line or self.place or self.fix

    @property
    def pointed(self) -> bool:
        """Named, or at least pointed at."""
        return self.named or self.names


def naming(lesson: str, bug: PlantedBug) -> Naming:
    """How a lesson names this bug."""
    plain = lesson.replace("`", " ")
    parts = sentences(lesson)
    both = any(_quotes_both(part, bug.changed) for part in parts)
    return Naming(
        line=_gives_line(lesson, bug.lines),
        place=both or _quotes(plain, bug.wrong),
        fix=both or _quotes(plain, bug.fix),
        names=any(_has_names(part, bug) for part in parts),
    )


def _quotes(lesson: str, fragment: Fragment) -> bool:
    return bool(fragment.tokens) and _pattern(fragment).search(lesson) is not None


def _gives_line(lesson: str, lines: tuple[int, ...]) -> bool:
    for found in _LINE.finditer(lesson):
        first = int(found[1][:9])
        last = int(found[2][:9]) if found[2] else first
        if last - first <= 2 and any(first <= line <= last for line in lines):
            return True
    return False


def _pattern(fragment: Fragment) -> re.Pattern[str]:
    text = r"\s*".join("[\"']" if token in ("'", '"') else re.escape(token) for token in fragment.tokens)
    before = r"(?<![\w.])" if fragment.tokens[0][0].isalnum() else ""
    after = r"(?!\w)" if fragment.tokens[-1][-1].isalnum() else ""
    return re.compile(before + text + after)


def _quotes_both(sentence: str, changed: tuple[str, str]) -> bool:
    was, should = ("".join(text.split()) for text in changed)
    if not was or not should:
        return False
    quoted = {"".join(next(filter(None, found.groups())).split()) for found in _QUOTED.finditer(sentence)}
    return was in quoted and should in quoted


def _has_names(sentence: str, bug: PlantedBug) -> bool:
    entry_point = str(bug.task.inputs.get("entry_point", ""))
    names = {token for token in (*bug.wrong.tokens, *bug.fix.tokens) if token.isidentifier()}
    names -= _NOT_NAMES | {entry_point}
    return bool(names) and all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) for name in names)

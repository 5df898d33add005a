"""What can be said of lessons without a model: whether two are the same, and whether measurement speaks against one.

Stop rules, memories and the audit ask the same questions, so they stand here, as functions of text and trials.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from afterword.core.records import Reflection, Trial

_HEXADECIMAL = re.compile(
    r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b"
)
_NUMBER = re.compile(r"\d(?:[\d_,]*\d)?(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)|\d+")
_COMPARISONS = {
    **dict.fromkeys(("<=", "≤"), " atmost "),
    **dict.fromkeys((">=", "≥"), " atleast "),
    **dict.fromkeys(("!=", "≠"), " unequal "),
    "<": " below ",
    ">": " above ",
}
_COMPARISON = re.compile("|".join(_COMPARISONS))
_NO_COMPARISON = re.compile(r"[-=]>|<-|<<|>>")
_TURNING = frozenset(
    "not no never none nor neither without cannot unequal below above atmost atleast".split()  # noqa: SIM905
)
"""Words of which one alone turns a lesson into another."""
_TEST_NAME = re.compile(r"(?<!\w)(?:\w+::)*test_\w+(?:\[[^\]\n]*\])?", re.IGNORECASE)


def normalise(text: str, ids: Collection[str] = ()) -> str:
    """A lesson without what does not change its meaning: ids, numbers, case, spacing, punctuation.

    Comparisons are kept as words: `<` where `<=` was is another change. `ids` are names of checks besides those that
    look like one.
    """
    return _normalised(text, frozenset(ids))


@lru_cache(maxsize=256)
def _normalised(text: str, ids: frozenset[str]) -> str:
    """Kept for a while: each lesson is compared again with every later one."""
    text = unicodedata.normalize("NFKC", text)
    folded = text.casefold()
    if named := [name for name in ids if name.casefold() in folded]:  # of thousands, a lesson names a few
        names = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
        text = re.sub(rf"(?<!\w)(?:{names})(?!\w)", " id ", text, flags=re.IGNORECASE)
    text = _TEST_NAME.sub(" id ", text).casefold()
    text = _NUMBER.sub("0", _HEXADECIMAL.sub("0", text))
    text = _NO_COMPARISON.sub(" ", re.sub(r"n['\u2019]t\b", " not ", text))
    text = _COMPARISON.sub(lambda found: _COMPARISONS[found[0]], text)
    return " ".join(re.findall(r"[^\W_]+", text))


def same_lesson(one: str, other: str, similarity: float) -> bool:
    """Whether two normalised texts are at least so similar, and neither turns the other round.

    A lesson to do what an earlier one said not to do shares nearly all of its words, and is no repetition.
    """
    if one == other:
        return True
    # The two upper bounds of difflib come first, as its documentation advises; the second one by counting, since to
    # prepare a matcher takes longer than all of this.
    length = len(one) + len(other)
    if 2.0 * min(len(one), len(other)) / length < similarity:
        return False
    if 2.0 * sum(min(one.count(char), other.count(char)) for char in set(one)) / length < similarity:
        return False
    if _turns(one) != _turns(other):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= similarity


def _turns(text: str) -> Counter[str]:
    return Counter(word for word in text.split() if word in _TURNING)


def check_ids_of(trials: Sequence[Trial]) -> frozenset[str]:
    """The checks that trials were judged by."""
    return frozenset(check.id for trial in trials for check in trial.feedback.checks)


def to_retire(trials: Sequence[Trial], falls: int | None) -> tuple[int, ...]:
    """The lessons, by their trials, that the last trial is the one too many for.

    A trial speaks against a lesson when the lesson was in its prompt and its score is below that of the trial which
    the lesson was drawn from. With so many such trials a lesson is retired; with `falls` None, none ever is.
    """
    if falls is None or not trials:
        return ()
    scores = {trial.number: trial.feedback.score for trial in trials}
    last = trials[-1]
    against = {
        lesson: sum(lesson in trial.lessons_shown and trial.feedback.score < scores[lesson] for trial in trials)
        for lesson in last.lessons_shown
        if lesson in scores and last.feedback.score < scores[lesson]
    }
    return tuple(lesson for lesson, times in against.items() if times >= falls)


def digests_of(lessons: Sequence[Reflection]) -> tuple[Reflection, ...]:
    """Those lessons that are no trial's own: a memory wrote them."""
    return tuple(lesson for lesson in lessons if lesson.merges)

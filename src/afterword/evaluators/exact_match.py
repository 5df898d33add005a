"""Answers compared with known ones: exact match and token F1 as in the official HotPotQA script, and a strict match.

The official normalisation takes every ASCII punctuation mark away, so that "3.5 million" equals "35 million" and "the"
equals "a". The strict match keeps what changes a meaning; it is what an answer is accepted by after the loop.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from afterword.core.bounds import cut
from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback
from afterword.errors import InputError

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE_ARTICLES = re.compile(r"(?<!\S)(?:a|an|the)(?!\S)")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole."""
_SYMBOLS = frozenset("$%+#&*/=<>@^~|\\_")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_NUMBER_AHEAD = re.compile(r"[^\w]{0,4}\d")
"""A number, with what may stand before it: spaces, a currency, a decimal point."""
_EXPONENT = re.compile(r"\de\Z")
_MAX_SHOWN = 200
_HIGHEST_WRONG = 0.99
"""A score of 1 means passed: the right words in the wrong order stay below it."""


@dataclass(frozen=True, slots=True)
class TokenF1:
    """How far the words of two answers overlap, each in [0, 1]."""

    f1: float
    precision: float
    recall: float


def normalise_answer(text: str) -> str:
    """The answer in lower case, without ASCII punctuation, articles and superfluous space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: str) -> bool:
    """Whether both are the same once normalised, as the official script says."""
    return normalise_answer(answer) == normalise_answer(gold)


def token_f1(answer: str, gold: str) -> TokenF1:
    """The overlap of the normalised words; `yes`, `no` and `noanswer` count as a whole."""
    ours, theirs = normalise_answer(answer), normalise_answer(gold)
    if ours != theirs and not _CLOSED.isdisjoint((ours, theirs)):
        return TokenF1(0.0, 0.0, 0.0)
    words, gold_words = ours.split(), theirs.split()
    shared = (Counter(words) & Counter(gold_words)).total()
    if shared == 0:
        return TokenF1(0.0, 0.0, 0.0)
    precision, recall = shared / len(words), shared / len(gold_words)
    return TokenF1(2 * precision * recall / (precision + recall), precision, recall)


def strict_normalise(text: str) -> str:
    """The answer in lower case, without what changes no meaning: quotation marks, brackets, stops and articles.

    Signs, decimals and symbols stay: `-5`, `-$5`, `A-`, `3.5`, `10:30`, `6'2`, `1986-2013`, `$5`, `50%`, `C++`. Commas
    between thousands go. What would leave nothing stays as it is: an article that is the whole answer, and `!!!`.
    """
    lowered = _THOUSANDS.sub(lambda number: number.group().replace(",", ""), text.lower())
    kept = "".join(char for place, char in enumerate(lowered) if _matters(lowered, place))
    plain = " ".join(kept.split())
    return " ".join(_WHOLE_ARTICLES.sub(" ", plain).split()) or plain or " ".join(lowered.split())


def _matters(text: str, place: int) -> bool:
    char = text[place]
    if char not in string.punctuation or char in _SYMBOLS:
        return True
    before, after = text[max(0, place - 2) : place], text[place + 1 : place + 2]
    if char == "-":
        if _NUMBER_AHEAD.match(text, place + 1):  # a sign, a range; and not the hyphen of F-16
            return not before[-1:].isalpha() or _EXPONENT.search(before) is not None
        return before[-1:].isalnum() and not after.isalnum()  # a grade, a charge
    if not after.isdigit():
        return False
    return before[-1:].isdigit() or (char == "." and not before[-1:].isalpha())


def strict_match(answer: str, gold: str) -> bool:
    """Whether both are the same with signs, decimals and symbols kept; an empty answer never is."""
    ours = strict_normalise(answer)
    return bool(ours) and ours == strict_normalise(gold) and exact_match(answer, gold)


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """Passes an answer that matches one of those known, after the official normalisation.

    No known answer stands in the message: the loop learns right or wrong, as in the paper.
    """

    answers: tuple[str, ...]
    graded: bool = False
    """Whether the score of a wrong answer is its token F1 and not 0. It tells the loop more than right or wrong: by the
    score lessons are retired and plateaus found."""
    check_ids: tuple[str, ...] = ()

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict; an attempt that ended without an answer fails.

        Raises:
            InputError: there is no known answer.
        """
        return await _judged(context, self.answers, exact_match, graded=self.graded)


@dataclass(frozen=True, slots=True)
class StrictMatch:
    """Passes an answer that matches one of those known with signs, decimals and symbols; stricter than `ExactMatch`."""

    answers: tuple[str, ...]
    check_ids: tuple[str, ...] = ()

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict; an attempt that ended without an answer fails.

        Raises:
            InputError: there is no known answer.
        """
        return await _judged(context, self.answers, strict_match)


async def _judged(
    context: EvaluateContext, answers: tuple[str, ...], matches: Callable[[str, str], bool], *, graded: bool = False
) -> Feedback:
    if not answers:
        raise InputError(f"the task {context.task.id!r} has no known answer to compare with; give at least one")
    answer = context.trajectory.output

    async def judge() -> Feedback:
        if not answer.strip():
            return Feedback(False, 0.0, "exact", "no_answer", "The attempt ended without an answer.", graded=graded)
        if any(matches(answer, gold) for gold in answers):
            return Feedback(True, 1.0, "exact", "ok", graded=graded)
        grade = min(_HIGHEST_WRONG, max(token_f1(answer, gold).f1 for gold in answers)) if graded else 0.0
        shown = " ".join(cut(answer, _MAX_SHOWN).split())
        return Feedback(False, grade, "exact", "failed", f'The answer "{shown}" is wrong.', graded=graded)

    request = (matches.__name__, answers, answer, graded)
    return await context.effects.effect(context.role, request, judge, Feedback)

"""How much two lessons have in common, by their words: no model, no vectors, the same in every run."""

from __future__ import annotations

from afterword.core.lessons import normalise

_WORDS = """
    a an and are as at be because been but by did do does for from had has have i id if in instead into is it its me
    must my next no not of on only or should so test tests than that the then there this time to was were when where
    which will with would failed fails 0
"""
_COMMON = frozenset(_WORDS.split())
"""What every lesson has; the names, conditions and changes that are left tell lessons apart."""


def overlap(one: str, other: str) -> float:
    """The share of their telling words that both have, from 0 to 1 (Dice); 0 where one has none."""
    return shared(telling_words(one), telling_words(other))


def telling_words(text: str) -> frozenset[str]:
    """What is left of a lesson without numbers, ids and the words that every lesson has."""
    return frozenset(normalise(text).split()) - _COMMON


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The overlap of telling words that are at hand already, as when many lessons are compared."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0

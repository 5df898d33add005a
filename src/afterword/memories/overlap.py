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
    ours, theirs = _telling(one), _telling(other)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0


def _telling(text: str) -> frozenset[str]:
    return frozenset(normalise(text).split()) - _COMMON

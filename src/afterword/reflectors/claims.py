"""Claims of success in a lesson of a failed trial: what a program's output says of itself, and a weak model repeats.

Apart from the other checks of shape, since the next trial would believe a claim: a sentence that makes one is not only
a problem, it is taken out.
"""

from __future__ import annotations

import re

_CHECKS = r"(?:unit |visible |hidden |own )?(?:tests?|checks?|assertions?|asserts)(?: cases?)?"
_ALL = r"(?:all|every|each|100 ?%)(?: of)?(?: the| my| your| these| those)?(?: \w+)??"
_ADVERB = r"(?: (?:now|already|all|both|fully|completely|indeed|clearly|in fact|therefore|thus))*"
_HAVE = r"(?: have| has|'ve)?"
_WELL = r"(?:correctly|successfully|perfectly|fine|well|as (?:intended|expected|required|it should))"
_MINE = r"(?:my|the|this)"
_ATTEMPT = rf"{_MINE}(?: last| current| final)? (?:program|function|code|solution|implementation|answer|attempt|play)"
_AFTER = "now|and|so|in|on|at|with|without|again|already|successfully|because|for"
_PASS = rf"pass(?:es|ed|ing)?\b(?! (?!(?:{_AFTER})\b)\w)"
"""Without an object: tests may pass a list, or have passed strings."""

_SCOPED = r"(?! (?:for|on|when|if|in|that|about|by|only|with|at)\b)"
"""Behind it stands for what it holds: a diagnosis, and no claim of success."""
_CLAIMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_ALL} {_CHECKS}{_ADVERB}(?:{_HAVE}| had| are| is| were| was){_ADVERB}"
        rf" (?:{_PASS}|succeed(?:s|ed)?\b|green\b|ok\b|successful\b|fine\b)",
        rf"\b{_CHECKS} (?:have |are )?(?:all|each) (?:have |are )?(?:{_PASS}|succeed(?:ed)?\b)",
        rf"\b(?:everything|all of (?:them|it)){_ADVERB}{_HAVE} (?:{_PASS}|works?\b|worked\b|succeeded\b)",
        rf"\b(?:I|it|{_ATTEMPT}){_ADVERB}{_HAVE}{_ADVERB} (?:pass(?:es|ed)?|satisf(?:y|ies|ied)) {_ALL} {_CHECKS}\b",
        rf"\b{_ATTEMPT} (?:is|was){_ADVERB} (?:correct|right|successful|fine|complete|perfect)\b{_SCOPED}",
        rf"\b{_ATTEMPT}{_ADVERB} (?:works|worked|runs|ran){_ADVERB} {_WELL}\b{_SCOPED}",
        rf"\b(?:no|none of (?:the|my)|zero|0)(?: \w+)?? {_CHECKS}{_HAVE} fail(?:s|ed)?\b",
        r"\bthere (?:are|were) no (?:failures|fail(?:ed|ing) (?:tests|checks))\b",
        rf"\b{_MINE} (?:task|goal|problem|game|question) (?:is|was|has been)(?: now| already)?"
        rf" (?:solved|done|completed?|accomplished|achieved|reached|won)\b{_SCOPED}",
        rf"\bI{_HAVE}(?: already| now)? (?:solved|completed|accomplished|won|reached) {_MINE}"
        r" (?:task|goal|problem|game)\b",
        rf"(?<!\d)(\d+) ?(?:of|out of|/) ?\1(?: of the)?(?: {_CHECKS})?(?:{_HAVE}| are| were) pass",
        rf"\b{_CHECKS}(?: have)? pass(?:ed)?:? \(?(\d+) ?(?:of|out of|/) ?\1(?!\d)",
        r"\bno(?:thing)?(?: \w+)? (?:has|have|needs?) to (?:be )?chang",
        r"\bno (?:further )?changes? (?:is|are) (?:needed|necessary|required)\b",
    )
)
_NOT_MEANT = re.compile(
    r"(?:\b(?:so that|such that|until|makes?|made|making|ensur\w+|when(?:ever)?|once|if|unless|whether|to|will|shall"
    r"|should|must|can|could|would|might|may|not|never|nor|before|only|hop\w+|want\w*|wish\w*|expect\w*|assum\w+"
    r"|believ\w+|thought|think\w*|suppos\w+|conclud\w+|imagin\w+|seem\w*|appear\w*|as though|wrongly|mistak\w+"
    r"|instead of)\b|n't\b|'ll\b)[^.;]*\Z",
    re.IGNORECASE,
)
"""What stands before an intention, a condition, a mistaken belief or a denial."""
_REASON = re.compile(r"\b(?:because|since|now that|given that|as)\b(?! if\b| though\b)", re.IGNORECASE)
"""From here on a sentence speaks of what is: "I will keep it because all tests pass"."""
_TAKEN_BACK = re.compile(
    r"\A[^.;]{0,60}?\b(?:except|but|besides|apart from|other than|save for|however|although|though|whereas|until|before"
    r"|only (?:when|if|for))\b|\A[^.;]{0,120}?\b(?:fail\w*|was wrong|is wrong)\b",
    re.IGNORECASE,
)


def claims_success(text: str) -> bool:
    """Whether a lesson of a failed trial states that it passed, and not that it is meant to, or but for a check."""
    return any(_is_stated(text, match) for claim in _CLAIMS for match in claim.finditer(text))


def _is_stated(text: str, match: re.Match[str]) -> bool:
    before = _REASON.split(text[max(0, match.start() - 120) : match.start()])[-1]
    return not _NOT_MEANT.search(before) and not _TAKEN_BACK.match(text[match.end() : match.end() + 160])

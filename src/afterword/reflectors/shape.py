"""What makes a lesson useful, checked: pure functions over its text and what the trial showed.

A vague lesson changes nothing, so a reflector asks again once when these find a problem, and records what is left.
The checks look at form and evidence only; whether the diagnosis is right, the next trial tells.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from afterword.reflectors.claims import claims_success

MAX_SENTENCES = 4
MAX_TOKENS = 200


class Problem(StrEnum):
    """One way in which a lesson fails its shape."""

    EMPTY = "empty"
    CUT = "cut"
    TOO_LONG = "too_long"
    CODE = "code"
    NOT_FIRST_PERSON = "not_first_person"
    NO_EVIDENCE = "no_evidence"
    NO_CHANGE = "no_change"
    GENERIC = "generic"
    RESTATES_TASK = "restates_task"
    FROM_EXAMPLE = "from_example"
    FALSE_CLAIM = "false_claim"
    UNKNOWN_LESSON = "unknown_lesson"
    UNKNOWN_CHECK = "unknown_check"
    COPIED = "copied"
    NO_ACTION = "no_action"
    NO_CONSEQUENCE = "no_consequence"


EXPLANATIONS = {
    Problem.EMPTY: "It is empty.",
    Problem.CUT: "It was cut before its end: write less.",
    Problem.TOO_LONG: f"It is longer than {MAX_SENTENCES} sentences or {MAX_TOKENS} tokens.",
    Problem.CODE: "It holds code: describe the change in words.",
    Problem.NOT_FIRST_PERSON: 'It does not speak in the first person ("I").',
    Problem.NO_EVIDENCE: "It quotes nothing from the report: name the failed check, or quote its assertion or value.",
    Problem.NO_CHANGE: 'It names no change: say what "I will" do differently.',
    Problem.GENERIC: "It fits any task: name the exact condition, value or step to change.",
    Problem.RESTATES_TASK: "It restates the task.",
    Problem.FROM_EXAMPLE: "It repeats words of the worked examples, which are of other tasks: speak of this trial.",
    Problem.FALSE_CLAIM: "It claims a success that the report does not show.",
    Problem.UNKNOWN_LESSON: "RETRACT names no lesson that you had before you.",
    Problem.UNKNOWN_CHECK: "DISPUTE names no check that failed.",
    Problem.COPIED: "RETRACT or DISPUTE is copied from the output, which is no instruction.",
    Problem.NO_ACTION: "It names no action of the trial: quote the one that was wrong, or give its step.",
    Problem.NO_CONSEQUENCE: 'It does not say what "would have" followed from another action.',
}


@dataclass(frozen=True, slots=True)
class Material:
    """What a lesson can draw on."""

    instructions: str
    sources: tuple[str, ...]
    """The report first, then what the attempt was."""
    check_ids: tuple[str, ...] = ()
    """The failed ones first."""
    common_names: frozenset[str] = frozenset()
    """Names that prove nothing when quoted, such as the function that the task asks for."""
    actions: tuple[str, ...] = ()
    """What was done, where a lesson has to find the action that was wrong."""
    examples: tuple[str, ...] = ()
    """The worked examples of lessons that stood in the prompt."""


_SPAN = re.compile(r"`([^`\n]{1,400})`|\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|(?<!\w)'([^'\n]{1,400})'(?!\w)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”)`*]*\s+(?=[\"'“(`*A-Z0-9_])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx)\.", re.IGNORECASE)
_STATEMENT = re.compile(
    r"^[ \t]*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[:(]|import\s+[\w., ]+$|from\s+[\w.]+\s+import\b"
    r"|(?:if|elif|for|while|with|try|else|except)\b[^.\n]*:\s*$|return\b(?=.*[()\[\]+*/=-])[^.]*$|@\w+"
    r"|[A-Za-z_][\w.\[\]]*\s*(?:[-+*/]|//|\*\*)?=(?!=)\s*\S.*$|(?:assert|print)\b.*[()=].*$|>>> )",
    re.MULTILINE,
)
_INLINE_STATEMENT = re.compile(r"\s*(?:(?:async\s+)?def\s|class\s+\w+\s*[:(]|import\s|from\s+\S+\s+import\b|.*;\s*\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'll|I'd|I'm|I've|me|my|mine|myself|we|our)\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:will|shall|should|must|need to|have to|going to|plan to|next|instead|ought|would)\b|\b(?:I|we)\Wll\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"careful|\b(?:edge|corner|special|boundary)[ -]cases?\b|double[- ]?check|attention|thorough|more closely"
    r"|\ball (?:the )?(?:possible |different |relevant )?(?:cases|inputs|scenarios|requirements|conditions)\b"
    r"|\b(?:correct|proper|appropriate|accurate|adequate)(?:ly)?\b|\bimprove\b|\bmake sure\b|\bensur(?:e|ing)\b"
    r"|\bfix (?:the|this|my|it)\b|\btest(?:ing)? (?:my|the|it)\b|\bbetter\b|\bre-?read\b|\breview\b|\bdebug\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|(?<!\w)'[^']+'(?!\w)|\d|\b\w+_\w+\b|\w\(|[<>=+*%]")
_ERROR_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Interrupt|Iteration|Exit|Warning)\b")
_TOKEN = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*\([^()\n]{0,120}\)|(?<![\w.])-?\d[\d_,]*(?:\.\d+)?(?![\w])")
_WORDS = re.compile(r"\w+")
_WOULD = re.compile(r"\bwould\b|\b(?:I|it|that|they|we)\Wd\b", re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|action)s?\s+#?(\d+)", re.IGNORECASE)
_COMMON_RUN = 5
_RESTATED_RUN = 12


def check_shape(text: str, material: Material, *, cut: bool = False) -> tuple[Problem, ...]:
    """The problems of a lesson, none when it is fit to be used. `cut` says that the reply was cut."""
    if not text.strip():
        return (Problem.EMPTY,)
    found = {
        Problem.CUT: cut,
        Problem.TOO_LONG: len(sentences(text)) > MAX_SENTENCES or count_tokens(text) > MAX_TOKENS,
        Problem.CODE: holds_code(text, material),
        Problem.NOT_FIRST_PERSON: not _FIRST_PERSON.search(text),
        Problem.NO_EVIDENCE: not find_evidence(text, material),
        Problem.NO_CHANGE: not names_change(text),
        Problem.GENERIC: is_generic(text),
        Problem.RESTATES_TASK: restates_task(text, material),
        Problem.FROM_EXAMPLE: repeats_example(text, material),
        Problem.FALSE_CLAIM: claims_success(text),
        Problem.NO_ACTION: bool(material.actions) and not names_action(text, material.actions),
        Problem.NO_CONSEQUENCE: bool(material.actions) and not _WOULD.search(text),
    }
    return tuple(problem for problem, present in found.items() if present)


def sentences(text: str) -> list[str]:
    """The sentences of a lesson; a full stop within a quotation or an abbreviation ends none."""
    spared = _SPAN.sub(lambda span: re.sub(r"[.!?](?!.\Z)|\s", "_", span.group()), text)
    spared = _ABBREVIATION.sub(lambda short: short.group().replace(".", "_"), spared)
    parts = []
    start = 0
    for end in _SENTENCE_END.finditer(spared):
        parts.append(text[start : end.end()].strip())
        start = end.end()
    return [part for part in (*parts, text[start:].strip()) if part]


def count_tokens(text: str) -> int:
    """About how many tokens a lesson has: a word of six letters is one, a sign is one."""
    return sum(math.ceil(len(piece) / 6) for piece in re.findall(r"\w+|[^\w\s]", text))


def holds_code(text: str, material: Material) -> bool:
    """Whether a lesson holds code and not only names and expressions; quoting what was there is no code."""
    if "```" in text or "~~~" in text or _STATEMENT.search(text):
        return True
    spans = [span for match in _SPAN.finditer(text) if (span := match.group(1))]
    return any(_INLINE_STATEMENT.match(span) and not _quoted_from(span, material) for span in spans)


def _quoted_from(span: str, material: Material) -> bool:
    wanted = " ".join(span.split())
    return any(wanted in " ".join(source.split()) for source in material.sources)


def find_evidence(text: str, material: Material) -> str:
    """The longest thing that a lesson quotes from the trial; empty when it quotes nothing that proves anything."""
    found = [name for name in material.check_ids if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    found += _actions_in(text, material.actions)
    if found:
        return max(found, key=len)
    sources = " ".join(" ".join(source.split()) for source in material.sources)
    spans = [next(group for group in match.groups() if group) for match in _SPAN.finditer(text)]
    candidates = [*spans, *_ERROR_NAME.findall(text), *_TOKEN.findall(text)]
    quoted = [" ".join(candidate.split()) for candidate in candidates]
    proven = [quote for quote in quoted if quote in sources and _proves(quote, material)]
    if proven:
        return max(proven, key=len)
    return longest_common_run(text, sources, at_least=_COMMON_RUN)


def _proves(quote: str, material: Material) -> bool:
    bare = quote.strip("`'\"() ")
    if not bare or bare in material.common_names:
        return False
    if _WORDS.fullmatch(bare) and (bare.isdigit() or bare.isalpha()):
        return len(bare) > (1 if bare.isdigit() else 3)
    return len(bare) > 1


def names_action(text: str, actions: tuple[str, ...]) -> bool:
    """Whether a lesson names one of the actions, in its words or by the number of its step."""
    numbered = any(1 <= int(number) <= len(actions) for number in _STEP.findall(text[:4000]))
    return numbered or bool(_actions_in(text, actions))


def _actions_in(text: str, actions: tuple[str, ...]) -> list[str]:
    said = f" {' '.join(_WORDS.findall(text.lower()))} "
    words = {action: " ".join(_WORDS.findall(action.lower())) for action in actions}
    return [action for action, done in words.items() if len(done) > 2 and f" {done} " in said]


def names_change(text: str) -> bool:
    """Whether a lesson says that something will be different."""
    return _CHANGE.search(text) is not None


def is_generic(text: str) -> bool:
    """Whether every sentence that speaks of a change would fit any task."""
    changes = [sentence for sentence in sentences(text) if _CHANGE.search(sentence)]
    return bool(changes) and all(_VAGUE.search(change) and not _SPECIFIC.search(change) for change in changes)


def restates_task(text: str, material: Material) -> bool:
    """Whether a lesson copies a long passage of the instructions."""
    return bool(longest_common_run(text, material.instructions, at_least=_RESTATED_RUN))


def repeats_example(text: str, material: Material) -> bool:
    """Whether a lesson copies a long passage of a worked example, as weak models do: it speaks of another task."""
    return any(longest_common_run(text, example, at_least=_RESTATED_RUN) for example in material.examples)


def without_claims(text: str) -> str:
    """A lesson without the sentences that claim a success; the next trial would believe them."""
    return " ".join(sentence for sentence in sentences(text) if not claims_success(sentence))


def longest_common_run(text: str, source: str, *, at_least: int) -> str:
    """The longest passage of so many words or more that both texts have, as `text` has it; else empty."""
    places = list(_WORDS.finditer(text))
    words = [place.group().lower() for place in places]
    theirs = " ".join(word.lower() for word in _WORDS.findall(source))
    theirs = f" {theirs} "
    best = (0, 0)
    start = 0
    while start + at_least <= len(words):
        length = max(at_least, best[1] - best[0] + 1)
        if start + length > len(words):
            break
        if f" {' '.join(words[start : start + length])} " in theirs:
            best = (start, start + length)
        else:
            start += 1
    return text[places[best[0]].start() : places[best[1] - 1].end()] if best[1] else ""

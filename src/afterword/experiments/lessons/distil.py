"""From the lessons of many tasks to drafts of general rules: lessons of one kind are brought together.

Without a model a draft is the lesson that is most like the others of its kind; with one, the model words what they have
in common. Either is a draft: it takes a person to make it a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterword.core.bounds import cut, quote_untrusted
from afterword.core.effects import Effects
from afterword.core.lessons import normalise
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Model
from afterword.core.thinking import strip_thinking
from afterword.errors import BudgetExhausted, InputError
from afterword.experiments.lessons.rules import MAX_RULE_CHARS, Evidence, Rule
from afterword.memories.overlap import shared, telling_words
from afterword.templates import render

ROLE = "distiller"
ALIKE = 0.34
"""From this overlap of telling words on, lessons of different tasks are of one kind."""
MAX_LESSONS = 2_000
MAX_EVIDENCE = 12
"""Lessons of a kind that are kept with its rule and shown to a model."""
_PACKAGE = "afterword.experiments.lessons"
_MAX_SHOWN = 400


@dataclass(frozen=True, slots=True)
class SourceLesson:
    """A lesson of some run, and what followed it."""

    task: str
    trial: int
    text: str
    gained: int | None = None
    """Checks that the next trial passed more or fewer; None if there was none."""


def clusters_of(lessons: Sequence[SourceLesson], *, alike: float = ALIKE) -> list[list[SourceLesson]]:
    """The lessons by kind, the kinds with most tasks first; in each the most typical lesson first.

    A lesson joins the kind whose first lesson it is most like. The same words count once a task.

    Raises:
        InputError: there are too many lessons to compare.
    """
    if len(lessons) > MAX_LESSONS:
        raise InputError(f"at most {MAX_LESSONS:,} lessons can be compared, found {len(lessons):,}; distil a part")
    seen: set[tuple[str, str]] = set()
    kinds: list[list[_Read]] = []
    for lesson in lessons:
        same = normalise(lesson.text)
        if not same or (lesson.task, same) in seen:
            continue
        seen.add((lesson.task, same))
        read = _Read(lesson, telling_words(lesson.text))
        nearness, place = max(
            ((shared(kind[0].words, read.words), -place) for place, kind in enumerate(kinds)), default=(0.0, 0)
        )
        if kinds and nearness >= alike:
            kinds[-place].append(read)
        else:
            kinds.append([read])
    ordered = [_typical_first(kind) for kind in kinds]
    return sorted(ordered, key=lambda kind: (-len({one.task for one in kind}), -len(kind)))


@dataclass(frozen=True, slots=True)
class _Read:
    """A lesson with its telling words, which are compared again and again."""

    lesson: SourceLesson
    words: frozenset[str]


def _typical_first(kind: Sequence[_Read]) -> list[SourceLesson]:
    """The medoid first, the rest in order; of a large kind it is sought among the first two hundred."""
    sample = kind[:200]
    closeness = [sum(shared(one.words, other.words) for other in sample) for one in sample]
    medoid = sample[closeness.index(max(closeness))]
    return [medoid.lesson, *(one.lesson for one in kind if one is not medoid)]


async def distil(
    lessons: Sequence[SourceLesson],
    *,
    model: Model | None = None,
    effects: Effects | None = None,
    min_tasks: int = 2,
    most: int = 30,
    alike: float = ALIKE,
    temperature: float | None = 0.0,
) -> tuple[Rule, ...]:
    """Drafts of rules, one for each kind of lesson that so many tasks gave; past the budget as without a model.

    Raises:
        ModelFault: as `Effects.complete`.
    """
    kinds = [kind for kind in clusters_of(lessons, alike=alike) if len({one.task for one in kind}) >= min_tasks]
    rules = []
    for number, kind in enumerate(kinds[:most], start=1):
        shown = _from_many_tasks(kind)
        text, by = kind[0].text, "medoid"
        if model is not None and effects is not None:
            try:
                reply = await effects.complete(ROLE, model, _request(shown, temperature))
            except BudgetExhausted:
                model = None  # what it worded so far is paid for and stays
            else:
                drafted = _sentence(reply.text)
                text, by = (drafted, model.name) if drafted else (text, by)
        evidence = tuple(Evidence(one.task, one.trial, one.text, one.gained) for one in kind)
        rules.append(Rule(f"r{number}", _fitting(text), evidence, drafted_by=by))
    return tuple(rules)


def _from_many_tasks(kind: Sequence[SourceLesson]) -> list[SourceLesson]:
    """Some lessons of a kind, of as many tasks as there are."""
    first_of_task: dict[str, SourceLesson] = {}
    for lesson in kind:
        first_of_task.setdefault(lesson.task, lesson)
    firsts = list(first_of_task.values())
    return [*firsts, *(lesson for lesson in kind if lesson not in firsts)][:MAX_EVIDENCE]


def _request(lessons: Sequence[SourceLesson], temperature: float | None) -> ChatRequest:
    quoted = [quote_untrusted(cut(" ".join(lesson.text.split()), _MAX_SHOWN)) for lesson in lessons]
    system = render(_PACKAGE, "distil_system.jinja", {"most": MAX_RULE_CHARS})
    return ChatRequest(
        (Message("system", system), Message("user", render(_PACKAGE, "distil.jinja", {"lessons": quoted}))),
        max_tokens=200,
        temperature=temperature,
    )


def _sentence(reply: str) -> str:
    """The rule of a reply, on one line; empty where it says that there is none."""
    text = " ".join(strip_thinking(reply).split()).strip("`\"'*- ")
    return "" if text.strip(".").upper() in ("", "NONE") else text


def _fitting(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_RULE_CHARS else f"{line[: MAX_RULE_CHARS - 1]}…"

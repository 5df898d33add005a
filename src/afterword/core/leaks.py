"""The leak audit: after the loop, held-out text is looked for in every lesson and in every prompt that was sent.

The types keep a held-out verdict from flowing back; they cannot keep a task's author from quoting a held-out test in
a lesson, an agent from reading the file it stands in, or a visible check from printing it. This looks at the result. A
model may also guess a case by itself, so what is found is told and changes no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard

from afterword.core.bounds import cut
from afterword.core.effects import Effects, canonical
from afterword.core.events import Leaked
from afterword.core.messages import ChatRequest
from afterword.core.protocols import Evaluator
from afterword.core.records import Leak, Reflection, Task, Trial
from afterword.errors import ComponentFault

MAX_LEAKS = 20
_MAX_KEPT_CHARS = 2_000_000
"""Of one task; a search through so much takes about a second."""
_LEAST_CHARS = 10
"""Shorter texts are found everywhere."""
_NAME = re.compile(r"[\w:.\[\]-]+")
_NUMBERED = re.compile(r"(?:case|check|module|test):?\W*[L\d]*\Z")
"""Ids that say nothing: `case:7`, `check:L12`."""


class Telling(Protocol):
    """An evaluator that can say what its checks are, for the audit alone: names, assertions, labelled cases.

    Where it judges the loop, these texts are allowed in prompts; where it is held out, they are not.
    """

    def check_texts(self) -> Sequence[str]: ...


def check_texts(evaluator: Evaluator | None) -> tuple[str, ...]:
    """What an evaluator says of its checks; nothing where it says nothing."""
    return tuple(evaluator.check_texts()) if _tells(evaluator) else ()


def _tells(evaluator: object) -> TypeGuard[Telling]:
    return hasattr(evaluator, "check_texts")


@dataclass(slots=True)
class Asked:
    """The lines of all prompts of a run, each once, with where it stood first."""

    lines: dict[str, tuple[int, str]] = field(default_factory=dict)
    chars: int = 0

    def add(self, trial: int, role: str, request: ChatRequest) -> None:
        """Keeps the lines of a request that are new, as long as there is room."""
        for message in request.messages:
            for line in message.content.splitlines():
                if line not in self.lines and self.chars < _MAX_KEPT_CHARS:
                    self.lines[line] = (trial, role)
                    self.chars += len(line)


class LeakAudit:
    """Looks on while the loop runs, where the held-out check says what would give it away; else it does nothing."""

    def __init__(self, task: Task, held_out: Evaluator | None, visible: Evaluator, effects: Effects) -> None:
        self._task = task
        self._held_out = held_out
        self._visible = visible
        self._effects = effects
        self._asked = Asked()
        if _tells(held_out):
            effects.watch(self._asked.add)

    def close(self) -> None:
        """Looks no longer: the loop has stopped."""
        self._effects.watch(None)

    def leaks(self, trials: Sequence[Trial]) -> tuple[Leak, ...]:
        """What was found, told as an event too.

        Raises:
            ComponentFault: an evaluator could not say what its checks are.
        """
        try:
            held_out, allowed = check_texts(self._held_out), check_texts(self._visible)
        except Exception as error:
            raise ComponentFault("evaluator", error) from error
        leaks = find_leaks(self._task, trials, self._asked, held_out, allowed)
        if leaks:
            self._effects.emit(Leaked(self._task.id, leaks))
        return leaks


def find_leaks(
    task: Task, trials: Sequence[Trial], asked: Asked, held_out: Sequence[str], allowed: Sequence[str]
) -> tuple[Leak, ...]:
    """Where text of the held-out checks stood that neither the task nor the `allowed` texts hold."""
    if not held_out:
        return ()
    known = [task.instructions, canonical(task.inputs), *map(str, task.inputs.values()), *allowed]
    lessons = ((lesson.trial, "lesson", lesson.text) for trial in trials for lesson in _lessons(trial))
    prompts = ((trial, role, line) for line, (trial, role) in asked.lines.items())
    places = [(trial, where, _Text(text, _squeeze(text))) for trial, where, text in (*lessons, *prompts)]
    # All texts at once first: as a rule nothing is found, and thousands of lines need not be looked at one by one.
    whole = _Text("\n".join(text.plain for _, _, text in places), "\n".join(text.squeezed for _, _, text in places))
    sought = [needle for needle in _sought(held_out, known) if needle.stands_in(whole)]
    found: dict[tuple[str, str], Leak] = {}
    for trial, where, text in places if sought else ():
        for needle in _held_by(text, sought):
            found.setdefault((where, needle), Leak(trial, where, cut(needle, 200)))
            if len(found) == MAX_LEAKS:
                return tuple(found.values())
    return tuple(found.values())


def _lessons(trial: Trial) -> Iterator[Reflection]:
    if trial.reflection is not None:
        yield trial.reflection
    yield from trial.digests


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as it is, and without what does not count."""

    plain: str
    squeezed: str


@dataclass(frozen=True, slots=True)
class _Needle:
    """Something that is sought: a name is found as a whole word, all else whatever its spacing and quotation marks."""

    text: _Text
    name: re.Pattern[str] | None

    def stands_in(self, text: _Text) -> bool:
        if self.name is not None:
            return self.text.plain in text.plain and self.name.search(text.plain) is not None
        return self.text.squeezed in text.squeezed


def _sought(held_out: Iterable[str], known: Sequence[str]) -> list[_Needle]:
    """What would give a held-out check away and is not known, the longest first."""
    shown = _Text("\n".join(known), "\n".join(map(_squeeze, known)))
    needles = [_needle(text.strip()) for text in dict.fromkeys(held_out) if not _NUMBERED.match(text)]
    long = [needle for needle in needles if len(needle.text.squeezed) >= _LEAST_CHARS]
    return sorted(
        (needle for needle in long if not needle.stands_in(shown)),
        key=lambda needle: (-len(needle.text.plain), needle.text.plain),
    )


def _needle(text: str) -> _Needle:
    name = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)") if _NAME.fullmatch(text) else None
    return _Needle(_Text(text, _squeeze(text)), name)


def _held_by(text: _Text, sought: Sequence[_Needle]) -> list[str]:
    """The needles in a text; a part of one that is found as a whole is not found again."""
    found: list[str] = []
    for needle in sought:
        if needle.stands_in(text) and not any(needle.text.plain in longer for longer in found):
            found.append(needle.text.plain)
    return found


def _squeeze(text: str) -> str:
    """Text in which spacing and the kind of quotation marks do not count."""
    return "".join(text.split()).replace('"', "'")

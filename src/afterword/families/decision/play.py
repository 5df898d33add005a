"""How a trial stands in a prompt: turns of a talk, the world's answers marked, the whole bounded.

Turns only ever grow at their end until the bound is met, so that a server that keeps what it has read reads each of
them once; what has to be cut is cut for several steps at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterword.core.bounds import bound_steps, cut, quote_untrusted
from afterword.core.messages import ChatRole, Message
from afterword.core.records import Step

THOUGHT = "think: "
NOTED = "OK."
"""What the world says to a thought, as in the paper's prompts."""
_CUT_TO = 2 / 3
"""A history that is too long is cut to this share of its bound, so that the next steps find it unchanged."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example: a goal, what there is to see at first, and the steps that reach it."""

    goal: str
    start: str
    steps: tuple[Step, ...]


def turns(start: str, steps: Iterable[Step], max_chars: int) -> list[Message]:
    """A trial as turns, beginning and ending with the user's; `start` is the text of the first one."""
    talk: list[tuple[ChatRole, list[str]]] = [("user", [start])]
    for step in within(tuple(steps), max_chars):
        if said := _said(step):
            talk.append(("assistant", [said]))
            talk.append(("user", []))
        talk[-1][1].append(quote_untrusted(step.observation.strip("\n")))
    return [Message(role, "\n".join(texts)) for role, texts in talk]


def within(steps: Sequence[Step], max_chars: int) -> tuple[Step, ...]:
    """The steps within about so many characters, the largest observations cut first, with marks."""
    kept: tuple[Step, ...] = ()
    cut_at = 0
    size = 0
    for number, step in enumerate(steps, start=1):
        size += _size(step)
        if size > max_chars:
            kept = tuple(one for _, one in bound_steps(steps[:number], int(max_chars * _CUT_TO)))
            cut_at, size = number, sum(map(_size, kept))
    return (*kept, *steps[cut_at:])


def as_text(steps: Sequence[Step], max_chars: int) -> str:
    """A trial as one text, for the trial before this one."""
    lines = []
    for _, step in bound_steps(steps, max_chars):
        if said := _said(step):
            lines.append(f"> {said}")
        if step.observation:
            lines.append(quote_untrusted(step.observation.strip("\n")))
    return "\n".join(lines)


def read_play(text: str) -> tuple[Step, ...]:
    """The steps of an example: a line that begins with `> ` is a move, what follows is the world's answer."""
    steps: list[Step] = []
    for line in text.strip().split("\n"):
        if line.startswith("> "):
            said = line[2:].strip()
            thought = said.removeprefix(THOUGHT) if said.startswith(THOUGHT) else ""
            steps.append(Step(thought=thought, action="" if thought else said))
        elif steps:
            before = steps[-1]
            seen = f"{before.observation}\n{line}" if before.observation else line
            steps[-1] = Step(before.thought, before.action, seen)
    return tuple(steps)


def _said(step: Step) -> str:
    if step.thought:
        return f"{THOUGHT}{cut(' '.join(step.thought.split()), 1_000)}"
    return " ".join(step.action.split())


def _size(step: Step) -> int:
    return len(step.thought) + len(step.action) + len(step.observation)

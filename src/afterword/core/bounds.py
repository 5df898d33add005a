"""How text is bounded and marked where it enters a prompt.

Feedback, programs and observations can be of any length and can hold anything, so whoever quotes them cuts them
visibly and marks them as data. It stands in `core` since actors, evaluators and reflectors all quote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from afterword.core.records import Step

_RUN = re.compile(r"`{3,}")
_LEAST = 80
"""Less of a text than so many characters tells nothing."""
_MARK = 34
"""About what a mark takes."""


def cut(text: str, limit: int) -> str:
    """`text` with at most about `limit` characters of it, a visible mark standing for what was cut.

    Two thirds are kept of the beginning and one third of the end: the first failure and the last traceback
    line say most.
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    mark = f"[… {len(text) - head - tail:,} characters cut …]"
    end = text[-tail:] if tail else ""
    return f"{text[:head]}{mark}{end}" if "\n" not in text else f"{text[:head]}\n{mark}\n{end}"


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, and a visible mark of how many were cut."""
    return text if len(text) <= limit else f"{text[:limit]}[… {len(text) - limit:,} characters cut …]"


def quote_untrusted(text: str) -> str:
    """`text` with a bar before each line, so that nothing inside can pass for the prompt around it."""
    return "\n".join(f"| {line}" for line in re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text))


def fence(code: str, language: str = "") -> str:
    """`code` in a fenced block whose fence is longer than any inside."""
    longest = max((len(run) for run in _RUN.findall(code)), default=2)
    mark = "`" * max(3, longest + 1)
    end = "" if code.endswith("\n") else "\n"
    return f"{mark}{language}\n{code}{end}{mark}"


def bound_steps(steps: Sequence[Step], limit: int) -> tuple[tuple[int, Step], ...]:
    """Numbered steps with about `limit` characters of text in all; marks stand for what was cut.

    The largest observations are cut first, down to a common length; then thoughts and actions in the same way; what
    is still too long loses steps after its beginning, and one step that holds only the mark stands for them, under
    the number of the first of them. The last step always stays. What a world says before anything is done has number
    0, so that an action has the number that it is counted by.
    """
    shown = _cut_observations(steps, limit)
    if sum(map(_size, shown)) > limit:
        shown = _cut_words(shown, limit)
    opens = bool(steps) and not steps[0].thought.strip() and not steps[0].action.strip()
    numbered = list(enumerate(shown, start=0 if opens else 1))
    return tuple(numbered if sum(map(_size, shown)) <= limit else _without_middle(numbered, limit))


def show_steps(steps: Sequence[Step], limit: int) -> str:
    """A trajectory as it stands in a prompt, bounded by `bound_steps`; observations are marked as untrusted."""
    lines = []
    for number, step in bound_steps(steps, limit):
        if step.thought.strip():
            lines.append(f"Thought {number}: {' '.join(step.thought.split())}")
        if step.action.strip():
            lines.append(f"Action {number}: {' '.join(step.action.split())}")
        if step.observation.strip():
            lines.append(quote_untrusted(step.observation.strip("\n")))
    return "\n".join(lines)


def _size(step: Step) -> int:
    return len(step.thought) + len(step.action) + len(step.observation)


def _cut_observations(steps: Sequence[Step], limit: int) -> list[Step]:
    spoken = sum(len(step.thought) + len(step.action) for step in steps)
    level = _level([len(step.observation) for step in steps], limit - spoken)
    return [replace(step, observation=_cut_worth(step.observation, level)) for step in steps]


def _cut_words(steps: Sequence[Step], limit: int) -> list[Step]:
    observed = sum(len(step.observation) for step in steps)
    level = _level([len(text) for step in steps for text in (step.thought, step.action)], limit - observed)
    return [
        replace(step, thought=_cut_worth(step.thought, level), action=_cut_worth(step.action, level)) for step in steps
    ]


def _level(lengths: Sequence[int], budget: int) -> int:
    """The greatest length to which texts may be cut so that together they fit; never below what can be understood."""
    low, high = _LEAST, max([*lengths, _LEAST])
    while low < high:
        middle = (low + high + 1) // 2
        if sum(length if length <= middle + _MARK else middle + _MARK for length in lengths) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _cut_worth(text: str, limit: int) -> str:
    """`text` cut, if that saves more than its mark takes."""
    return text if len(text) <= limit + _MARK else cut(text, limit)


def _without_middle(steps: list[tuple[int, Step]], limit: int) -> list[tuple[int, Step]]:
    """A third of the room for the beginning, the rest for the end: what failed stands there."""
    head: list[tuple[int, Step]] = []
    tail = [steps[-1]]
    room = limit - _MARK - _size(steps[-1][1])
    for numbered in steps[:-1]:
        if (room_after := room - _size(numbered[1])) < limit * 2 // 3 - _size(steps[-1][1]):
            break
        head.append(numbered)
        room = room_after
    for numbered in reversed(steps[len(head) : -1]):
        if (room := room - _size(numbered[1])) < 0:
            break
        tail.insert(0, numbered)
    first, last = steps[len(head)][0], tail[0][0] - 1
    if first > last:
        return [*head, *tail]
    mark = f"[… step {first} cut …]" if first == last else f"[… steps {first} to {last} cut …]"
    return [*head, (first, Step(observation=mark)), *tail]

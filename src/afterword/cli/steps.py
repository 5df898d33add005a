"""The steps of a trial for a person: thought, action and what came back, short and bounded.

Apart from the command that shows them, as an episode has dozens of steps and each of them can be of any length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from afterword.cli.text import counted, plain, shortened
from afterword.core.bounds import cut
from afterword.core.records import Step

MAX_STEPS = 60
"""More of a trial are not shown: a third of them from its beginning, the rest from its end."""
MAX_LINES = 8
"""Of one observation."""
_MAX_CHARS = 600
_LINE_CHARS = 200

Part = Literal["thought", "action", "observation", "mark"]


def step_lines(steps: Sequence[Step]) -> Iterator[tuple[Part, str]]:
    """The lines of these steps, each with what it is; a mark stands for what is left out."""
    head = MAX_STEPS // 3 if len(steps) > MAX_STEPS else len(steps)
    tail = max(head, len(steps) - (MAX_STEPS - head))
    for number, step in enumerate(steps, start=1):
        if head < number <= tail:
            if number == head + 1:
                yield "mark", f"… {counted(tail - head, 'more step')}; afterword export has all"
            continue
        yield from _lines(number, step)


def _lines(number: int, step: Step) -> Iterator[tuple[Part, str]]:
    label = f"{number:>3} "
    for part, text in (("thought", step.thought), ("action", step.action)):
        if text.strip():
            said = shortened(cut(text, _MAX_CHARS), _MAX_CHARS)
            yield ("thought", f"{label}think: {said}") if part == "thought" else ("action", f"{label}> {said}")
            label = "    "
    seen = [line for line in plain(cut(step.observation, _MAX_CHARS)).splitlines() if line.strip()]
    for place, line in enumerate(seen[:MAX_LINES]):
        yield "observation", f"{label if place == 0 else '    '}  {shortened(line, _LINE_CHARS)}"
        label = "    "
    if len(seen) > MAX_LINES:
        yield "mark", f"      … {counted(len(seen) - MAX_LINES, 'more line')}"

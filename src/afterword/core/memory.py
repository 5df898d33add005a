"""Long-term memory: a sliding window of lessons, with retraction (paper, section 3, "Memory").

The paper keeps the last Ω reflections (1 for programs, 3 elsewhere). Here a lesson can also be withdrawn by
a later one: without that a wrong early diagnosis steers every later trial. Other memories are in `memories`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterword.core.records import Reflection
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.core.effects import Effects


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The last `size` lessons that were not retracted. A lesson that left the window does not come back."""

    size: int = 3
    lessons: tuple[Reflection, ...] = ()

    def __post_init__(self) -> None:
        refuse_size(self.size, self.lessons, self.size)

    async def remember(self, reflection: Reflection, effects: Effects) -> SlidingWindow:  # noqa: ARG002
        """A new window with this lesson, without those it retracts; an empty text retracts and adds nothing."""
        return SlidingWindow(self.size, standing(self.lessons, reflection)[-self.size :])


def standing(lessons: Sequence[Reflection], reflection: Reflection) -> tuple[Reflection, ...]:
    """The lessons that a new one leaves standing, and the new one, if it says anything.

    What is condensed of several lessons goes when any of them is retracted: nobody can cut it out again.
    """
    retracted = set(reflection.retracts)
    kept = tuple(lesson for lesson in lessons if not retracted & {lesson.trial, *lesson.merges})
    return (*kept, reflection) if reflection.text.strip() else kept


def refuse_size(size: int, lessons: Sequence[Reflection], room: int) -> None:
    """Raises `InputError` if a memory could hold nothing, or starts with more than it holds."""
    if size < 1:
        raise InputError(f"a memory holds at least 1 lesson, found size {size!r}")
    if room < size or len(lessons) > room:
        raise InputError(f"a memory of size {room} cannot start with {max(size, len(lessons))} lessons")

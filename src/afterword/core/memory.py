"""Long-term memory: a sliding window of lessons, with retraction (paper, section 3, "Memory").

The paper keeps the last Ω reflections (1 for programs, 3 elsewhere). Here a lesson can also be withdrawn by
a later one: without that a wrong early diagnosis steers every later trial.
"""

from __future__ import annotations

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
        if self.size < 1:
            raise InputError(f"a memory holds at least 1 lesson, found size {self.size!r}")
        if len(self.lessons) > self.size:
            raise InputError(f"a memory of size {self.size} cannot start with {len(self.lessons)} lessons")

    async def remember(self, reflection: Reflection, effects: Effects) -> SlidingWindow:  # noqa: ARG002
        """A new window with this lesson, without those it retracts; an empty text retracts and adds nothing."""
        kept = tuple(lesson for lesson in self.lessons if lesson.trial not in reflection.retracts)
        if reflection.text.strip():
            kept = (*kept, reflection)
        return SlidingWindow(self.size, kept[-self.size :])

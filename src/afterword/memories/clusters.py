"""A memory that shows one lesson of each kind: lessons that say much the same share one place in the prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.memory import refuse_size, standing
from afterword.core.records import Reflection
from afterword.memories.overlap import overlap


@dataclass(frozen=True, slots=True)
class ClusteredMemory:
    """Groups lessons by their words and shows the newest of each group.

    The newest lesson's group comes first, then the groups with most lessons: what went wrong again and again.
    """

    size: int = 3
    """Groups that are shown, with one lesson each."""
    alike: float = 0.5
    """From this overlap of words on, two lessons are of one group."""
    capacity: int = 24
    """Lessons that are kept to be grouped; the oldest go first."""
    kept: tuple[Reflection, ...] = ()

    def __post_init__(self) -> None:
        refuse_size(self.size, self.kept, self.capacity)

    @property
    def lessons(self) -> tuple[Reflection, ...]:
        """The newest lesson of each group that is shown, oldest first."""
        newest, *others = self.groups() or [[]]
        others.sort(key=lambda group: (-len(group), -group[0].trial))
        shown = [group[0] for group in (newest, *others)[: self.size] if group]
        return tuple(sorted(shown, key=lambda lesson: lesson.trial))

    def groups(self) -> list[list[Reflection]]:
        """All groups, each with its newest lesson first; a lesson joins the group whose newest it is like."""
        groups: list[list[Reflection]] = []
        for lesson in reversed(self.kept):
            group = next((group for group in groups if overlap(group[0].text, lesson.text) >= self.alike), None)
            if group is None:
                groups.append([lesson])
            else:
                group.append(lesson)
        return groups

    async def remember(self, reflection: Reflection, effects: Effects) -> ClusteredMemory:  # noqa: ARG002
        """A new memory with this lesson, without those it retracts."""
        return replace(self, kept=standing(self.kept, reflection)[-self.capacity :])

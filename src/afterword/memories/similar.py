"""A memory that keeps many lessons and shows, beside the newest, those that are most like it.

The newest lesson tells what has just gone wrong, so it is what the others are looked up by.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.memory import refuse_size, standing
from afterword.core.records import Reflection
from afterword.memories.overlap import overlap

Embed = Callable[[str], Awaitable[Sequence[float]]]
"""From a text to its vector; what it returns is recorded, so that a resumed run does not ask again."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Where a lesson lies among others; empty where nothing embeds."""

    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SimilarityMemory:
    """Shows the newest lesson and the earlier ones that are nearest to it, by words or by an embedding."""

    size: int = 3
    """Lessons that are shown."""
    capacity: int = 24
    """Lessons that are kept to be looked up; the oldest go first."""
    embed: Embed | None = None
    """None: the words that two lessons share decide."""
    kept: tuple[Reflection, ...] = ()
    vectors: tuple[Vector, ...] = ()
    """One for each lesson that is kept."""

    def __post_init__(self) -> None:
        refuse_size(self.size, self.kept, self.capacity)

    @property
    def lessons(self) -> tuple[Reflection, ...]:
        """The lessons that are shown, oldest first; among equally near ones the newer are taken."""
        if not self.kept:
            return ()
        last = len(self.kept) - 1
        nearest = sorted(range(last), key=lambda place: (self._nearness(place, last), place), reverse=True)
        return tuple(self.kept[place] for place in sorted([*nearest[: self.size - 1], last]))

    def _nearness(self, one: int, other: int) -> float:
        if self.embed is None:
            return overlap(self.kept[one].text, self.kept[other].text)
        return _cosine(self.vectors[one].values, self.vectors[other].values)

    async def remember(self, reflection: Reflection, effects: Effects) -> SimilarityMemory:
        """A new memory with this lesson, without those it retracts.

        Raises:
            ValueError: the embedding gave vectors of several lengths.
        """
        known = dict(zip((lesson.trial for lesson in self.kept), self.vectors, strict=False))
        kept = standing(self.kept, reflection)[-self.capacity :]
        vectors = []
        for lesson in kept:
            vector = known.get(lesson.trial)
            vectors.append(await self._vector(lesson, effects) if vector is None else vector)
        lengths = sorted({len(vector.values) for vector in vectors})
        if len(lengths) > 1:
            raise ValueError(f"an embedding gives vectors of one length, found {lengths[0]} and {lengths[-1]}")
        return replace(self, kept=kept, vectors=tuple(vectors))

    async def _vector(self, lesson: Reflection, effects: Effects) -> Vector:
        embed, text = self.embed, lesson.text
        if embed is None:
            return Vector()

        async def call() -> Vector:
            return Vector(tuple(float(value) for value in await embed(text)))

        return await effects.effect("embedding", text, call, Vector)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0

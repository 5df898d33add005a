"""Memories by name, for whoever lets a person choose one."""

from __future__ import annotations

from enum import StrEnum

from afterword.core.memory import SlidingWindow
from afterword.core.protocols import Memory, Model
from afterword.errors import InputError
from afterword.memories.clusters import ClusteredMemory
from afterword.memories.similar import SimilarityMemory
from afterword.memories.summary import SummarisingMemory


class MemoryKind(StrEnum):
    """How lessons are kept."""

    WINDOW = "window"
    """The last ones: the paper's."""
    SUMMARY = "summary"
    """Condensed by a model when full."""
    CLUSTERS = "clusters"
    """One of each kind."""
    SIMILAR = "similar"
    """The newest, and what is most like it."""

    @property
    def asks_a_model(self) -> bool:
        return self is MemoryKind.SUMMARY


def make_memory(kind: MemoryKind, size: int, model: Model | None = None) -> Memory:
    """An empty memory of a kind that shows at most `size` lessons.

    Raises:
        InputError: the kind needs a model and there is none, or the size is below 1.
    """
    match kind:
        case MemoryKind.WINDOW:
            return SlidingWindow(size)
        case MemoryKind.CLUSTERS:
            return ClusteredMemory(size)
        case MemoryKind.SIMILAR:
            return SimilarityMemory(size)
        case MemoryKind.SUMMARY:
            if model is None:
                raise InputError("a summarising memory asks a model; give it one, e.g. the reflector's")
            return SummarisingMemory(model, size)

"""Memories besides the sliding window of the core: all bounded, each a way to spend the same room in the prompt."""

from afterword.memories.clusters import ClusteredMemory
from afterword.memories.kinds import MemoryKind, make_memory
from afterword.memories.similar import Embed, SimilarityMemory
from afterword.memories.summary import SummarisingMemory

__all__ = ["ClusteredMemory", "Embed", "MemoryKind", "SimilarityMemory", "SummarisingMemory", "make_memory"]

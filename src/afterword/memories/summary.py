"""A memory that condenses: when it is full, a model writes its lessons down as one, and there is room again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterword.core.bounds import cut
from afterword.core.effects import Effects
from afterword.core.memory import refuse_size, standing
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Model
from afterword.core.records import Reflection
from afterword.core.thinking import strip_thinking
from afterword.errors import BudgetExhausted
from afterword.templates import render

_PACKAGE = "afterword.memories"
MAX_LESSON_CHARS = 1_200


@dataclass(frozen=True, slots=True)
class SummarisingMemory:
    """Keeps lessons as they are until one more does not fit; then all but the newest become one digest.

    With a size of 1 the newest is condensed too. A digest is one lesson: a retraction of anything in it withdraws
    it whole. Where no digest can be had (no budget left, an empty reply), the oldest lesson goes, as in a window.
    """

    model: Model
    size: int = 3
    temperature: float | None = 0.2
    """None leaves it out, for models that refuse it."""
    max_tokens: int = 300
    lessons: tuple[Reflection, ...] = ()

    def __post_init__(self) -> None:
        refuse_size(self.size, self.lessons, self.size)

    async def remember(self, reflection: Reflection, effects: Effects) -> SummarisingMemory:
        """A new memory with this lesson, condensed if it was full.

        Raises:
            ModelFault: the model could not be reached.
        """
        kept = standing(self.lessons, reflection)
        if len(kept) > self.size:
            old = kept if self.size == 1 else kept[:-1]
            digest = await self._condensed(old, effects)
            kept = kept[-self.size :] if digest is None else (digest, *kept[len(old) :])
        return replace(self, lessons=kept)

    async def _condensed(self, lessons: tuple[Reflection, ...], effects: Effects) -> Reflection | None:
        try:
            reply = await effects.complete("memory", self.model, self.request(lessons))
        except BudgetExhausted:
            return None
        text = " ".join(strip_thinking(reply.text).split())
        if not text:
            return None
        merged = [trial for lesson in lessons for trial in lesson.merges or (lesson.trial,)]
        return Reflection(cut(text, MAX_LESSON_CHARS), lessons[-1].trial, merges=tuple(merged))

    def request(self, lessons: tuple[Reflection, ...]) -> ChatRequest:
        """The request for a digest."""
        shown = [" ".join(cut(lesson.text, MAX_LESSON_CHARS).split()) for lesson in lessons]
        messages = (
            Message("system", render(_PACKAGE, "summary_system.jinja", {})),
            Message("user", render(_PACKAGE, "summary.jinja", {"lessons": shown})),
        )
        return ChatRequest(messages, self.max_tokens, self.temperature)

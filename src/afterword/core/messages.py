"""Provider-neutral chat messages: what is asked of a model and what comes back.

Kept apart from the providers so that the loop, the recorder and every family speak one language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from afterword.core.records import Usage

ChatRole = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]
"""Why a reply ended: by itself, or cut at `max_tokens`."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: ChatRole
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call, complete: two equal requests are the same call."""

    messages: tuple[Message, ...]
    max_tokens: int = 1024
    """Most tokens the reply may have (the paper's 1024)."""
    temperature: float | None = None
    """None leaves it out, for models that refuse it."""
    stop: tuple[str, ...] = ()
    """Texts at which the reply ends; they are not part of it."""
    seed: int | None = None
    """Passed on where the provider takes one; sampled arms differ by it."""
    schema: Mapping[str, object] | None = None
    """A JSON Schema that the reply must satisfy, where the provider can enforce it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    finish: Finish
    usage: Usage
    """`calls` is 1, `seconds` the latency of the try that answered."""
    model: str
    """The provider's own name of the model that answered."""
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """None: cached input costs as much as other input."""

    def cost_usd(self, usage: Usage) -> float:
        """The price of `usage`, whose `tokens_in` counts the cached ones too."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.tokens_in - usage.tokens_cached
        return (fresh * self.input + usage.tokens_cached * cached + usage.tokens_out * self.output) / 1e6


FREE = Price(0.0, 0.0)
"""The price of local and scripted models."""

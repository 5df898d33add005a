"""The seam for what was learnt on other tasks: rules that a person approved, in the actor's system prompt.

Lessons stay in their task; this is the one way across. It is a text that the loop's effects add to what the actor asks
of its model, so it is the same for every family, stands in the record, and is paid for like the rest of the prompt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from afterword.core.messages import ChatRequest, Message
from afterword.core.records import Task

RULED_ROLE = "actor"
"""Only the actor gets rules: who judges or reflects shall not know them."""


class Rules(Protocol):
    """Says what of the rules a task gets.

    The text stands at the end of the actor's system message; an empty one leaves every prompt as it is.
    It changes nothing, and the same task gets the same text.
    It does not raise.
    """

    def text_for(self, task: Task) -> str: ...


def with_rules(request: ChatRequest, rules: str) -> ChatRequest:
    """The request with these rules at the end of its first system message, or before all where it has none."""
    if not rules:
        return request
    messages = request.messages
    if messages and messages[0].role == "system":
        return replace(request, messages=(Message("system", f"{messages[0].content}\n\n{rules}"), *messages[1:]))
    return replace(request, messages=(Message("system", rules), *messages))

"""Models that give prepared replies in order: for tests, examples and demonstrations.

Nothing is looked up: the n-th call gets the n-th reply, whatever was asked. `recorded` is the one that checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from afterword.core.budget import token_bound
from afterword.core.messages import FREE, ChatRequest, Price, Reply
from afterword.core.records import Usage
from afterword.errors import ModelFault, RecordingMismatch


class ScriptedModel:
    """Gives its replies in order; a fault among them is raised.

    `requests` keeps what was asked, so that a test can look at the prompts.
    """

    def __init__(
        self, replies: Iterable[str | Reply | ModelFault], *, name: str = "scripted:memory", role: str | None = None
    ) -> None:
        self._replies = tuple(replies)
        self._role = role
        self._name = name
        self.requests: list[ChatRequest] = []
        self._skipped = 0

    @property
    def name(self) -> str:
        """`scripted:memory` unless stated."""
        return self._name

    @property
    def price(self) -> Price | None:
        """Nothing."""
        return FREE

    def skip(self, replies: int = 1) -> None:
        """Leaves out replies that were given elsewhere, e.g. in the run that is resumed."""
        self._skipped += replies

    async def complete(self, request: ChatRequest) -> Reply:
        """Gives the next reply.

        Raises:
            RecordingMismatch: there is none left.
            ModelFault: the script says so.
        """
        n = len(self.requests) + self._skipped
        self.requests.append(request)
        if n >= len(self._replies):
            raise RecordingMismatch(
                f"{self._name} holds {n} {'reply' if n == 1 else 'replies'}"
                f"{f' for the role {self._role!r}' if self._role else ''}, and call {n + 1} was made; "
                "add a reply, or allow fewer trials"
            )
        reply = self._replies[n]
        if isinstance(reply, ModelFault):
            raise reply
        if isinstance(reply, str):
            reply = Reply(reply, "stop", Usage(calls=1), self._name)
        if reply.usage.tokens == 0:
            reply = replace(reply, usage=replace(reply.usage, **_estimate(request, reply.text)))
        return reply


def _estimate(request: ChatRequest, text: str) -> dict[str, int]:
    """Token counts within what the budget reserves for the call."""
    tokens_in = sum(token_bound(message.content) for message in request.messages)
    return {"tokens_in": tokens_in, "tokens_out": min(token_bound(text), request.max_tokens)}

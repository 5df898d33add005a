"""A model at a provider's server: all that a call to it needs besides the provider's own form of it.

The modules of the providers map fields. What is alike for all of them stands here: limits and retries, what an SDK
raises made a typed fault, foreign text freed of secrets, and usage that is counted where it was not reported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType

from afterword.core.budget import token_bound
from afterword.core.messages import ChatRequest, Finish, Price, Reply
from afterword.core.records import Usage
from afterword.errors import ContentFiltered
from afterword.models.calls import Caller
from afterword.models.faults import Endpoint, TryFailed
from afterword.models.limits import RequestLimits
from afterword.models.options import ModelOptions
from afterword.models.prices import Pricing
from afterword.models.transport import connection_failure, cut_at, wire_text


@dataclass(frozen=True, slots=True)
class Service:
    """Which model is asked, where, and under which terms."""

    model: str
    """The provider's name of it, without `provider:`."""
    endpoint: Endpoint
    options: ModelOptions
    limits: RequestLimits
    pricing: Pricing
    http: ModuleType
    """The httpx generation that the SDK is built on, whose errors come out of it."""

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Has what an SDK raises for the transport or the server come out as `TryFailed`; a bug stays as it is."""
        try:
            yield
        except Exception as error:
            failed = connection_failure(
                error, self.endpoint, self.http, retry_after_cap_s=self.options.retry_after_cap_s
            )
            if failed is None or failed is error:
                raise
            raise failed from error

    def withheld(self, said: str) -> TryFailed:
        """The fault for an answer that the provider keeps back."""
        model = self.endpoint.model
        return TryFailed(
            ContentFiltered(f"{model} withheld the answer: {said}; reword the task or use another model", model=model)
        )

    def text(self, said: str, request: ChatRequest) -> str:
        """What a model wrote, up to the first stop: some servers take fewer stops than were asked for, or none."""
        return cut_at(self.endpoint.without_secrets(wire_text(said)), request.stop)

    def reply(self, text: str, finish: Finish, usage: Usage, answered_by: object) -> Reply:
        """A reply, with the name that the provider gives for the model that wrote it."""
        named = answered_by if isinstance(answered_by, str) and answered_by else self.model
        return Reply(text=text, finish=finish, usage=usage, model=named)

    def usage(
        self,
        request: ChatRequest,
        text: str,
        *,
        tokens_in: int | None,
        tokens_out: int | None,
        cached: int,
        reasoning: int,
        tokens_written_to_cache: int = 0,
    ) -> Usage:
        """What one try took; None where nothing was reported, which is counted too high rather than not at all."""
        if tokens_in is None:
            tokens_in = sum(token_bound(message.content) for message in request.messages)
        if tokens_out is None:
            tokens_out = token_bound(text)
        used = Usage(1, tokens_in, tokens_out, min(cached, tokens_in), min(reasoning, tokens_out), None)
        cost_usd = self.pricing.cost_usd(used, tokens_written_to_cache=tokens_written_to_cache)
        return replace(used, cost_usd=cost_usd)


class ServedModel:
    """A `Model` at a service; `ask` is the provider's single try, which raises `TryFailed`."""

    def __init__(self, service: Service, ask: Callable[[ChatRequest], Awaitable[Reply]]) -> None:
        self._service = service
        self._ask = ask
        self._caller = Caller(service.endpoint.model, service.options, service.limits)

    @property
    def name(self) -> str:
        """As the user wrote it."""
        return self._service.endpoint.model

    @property
    def price(self) -> Price | None:
        """The dearest that a token can be."""
        return self._service.pricing.bound()

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the model.

        Raises:
            ModelFault: no usable answer after the last try.
        """
        return await self._caller.call(lambda: self._ask(request))

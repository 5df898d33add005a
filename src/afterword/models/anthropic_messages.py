"""Models behind the Anthropic messages interface.

It differs from chat completions in where the system prompt stands, in how cached tokens are counted and in why
a reply ends; everything else is shared with `openai_chat` through `service`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from afterword.core.messages import ChatRequest, Finish, Message, Reply
from afterword.core.records import Usage
from afterword.errors import MissingExtra, MissingKey, RequestRejected
from afterword.models.faults import Endpoint, TryFailed
from afterword.models.limits import RequestLimits
from afterword.models.options import ModelOptions, checked_url, secrets_in
from afterword.models.prices import Pricing
from afterword.models.service import ServedModel, Service
from afterword.models.transport import (
    CONNECT_S,
    count,
    http_library,
    is_loopback,
    malformed,
    read_json,
    refuse_error_status,
    shown_address,
    usable_key,
    wire_text,
)

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import MessageParam

KEY_VARIABLE = "ANTHROPIC_API_KEY"
TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 -- the name of a variable
_DEFAULT_URL = "https://api.anthropic.com"


@asynccontextmanager
async def open_anthropic(
    name: str, model: str, options: ModelOptions, limits: RequestLimits
) -> AsyncIterator[ServedModel]:
    """A model called `model` there and `name` here.

    Raises:
        MissingExtra: the SDK is not installed.
        MissingKey: there is no key, and no server of one's own that could do without.
    """
    try:
        import anthropic
    except ImportError:
        raise MissingExtra("anthropic", "anthropic") from None
    stated_url = options.base_url or os.environ.get("ANTHROPIC_BASE_URL") or None
    key = usable_key(options.api_key or os.environ.get(KEY_VARIABLE), name, KEY_VARIABLE)
    token = None if key else usable_key(os.environ.get(TOKEN_VARIABLE), name, TOKEN_VARIABLE)
    if key is None and token is None:
        if stated_url is None:
            raise MissingKey(f"no key for {name}: set {KEY_VARIABLE}", model=name)
        key = "none"  # servers of one's own take any
    base_url = checked_url(stated_url or _DEFAULT_URL)
    endpoint = Endpoint(name, KEY_VARIABLE, shown_address(base_url), (key or token or "", *secrets_in(base_url)))
    async with anthropic.AsyncAnthropic(
        api_key=key,
        auth_token=token,
        base_url=base_url,
        max_retries=0,
        timeout=anthropic.Timeout(None, connect=CONNECT_S),
        http_client=anthropic.DefaultAsyncHttpxClient(
            follow_redirects=False,
            event_hooks={"response": [refuse_error_status]},
            trust_env=not is_loopback(base_url),
        ),
    ) as client:
        pricing = Pricing(model, "anthropic" if base_url == _DEFAULT_URL else None, base_url, options.price)
        service = Service(model, endpoint, options, limits, pricing, http_library(anthropic.DefaultAsyncHttpxClient))
        yield ServedModel(service, _Messages(client, service).ask)


class _Messages:
    """One open client; it learns by a refusal whether its model takes a schema."""

    def __init__(self, client: AsyncAnthropic, service: Service) -> None:
        self._client = client
        self._service = service
        self._takes_schema = True

    async def ask(self, request: ChatRequest) -> Reply:
        """One try, put without a schema where that is refused."""
        try:
            return await self._send(request)
        except TryFailed as failed:
            refused_schema = (
                request.schema is not None
                and self._takes_schema
                and isinstance(failed.fault, RequestRejected)
                and ("output_config" in str(failed.fault) or "output_format" in str(failed.fault))
            )
            if not refused_schema:
                raise
        self._takes_schema = False  # an older model: from now on its prompt alone asks for the form
        return replace(await self._send(request), tries=2)

    async def _send(self, request: ChatRequest) -> Reply:
        with self._service.failures():
            async with self._client.messages.with_streaming_response.create(
                model=self._service.model,
                max_tokens=request.max_tokens,
                messages=[_message(message) for message in request.messages if message.role != "system"],
                extra_body=self._extras(request),
            ) as response:
                found = await read_json(response, self._service.endpoint)
        return self._read(found, request)

    def _extras(self, request: ChatRequest) -> dict[str, object]:
        """What is set besides; a seed is left out, since this interface has none."""
        body: dict[str, object] = {}
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        if system:
            # The system message is the stable first part of a prompt: a later trial reads it from the cache.
            cached = {"type": "ephemeral"}
            body["system"] = [{"type": "text", "text": wire_text(system), "cache_control": cached}]
        if request.temperature is not None:
            body["temperature"] = request.temperature
        stops = [stop for stop in request.stop if stop.strip()]  # blank ones are refused there, and cut here
        if stops:
            body["stop_sequences"] = stops
        if request.schema is not None and self._takes_schema:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
        return body

    def _read(self, found: Mapping[str, object], request: ChatRequest) -> Reply:
        content = found.get("content")
        if not isinstance(content, list):
            raise malformed(self._service.endpoint, "expected a list of content blocks, found none")
        reason = found.get("stop_reason")
        if reason == "refusal":
            raise self._service.withheld("refusal")
        blocks = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
        text = self._service.text("".join(block for block in blocks if isinstance(block, str)), request)
        finish: Finish = "length" if reason in ("max_tokens", "model_context_window_exceeded") else "stop"
        return self._service.reply(text, finish, self._usage(found.get("usage"), request, text), found.get("model"))

    def _usage(self, reported: object, request: ChatRequest, text: str) -> Usage:
        usage = reported if isinstance(reported, dict) else {}
        fresh = count(usage.get("input_tokens"))
        cached = count(usage.get("cache_read_input_tokens")) or 0
        written = count(usage.get("cache_creation_input_tokens")) or 0
        details = usage.get("output_tokens_details")
        reasoning = count(details.get("thinking_tokens")) if isinstance(details, dict) else None
        return self._service.usage(
            request,
            text,
            # `input_tokens` leaves out what was read from or written to the cache; ours counts all of the prompt.
            tokens_in=None if fresh is None else fresh + cached + written,
            tokens_out=count(usage.get("output_tokens")),
            cached=cached,
            reasoning=reasoning or 0,
            tokens_written_to_cache=written,
        )


def _message(message: Message) -> MessageParam:
    content = wire_text(message.content)
    if message.role == "assistant":
        return {"role": "assistant", "content": content}
    return {"role": "user", "content": content}

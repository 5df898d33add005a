"""Models behind the OpenAI chat-completions interface: OpenAI itself and every compatible server.

vLLM, Ollama, llama.cpp and OpenRouter speak it with small differences: those of the request are `dialect`'s, those
of the reply are met here.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.records import Usage
from afterword.errors import MissingKey, RequestRejected
from afterword.models.dialect import Dialect
from afterword.models.faults import Endpoint, HttpFailure, TryFailed, classify
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
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

KEY_VARIABLE = "OPENAI_API_KEY"
_DEFAULT_URL = "https://api.openai.com/v1"


@asynccontextmanager
async def open_openai(
    name: str,
    model: str,
    options: ModelOptions,
    limits: RequestLimits,
    *,
    extra_body: Mapping[str, object] | None = None,
) -> AsyncIterator[ServedModel]:
    """A model called `model` there and `name` here.

    Raises:
        MissingKey: the server is OpenAI's own and there is no key.
    """
    base_url = checked_url(options.base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL)
    key = usable_key(options.api_key or os.environ.get(KEY_VARIABLE), name, KEY_VARIABLE)
    official = urlsplit(base_url).hostname == "api.openai.com"
    if key is None and official:
        raise MissingKey(
            f"no key for {name}: set {KEY_VARIABLE}; for a server of your own give its address with --base-url",
            model=name,
        )
    import openai

    endpoint = Endpoint(name, KEY_VARIABLE, shown_address(base_url), (key or "", *secrets_in(base_url)))
    http_client = openai.DefaultAsyncHttpxClient(
        follow_redirects=False,
        event_hooks={"response": [refuse_error_status]},
        trust_env=not is_loopback(base_url),
    )
    async with openai.AsyncOpenAI(
        api_key=key or "none",  # servers of one's own take any
        base_url=base_url,
        max_retries=0,
        timeout=openai.Timeout(None, connect=CONNECT_S),
        http_client=http_client,
    ) as client:
        pricing = Pricing(model, "openai" if official else None, base_url, options.price)
        library = http_library(openai.DefaultAsyncHttpxClient)
        service = Service(model, endpoint, options, limits, pricing, library)
        # OpenAI's own models all take the newer name, which its reasoning models insist on.
        dialect = Dialect("max_completion_tokens" if official else "max_tokens")
        yield ServedModel(service, _ChatCompletions(client, service, dialect, extra_body).ask)


class _ChatCompletions:
    """One open client; it learns by refusals what its server takes."""

    def __init__(
        self, client: AsyncOpenAI, service: Service, dialect: Dialect, extra_body: Mapping[str, object] | None
    ) -> None:
        self._client = client
        self._service = service
        self._dialect = dialect
        self._extra_body = extra_body or {}

    async def ask(self, request: ChatRequest) -> Reply:
        """One try, put in other words as long as the server refuses the words and not the request."""
        asked = 1
        while True:
            dialect = self._dialect
            try:
                return replace(await self._send(request, dialect), tries=asked)
            except TryFailed as failed:
                refused = isinstance(failed.fault, RequestRejected)
                left = dialect.after_refusal(str(failed.fault), request) if refused else None
                if left is None:
                    raise
                self._dialect = left
                asked += 1

    async def _send(self, request: ChatRequest, dialect: Dialect) -> Reply:
        with self._service.failures():
            async with self._client.chat.completions.with_streaming_response.create(
                model=self._service.model,
                messages=[_message(message) for message in request.messages],
                extra_body={**self._extra_body, **dialect.fields(request)},
            ) as response:
                found = await read_json(response, self._service.endpoint)
        return self._read(found, request)

    def _read(self, found: Mapping[str, object], request: ChatRequest) -> Reply:
        endpoint = self._service.endpoint
        if found.get("error"):  # OpenRouter answers 200 with the error of the provider behind it
            raise self._error_in_reply(found)
        choices = found.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise malformed(endpoint, "expected choices[0].message, found none")
        if choice.get("error"):
            raise self._error_in_reply(choice)
        said = _text(message.get("content"))
        if said is None:
            raise malformed(endpoint, f"expected text, found {type(message.get('content')).__name__}")
        finish = choice.get("finish_reason")
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            raise self._service.withheld(endpoint.quote(refusal))
        if finish == "content_filter":
            raise self._service.withheld("content filter")
        text = self._service.text(said, request)
        usage = self._usage(found.get("usage"), request, text)
        return self._service.reply(text, "length" if finish == "length" else "stop", usage, found.get("model"))

    def _error_in_reply(self, found: Mapping[str, object]) -> TryFailed:
        error = found["error"]
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code <= 599 else 502
        failure = HttpFailure(status, {}, json.dumps(found).encode())
        service = self._service
        return classify(failure, service.endpoint, retry_after_cap_s=service.options.retry_after_cap_s)

    def _usage(self, reported: object, request: ChatRequest, text: str) -> Usage:
        usage = reported if isinstance(reported, dict) else {}  # some servers report nothing
        return self._service.usage(
            request,
            text,
            tokens_in=count(usage.get("prompt_tokens")),
            tokens_out=count(usage.get("completion_tokens")),
            cached=count(_part(usage, "prompt_tokens_details", "cached_tokens")) or 0,
            reasoning=count(_part(usage, "completion_tokens_details", "reasoning_tokens")) or 0,
        )


def _message(message: Message) -> ChatCompletionMessageParam:
    content = wire_text(message.content)
    if message.role == "system":
        return {"role": "system", "content": content}
    if message.role == "assistant":
        return {"role": "assistant", "content": content}
    return {"role": "user", "content": content}


def _text(content: object) -> str | None:
    """The text of a message, which some servers send in parts; None when it is neither."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return None


def _part(usage: Mapping[str, object], group: str, name: str) -> object:
    details = usage.get(group)
    return details.get(name) if isinstance(details, dict) else None

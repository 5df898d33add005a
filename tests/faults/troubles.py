"""Each way in which a provider fails, in the words of both interfaces, with the fault that it has to become.

One table for the tests of the models, of the loop and of the command line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from afterword.errors import (
    CallTimeout,
    ContentFiltered,
    ContextTooLong,
    MalformedReply,
    MissingKey,
    ModelFault,
    ModelUnreachable,
    RateLimited,
    ServerFault,
)
from tests.models.server import Http, completion, error, message

PROVIDERS = ("openai", "anthropic")
NOW = (("Retry-After", "0"),)


@dataclass(frozen=True)
class Trouble:
    """How a provider misbehaves."""

    name: str
    chat: Http
    """Over the OpenAI interface."""
    messages: Http
    """Over the Anthropic interface."""
    fault: type[ModelFault]
    passes: bool = False
    """Another try may help; without that, one call is all that is spent."""

    def answer(self, provider: str) -> Http:
        return self.chat if provider == "openai" else self.messages


def _both(name: str, answer: Http, fault: type[ModelFault], *, passes: bool = False) -> Trouble:
    return Trouble(name, answer, answer, fault, passes)


def refused(status: int, kind: str, text: str, headers: tuple[tuple[str, str], ...] = ()) -> Http:
    """An error in Anthropic's form."""
    body = {"type": "error", "error": {"type": kind, "message": text}}
    return Http(status, json.dumps(body).encode(), headers)


def _status(status: int, kind: str, text: str, fault: type[ModelFault]) -> Trouble:
    return Trouble(f"{status}", error(status, text), refused(status, kind, text), fault, passes=True)


_HTML = Http(body=b"<html><h1>Log in to the network</h1></html>", content_type="text/html")
_GARBLED = Http(body=b'{"choices": [{"mess\x00\xff')

TROUBLES = (
    Trouble(
        "429 with Retry-After",
        error(429, "slow down", headers=NOW),
        refused(429, "rate_limit_error", "slow down", NOW),
        RateLimited,
        passes=True,
    ),
    _status(429, "rate_limit_error", "slow down", RateLimited),
    _status(500, "api_error", "Internal server error", ServerFault),
    _status(503, "api_error", "Service unavailable", ServerFault),
    _status(529, "overloaded_error", "Overloaded", ServerFault),
    Trouble(
        "reset in mid-reply",
        Http(body=completion("x" * 2000).body, cut=True),
        Http(body=message("x" * 2000).body, cut=True),
        ModelUnreachable,
        passes=True,
    ),
    _both("invalid JSON", _GARBLED, MalformedReply, passes=True),
    _both("20 MB", Http(body=b'{"x": "' + b"x" * 20_000_000 + b'"}'), MalformedReply),
    _both("hang", Http(hang=True), CallTimeout),
    Trouble(
        "slow drip",
        Http(body=completion("x" * 2000).body, drip_s=0.05),
        Http(body=message("x" * 2000).body, drip_s=0.05),
        CallTimeout,
    ),
    _both("slow drip of an error", Http(503, b"x" * 2000, drip_s=0.05), CallTimeout),
    _both("wrong content type", _HTML, MalformedReply),
    Trouble(
        "expired key",
        error(401, "Your API key has expired", code="invalid_api_key"),
        refused(401, "authentication_error", "API key has expired"),
        MissingKey,
    ),
    Trouble(
        "context too long",
        error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        refused(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        ContextTooLong,
    ),
    Trouble(
        "content filter by error",
        error(400, "The response was filtered", code="content_filter"),
        refused(400, "invalid_request_error", "Output blocked by content_filter"),
        ContentFiltered,
    ),
    Trouble(
        "content filter by finish reason",
        completion("", finish="content_filter"),
        message("", stop_reason="refusal"),
        ContentFiltered,
    ),
)
"""All that a server can answer; a wrong certificate and a missing host answer nothing."""

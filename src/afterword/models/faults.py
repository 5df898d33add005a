"""From what a provider answered to a typed fault that says what to do.

OpenAI, Anthropic and the many compatible servers word their errors differently; this is the one place that
knows how. Everything that comes from outside is cut to one line and freed of keys here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from afterword.errors import (
    CallTimeout,
    ContentFiltered,
    ContextTooLong,
    MissingKey,
    ModelFault,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServerFault,
    UnknownModel,
)

_MOST_QUOTED = 300
_KEYS = re.compile(r"\b(?:sk|gsk|hf|xai)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?i:\bbearer\s+)[^\s\"',;]+|(?<=//)[^/@\s]+@")
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length"
    r"|context (?:length|size|window)|prompt (?:is )?too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content_filter|content_policy|responsibleaipolicy|invalid_prompt|moderation", re.IGNORECASE)
_NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_not_active|billing_hard_limit|credit balance"
    r"|insufficient (?:credit|balance|fund)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodel\b.{0,120}?(?:not found|does not exist|not exist)"
    r"|(?:unknown|no such|invalid|not a valid) model|not_found_error.*\bmodel\b",
    re.IGNORECASE | re.DOTALL,
)


class TryFailed(Exception):
    """One try failed with this fault; `retry` says whether another one can help."""

    def __init__(
        self, fault: ModelFault, *, retry: bool = False, reason: str = "", retry_after_s: float | None = None
    ) -> None:
        self.fault = fault
        self.retry = retry
        self.reason = reason
        self.retry_after_s = retry_after_s
        super().__init__(str(fault))


class HttpFailure(Exception):
    """The server answered with an error status; the body is cut to what an error message needs."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        super().__init__(f"HTTP {status}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is asked, for the messages."""

    model: str
    """`provider:name`."""
    key_variable: str
    """The environment variable that holds the key, e.g. `OPENAI_API_KEY`."""
    address: str = ""
    """Scheme, host and path of the server."""
    secrets: tuple[str, ...] = ()
    """To be scrubbed from everything that is quoted."""

    def without_secrets(self, text: str) -> str:
        """The text without the key and the password that the server was sent, should it repeat them."""
        for secret in self.secrets:
            if len(secret) > 3:
                text = text.replace(secret, "[key]")
        return text

    def quote(self, text: str) -> str:
        """One line of foreign text, cut, and without keys."""
        text = _KEYS.sub("[key]", self.without_secrets(text))
        text = "".join(character if character.isprintable() else " " for character in text)
        text = " ".join(text.split())
        return text if len(text) <= _MOST_QUOTED else text[:_MOST_QUOTED] + "…"


def classify(failure: HttpFailure, endpoint: Endpoint, *, retry_after_cap_s: float) -> TryFailed:
    """The fault that an error status stands for, and whether another try can help."""
    said = _read_error(failure.body)
    text = endpoint.quote(said) or "no explanation"
    status = failure.status
    if fault := _final_fault(status, said, text, endpoint):
        return TryFailed(fault, reason=str(status))
    model = endpoint.model
    if status < 400:
        to = endpoint.quote(failure.headers.get("location", "")) or "nowhere"
        fault = RequestRejected(
            f"{endpoint.address} redirects {model} to {to} ({status}); if that is the server, give its base URL",
            model=model,
        )
        return TryFailed(fault, reason=str(status))
    if status == 429:
        fault = RateLimited(f"{model} still answers 429: {text}; wait, or lower --requests-per-minute", model=model)
    elif status == 408:
        fault = CallTimeout(f"{model} answers 408, it waited too long: {text}; try again", model=model)
    elif status == 409 or status >= 500:
        fault = ServerFault(f"{model} still answers {status}: {text}; try again later", model=model)
    else:
        hint = "check the model's name and what it takes"
        if "temperature" in said:
            hint = "leave the temperature out for this model"
        fault = RequestRejected(f"{model} refuses the request ({status}): {text}; {hint}", model=model)
        return TryFailed(fault, reason=str(status))
    wait_s = retry_after(failure.headers, cap_s=retry_after_cap_s)
    return TryFailed(fault, retry=True, reason=str(status), retry_after_s=wait_s)


def _final_fault(status: int, said: str, text: str, endpoint: Endpoint) -> ModelFault | None:
    model = endpoint.model
    client_error = 400 <= status < 500
    if status == 402 or (client_error and _NO_CREDIT.search(said)):
        return QuotaExceeded(
            f"the account for {model} has no credit left: {text}; add credit or use another key", model=model
        )
    if status == 401 or (status == 403 and not _FILTERED.search(said)):
        return MissingKey(f"{model} refuses the key ({status}): {text}; set {endpoint.key_variable}", model=model)
    if client_error and status != 429 and _FILTERED.search(said):
        return ContentFiltered(
            f"{model} withheld the answer: {text}; reword the task or use another model", model=model
        )
    if status == 413 or (client_error and status != 429 and _TOO_LONG.search(said)):
        return ContextTooLong(
            f"the prompt does not fit {model}: {text}; shorten the task, or use a model with a larger context",
            model=model,
        )
    if status in (400, 404, 422) and _NO_MODEL.search(said):
        return UnknownModel(f"{model} is not known there: {text}; check the name after the colon", model=model)
    if status == 404:
        return RequestRejected(
            f"{endpoint.address} has no chat interface (404): {text}; a base URL usually ends in /v1", model=model
        )
    return None


def retry_after(headers: Mapping[str, str], *, cap_s: float) -> float | None:
    """What the provider asks for, in seconds within [0, cap]; None when it asks for nothing readable."""
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("retry-after")
    wait_s = _number(milliseconds)
    if wait_s is not None:
        wait_s /= 1000
    elif (wait_s := _number(seconds)) is None and seconds:
        try:
            then = parsedate_to_datetime(seconds)
        except ValueError:
            return None
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        wait_s = (then - datetime.now(UTC)).total_seconds()
    return None if wait_s is None else min(max(wait_s, 0.0), cap_s)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _read_error(body: bytes) -> str:
    """Code, type and message of an error body, in whichever of the known forms; else the body itself."""
    text = body.decode("utf-8", "replace")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]*>", " ", text)
    for name in ("error", "error", "detail"):  # {"error": {...}}, a text, or one error wrapped in another
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    if isinstance(found, dict):
        parts = [found.get(name) for name in ("code", "type", "message")]
        return ": ".join(str(part) for part in parts if isinstance(part, str | int) and part) or json.dumps(found)
    return found if isinstance(found, str) else json.dumps(found)

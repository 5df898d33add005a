"""What the two SDK clients have in common on the wire: a bounded read, and errors as plain values.

The SDKs read a reply of any size into memory and wrap errors in their own trees; here a reply is read up to a
bound, as bytes, so that the providers' modules only map fields.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Protocol
from urllib.parse import urlsplit

from afterword.errors import MalformedReply, MissingKey, ModelUnreachable
from afterword.models.faults import Endpoint, HttpFailure, TryFailed, classify

MOST_REPLY_BYTES = 8_000_000
"""A reply of 100,000 tokens, with every letter escaped, has less."""
_MOST_ERROR_BYTES = 64_000
_MOST_TOKENS = 10**9
"""A report of more is no number of tokens."""
CONNECT_S = 15.0
"""A server that takes longer to be reached is not there."""


class RawResponse(Protocol):
    """What both SDKs give for a streamed response."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_bytes(self) -> AsyncIterator[bytes]: ...


class HttpResponse(Protocol):
    """What both httpx generations hand to a response hook."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...


def usable_key(key: str | None, name: str, variable: str) -> str | None:
    """The key without the white space that copying leaves around it; None when there is none.

    Raises:
        MissingKey: it holds something that no header can carry.
    """
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise MissingKey(f"the key for {name} holds characters that no key has; set {variable} anew", model=name)
    return key or None


def is_loopback(base_url: str) -> bool:
    """Whether the address is this machine's own: no proxy stands in between then."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def http_library(client: type[object]) -> ModuleType:
    """The httpx generation that an SDK's HTTP client is built on; the SDKs differ in it by version."""
    roots = {cls.__module__.partition(".")[0] for cls in client.__mro__}
    return import_module("httpx2" if "httpx2" in roots else "httpx")


async def refuse_error_status(response: HttpResponse) -> None:
    """A response hook: turns an error status into `HttpFailure` before the SDK reads its body without a bound.

    A redirect is one too: followed, it would carry prompts and a key to a host that nobody named.
    """
    if response.status_code < 300:
        return
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MOST_ERROR_BYTES:
            break
    raise HttpFailure(response.status_code, dict(response.headers), bytes(body[:_MOST_ERROR_BYTES]))


async def read_json(response: RawResponse, endpoint: Endpoint) -> Mapping[str, object]:
    """The JSON object of a reply.

    Raises:
        TryFailed: it is too large, of another type, or not a JSON object.
    """
    kind = response.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if "json" not in kind:
        raise malformed(endpoint, f"expected application/json, found {endpoint.quote(kind)!r}; check the base URL")
    body = bytearray()
    async for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MOST_REPLY_BYTES:
            raise malformed(endpoint, f"expected at most {MOST_REPLY_BYTES:,} bytes, found more; check the base URL")
    try:
        found = json.loads(body)
    except RecursionError as error:
        raise malformed(endpoint, "expected a reply, found JSON nested too deeply") from error
    except ValueError as error:  # announced as JSON: garbled on its way
        what = f"expected JSON, found {endpoint.quote(repr(bytes(body[:80])))}"
        raise malformed(endpoint, what, retry=True) from error
    if not isinstance(found, dict):
        raise malformed(endpoint, f"expected a JSON object, found {type(found).__name__}")
    return found


def malformed(endpoint: Endpoint, what: str, *, retry: bool = False) -> TryFailed:
    """The fault for an answer that is not what the protocol says."""
    return TryFailed(
        MalformedReply(f"the answer of {endpoint.model} cannot be read: {what}", model=endpoint.model),
        retry=retry,
        reason="malformed",
    )


def connection_failure(
    error: Exception, endpoint: Endpoint, library: ModuleType, *, retry_after_cap_s: float
) -> TryFailed | None:
    """What an exception from below the SDK means; None when it is none of the transport's."""
    import socket
    import ssl

    chain = _chain(error)
    for found in chain:
        if isinstance(found, TryFailed):
            return found
        if isinstance(found, HttpFailure):
            return classify(found, endpoint, retry_after_cap_s=retry_after_cap_s)
    model, where = endpoint.model, endpoint.address
    if any(isinstance(found, ssl.SSLCertVerificationError) for found in chain):
        said = next(endpoint.quote(str(found)) for found in chain if isinstance(found, ssl.SSLCertVerificationError))
        return TryFailed(ModelUnreachable(f"the certificate of {where} is not trusted: {said}", model=model))
    handshake = any(isinstance(found, library.ConnectError) for found in chain)
    if handshake and any(type(found) is ssl.SSLError for found in chain):  # its kinds for lost connections pass
        said = next(endpoint.quote(str(found)) for found in chain if isinstance(found, ssl.SSLError))
        return TryFailed(_unreachable(f"no secure connection ({said})", endpoint))
    if any(isinstance(found, library.InvalidURL | library.UnsupportedProtocol) for found in chain):
        return TryFailed(_unreachable("no such address", endpoint))
    if any(isinstance(found, socket.gaierror) and found.errno == socket.EAI_NONAME for found in chain):
        return TryFailed(_unreachable("no such host", endpoint))
    if any(isinstance(found, ConnectionRefusedError) for found in chain):
        # A server on this machine that is down does not come up within seconds; one behind a balancer may.
        retry = not is_loopback(where)
        return TryFailed(_unreachable("connection refused", endpoint), retry=retry, reason="connection refused")
    for found in chain:
        if isinstance(found, library.TransportError | library.DecodingError):
            said = endpoint.quote(str(found)) or type(found).__name__
            reason = "no connection" if isinstance(found, library.ConnectTimeout) else "connection dropped"
            return TryFailed(_unreachable(said, endpoint), retry=True, reason=reason)
    return None


def _chain(error: BaseException) -> list[BaseException]:
    """An exception with all that led to it; one error per address tried may come as a group."""
    chain: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        found = left.pop(0)
        if found is not None and found not in chain:
            chain.append(found)
            left += [found.__cause__, found.__context__]
            left += found.exceptions if isinstance(found, BaseExceptionGroup) else ()
    return chain


def _unreachable(said: str, endpoint: Endpoint) -> ModelUnreachable:
    return ModelUnreachable(
        f"cannot reach {endpoint.address} for {endpoint.model}: {said}; is the server up and the address right?",
        model=endpoint.model,
    )


def count(value: object) -> int | None:
    """A number of tokens as a provider reports it; None when it is no such thing."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def wire_text(text: str) -> str:
    """The text as it can be sent: a lone surrogate, which no encoding carries, is written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def cut_at(text: str, stops: Iterable[str]) -> str:
    """The text up to the first stop, for servers that take fewer stops or none."""
    ends = [end for end in (text.find(stop) for stop in stops if stop) if end >= 0]
    return text[: min(ends)] if ends else text


def shown_address(base_url: str) -> str:
    """The base URL without a user name or a query, for messages."""
    parts = urlsplit(base_url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"

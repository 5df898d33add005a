"""What a user can set about a model, in one typed object.

Kept apart from the providers so that the command line and the tests can build it without loading any of them.
"""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit

from afterword.core.messages import Price
from afterword.errors import InputError

Lookup = Literal["strict", "positional"]
"""How a recording is searched: by the whole request, or by its place among those of its role."""


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """A try failed and another one follows after a wait."""

    model: str
    tried: int
    """How many tries have failed so far."""
    max_tries: int
    reason: str
    """Short: the status code or what happened to the connection."""
    wait_s: float


def exponential_backoff(tried: int, retry_after_s: float | None) -> float:
    """Seconds to wait after the `tried`-th try: what the provider asked for, else 0.5, 1, 2, 4, 8 s and some more.

    The added part is random so that callers which were refused together do not come back together.
    """
    if retry_after_s is not None:
        return retry_after_s
    return min(8.0, 0.5 * 2.0 ** min(tried - 1, 10)) * random.uniform(1.0, 1.5)  # noqa: S311


def checked_url(url: str) -> str:
    """The address, if it can be one.

    Raises:
        InputError: it has another scheme, no host, or a port that is none.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(f"expected a base URL like http://localhost:8000/v1, found {url!r}")
    return url


def secrets_in(url: str | None) -> tuple[str, ...]:
    """What must not be shown of an address: its password, as it is written and as it is sent."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return ()
    if not parts.password:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password)
    return parts.password, password, b64encode(f"{user}:{password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The settings of one model. What a provider has no use for is ignored by it."""

    base_url: str | None = None
    """Where an OpenAI-compatible or Anthropic-compatible server listens, e.g. `http://localhost:8000/v1`."""
    api_key: str | None = field(default=None, repr=False)
    """None: the environment variable of the provider's own SDK."""
    timeout_s: float = 300.0
    """Wall time of one try, from sending the request to the last byte of the reply."""
    max_tries: int = 5
    retry_after_cap_s: float = 60.0
    """The longest wait that a provider can ask for."""
    backoff: Callable[[int, float | None], float] = exponential_backoff
    """Seconds to wait, from the number of failed tries and what the provider asked for (capped)."""
    on_retry: Callable[[RetryNotice], None] | None = None
    """Told before each wait; it must be quick."""
    concurrency: int = 8
    """Most requests under way at a time."""
    requests_per_minute: int | None = None
    """Most requests begun in any minute, retries included."""
    price: Price | None = None
    """What the model costs, stated by the user; it wins over the price table."""
    lookup: Lookup = "strict"
    """For `recorded:`."""
    threads: int | None = None
    """For `local`, of one answer; where stated, as many answers at a time as the cores carry and `concurrency` allows.
    None: as many as the machine has idle when the server starts, and one answer at a time."""
    context_tokens: int = 8192
    """For `local`: the most that prompt and reply together may have."""
    prompt_cache: bool = False
    """For `local`: do not read again the beginning that a prompt shares with the one before. Short replies take half
    the time, but a repeated greedy prompt may be answered differently, since rounding depends on what was read."""

    def __post_init__(self) -> None:
        for name in ("timeout_s", "max_tries", "concurrency", "requests_per_minute", "threads", "context_tokens"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, found {value!r}")
        if not self.retry_after_cap_s >= 0:
            raise InputError(f"retry_after_cap_s must not be below 0, found {self.retry_after_cap_s!r}")
        if self.price is not None and min(self.price.input, self.price.output, self.price.cached_input or 0.0) < 0:
            raise InputError(f"a price must not be below 0, found {self.price!r}")
        if self.base_url is not None:
            checked_url(self.base_url)

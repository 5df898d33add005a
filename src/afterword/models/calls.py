"""One model call from the first try to the last: limits, the time limit of a try, and retries that are seen.

The providers' own retries are switched off, since they happen out of sight; every provider makes its single
try and this module does the rest.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from afterword.core.messages import Reply
from afterword.errors import CallTimeout
from afterword.models.faults import TryFailed
from afterword.models.limits import RequestLimits
from afterword.models.options import ModelOptions, RetryNotice


class Caller:
    """Makes the calls of one model."""

    def __init__(self, model: str, options: ModelOptions, limits: RequestLimits) -> None:
        self._model = model
        self._options = options
        self._limits = limits

    async def call(self, attempt: Callable[[], Awaitable[Reply]]) -> Reply:
        """Repeats `attempt`, which raises `TryFailed`, until it answers or no further try can help.

        Returns:
            The reply, with its number of tries and its latency filled in.

        Raises:
            ModelFault: what the last try failed with.
        """
        import stamina

        keep_retries_quiet()
        tried = 0

        def wait_before_next(error: Exception) -> bool | float:
            if not (isinstance(error, TryFailed) and error.retry and tried < self._options.max_tries):
                return False
            wait_s = self._options.backoff(tried, error.retry_after_s)
            if self._options.on_retry is not None:
                notice = RetryNotice(self._model, tried, self._options.max_tries, error.reason, wait_s)
                self._options.on_retry(notice)
            return float(wait_s)

        try:
            async for context in stamina.retry_context(
                on=wait_before_next, attempts=self._options.max_tries, timeout=None
            ):
                with context:
                    tried += 1
                    reply = await self._try_once(attempt)
                    return replace(reply, tries=tried - 1 + reply.tries)
        except TryFailed as failed:
            raise failed.fault from failed.__cause__
        raise AssertionError("unreachable: the last try returns or raises")

    async def _try_once(self, attempt: Callable[[], Awaitable[Reply]]) -> Reply:
        async with self._limits.request():
            started = time.monotonic()
            try:
                with anyio.fail_after(self._options.timeout_s):
                    reply = await attempt()
            except TimeoutError:
                # Not tried again: the provider may have worked, and billed, all the while.
                limit_s = self._options.timeout_s
                raise TryFailed(
                    CallTimeout(
                        f"{self._model} gave no complete answer within {limit_s:g} s; raise the time limit of a call",
                        model=self._model,
                    )
                ) from None
            return replace(reply, usage=replace(reply.usage, seconds=time.monotonic() - started))


def keep_retries_quiet() -> None:
    """Keeps stamina's log of retries off a bare stderr, since `on_retry` tells them; a configured logger gets it."""
    logger = logging.getLogger("stamina")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())

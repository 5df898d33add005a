"""How many requests may be under way, and how many may begin in a minute.

One `RequestLimits` object stands for one model at one address; the roles that use the same model share it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

_WINDOW_S = 60.0


class RequestLimits:
    """A gate before each request: concurrency, and a sliding minute."""

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._slots = anyio.Semaphore(concurrency)
        self._turn = anyio.Lock()
        self._per_minute = requests_per_minute
        self._begun: deque[float] = deque()
        self._clock = clock
        self._sleep = sleep

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """Waits until a request may begin, and holds its slot until it is over."""
        async with self._slots:
            if self._per_minute is not None:
                async with self._turn:  # first come, first served
                    await self._await_minute(self._per_minute)
            yield

    async def _await_minute(self, most: int) -> None:
        while True:
            now = self._clock()
            while self._begun and now - self._begun[0] >= _WINDOW_S:
                self._begun.popleft()
            if len(self._begun) < most:
                self._begun.append(now)
                return
            await self._sleep(self._begun[0] + _WINDOW_S - now)

"""How many requests may be under way, how many may begin in a minute, and what the provider's own word changes.

One `RequestLimits` object stands for one model at one address; the roles and tasks that use the same model share it.
A provider that refuses a request for its rate is taken at its word by all of them: nothing begins before the moment
it named, and half as many are under way afterwards; each answer then lets a little more in (as TCP does, AIMD).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from afterword.models.faults import TryFailed

_WINDOW_S = 60.0
_REFUSALS = ("429", "503", "529")
"""Too many requests, and the two ways to say that the service is overloaded."""


class RequestLimits:
    """A gate before each request: requests under way, a sliding minute, and the provider's refusals."""

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._most = concurrency
        self._window = float(concurrency)
        self._under_way = 0
        self._waiting: deque[anyio.Event] = deque()
        self._closed_until = float("-inf")
        self._narrowed_at = float("-inf")
        self._turn = anyio.Lock()
        self._per_minute = requests_per_minute
        self._begun: deque[float] = deque()
        self._clock = clock
        self._sleep = sleep

    @property
    def window(self) -> int:
        """How many requests may be under way now."""
        return max(1, int(self._window))

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """Waits until a request may begin, and holds its slot until it is over: first come, first served."""
        await self._take_slot()
        try:
            await self._begin()
            begun_at = self._clock()
            try:
                yield
            except TryFailed as failed:
                if failed.reason in _REFUSALS:
                    self._narrow(begun_at, failed.retry_after_s)
                raise
            self._window = min(float(self._most), self._window + 1 / self._window)
        finally:
            self._under_way -= 1
            self._let_in()

    async def _take_slot(self) -> None:
        if self._under_way < self.window and not self._waiting:
            self._under_way += 1
            return
        turn = anyio.Event()
        self._waiting.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():  # the slot was given and is not used
                self._under_way -= 1
                self._let_in()
            else:
                self._waiting.remove(turn)
            raise

    def _let_in(self) -> None:
        while self._waiting and self._under_way < self.window:
            self._under_way += 1
            self._waiting.popleft().set()

    def _narrow(self, begun_at: float, retry_after_s: float | None) -> None:
        now = self._clock()
        self._closed_until = max(self._closed_until, now + (retry_after_s or 0.0))
        if begun_at >= self._narrowed_at:  # the others of one burst, refused together, say nothing new
            self._window = max(1.0, self._window / 2)
            self._narrowed_at = now

    async def _begin(self) -> None:
        """Waits for the provider's moment and for the minute's allowance."""
        while (wait_s := self._closed_until - self._clock()) > 0:
            await self._sleep(wait_s)
        if self._per_minute is not None:
            async with self._turn:
                await self._await_minute(self._per_minute)

    async def _await_minute(self, most: int) -> None:
        while True:
            now = self._clock()
            while self._begun and now - self._begun[0] >= _WINDOW_S:
                self._begun.popleft()
            if len(self._begun) < most:
                self._begun.append(now)
                return
            await self._sleep(self._begun[0] + _WINDOW_S - now)

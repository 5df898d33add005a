"""The gate before each request."""

from __future__ import annotations

import anyio
import pytest

from afterword.models import RequestLimits

pytestmark = pytest.mark.anyio


class Time:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def test_no_more_requests_begin_in_a_minute_than_allowed() -> None:
    time = Time()
    limits = RequestLimits(concurrency=1, requests_per_minute=3, clock=time, sleep=time.sleep)
    begun = []
    for _ in range(7):
        async with limits.request():
            begun.append(time.now)
            time.now += 1.0
    assert begun == [100.0, 101.0, 102.0, 160.0, 161.0, 162.0, 220.0]


async def test_without_a_rate_nothing_waits() -> None:
    time = Time()
    limits = RequestLimits(concurrency=1, clock=time, sleep=time.sleep)
    for _ in range(100):
        async with limits.request():
            pass
    assert time.slept == []


async def test_a_slot_is_given_back_when_the_request_fails() -> None:
    limits = RequestLimits(concurrency=1)
    with pytest.raises(ZeroDivisionError):
        async with limits.request():
            raise ZeroDivisionError
    with anyio.fail_after(5):
        async with limits.request():
            pass


async def test_requests_under_way_never_exceed_the_limit() -> None:
    limits = RequestLimits(concurrency=3)
    under_way, most = 0, 0

    async def request() -> None:
        nonlocal under_way, most
        async with limits.request():
            under_way += 1
            most = max(most, under_way)
            await anyio.lowlevel.checkpoint()
            under_way -= 1

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(request)
    assert most == 3

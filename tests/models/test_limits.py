"""The gate before each request."""

from __future__ import annotations

import anyio
import pytest

from afterword.errors import RateLimited
from afterword.models import RequestLimits
from afterword.models.faults import TryFailed

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
    with anyio.fail_after(30):
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


def refused(retry_after_s: float | None = None, reason: str = "429") -> TryFailed:
    return TryFailed(RateLimited("slow down", model="m"), retry=True, reason=reason, retry_after_s=retry_after_s)


async def test_after_a_refusal_half_as_many_are_under_way_and_answers_let_more_in() -> None:
    time = Time()
    limits = RequestLimits(concurrency=8, clock=time, sleep=time.sleep)
    with pytest.raises(TryFailed):
        async with limits.request():
            raise refused()
    assert limits.window == 4
    for _ in range(40):
        async with limits.request():
            time.now += 0.1
    assert limits.window == 8


async def test_a_burst_refused_together_narrows_once() -> None:
    time = Time()
    limits = RequestLimits(concurrency=8, clock=time, sleep=time.sleep)

    async def refused_request() -> None:
        async with limits.request():
            await anyio.lowlevel.checkpoint()
            time.now += 0.001
            raise refused()

    async def request() -> None:
        with pytest.raises(TryFailed):
            await refused_request()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(request)
    assert limits.window == 4


async def test_nothing_begins_before_the_moment_that_the_provider_named() -> None:
    time = Time()
    limits = RequestLimits(concurrency=8, clock=time, sleep=time.sleep)
    with pytest.raises(TryFailed):
        async with limits.request():
            raise refused(retry_after_s=7.0)
    async with limits.request():
        assert time.now == 107.0


async def test_an_overloaded_service_counts_as_a_refusal_and_a_dropped_connection_does_not() -> None:
    limits = RequestLimits(concurrency=8)
    for reason, window in (("connection dropped", 8), ("529", 4)):
        with pytest.raises(TryFailed):
            async with limits.request():
                raise refused(reason=reason)
        assert limits.window == window


async def test_who_is_cancelled_while_waiting_leaves_no_slot_behind() -> None:
    limits = RequestLimits(concurrency=1)
    served = []

    async def request(name: str) -> None:
        async with limits.request():
            served.append(name)

    async with anyio.create_task_group() as group, limits.request():
        with anyio.move_on_after(0.01):
            await request("impatient")
        group.start_soon(request, "patient")
        await anyio.lowlevel.checkpoint()
    assert served == ["patient"]
    with anyio.fail_after(30):
        await request("last")

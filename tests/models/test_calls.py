"""One call from the first try to the last, without a network."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest

from afterword.core.messages import Reply
from afterword.core.records import Usage
from afterword.errors import CallTimeout, ModelUnreachable, RateLimited
from afterword.models import ModelOptions, RequestLimits, RetryNotice
from afterword.models.calls import Caller
from afterword.models.faults import TryFailed
from afterword.models.options import exponential_backoff
from tests.models.doubles import Notices, no_wait

pytestmark = pytest.mark.anyio
OPTIONS = ModelOptions(backoff=no_wait)
HELLO = Reply("hello", "stop", Usage(calls=1), "m")


def attempts(*results: Reply | Exception) -> tuple[Callable[[], Awaitable[Reply]], list[int]]:
    """An attempt that gives these results in order, and a list that grows with each try."""
    made: list[int] = []

    async def attempt() -> Reply:
        await anyio.lowlevel.checkpoint()
        result = results[len(made)]
        made.append(len(made))
        if isinstance(result, Exception):
            raise result
        return result

    return attempt, made


def limited(retry_after_s: float | None = None) -> TryFailed:
    return TryFailed(RateLimited("slow", model="m"), retry=True, reason="429", retry_after_s=retry_after_s)


async def test_tries_are_counted_and_told() -> None:
    notices = Notices()
    attempt, _ = attempts(limited(), limited(2.0), HELLO)
    caller = Caller("m", replace(OPTIONS, on_retry=notices), RequestLimits(concurrency=1))
    reply = await caller.call(attempt)
    assert reply.tries == 3
    assert notices.seen == [RetryNotice("m", 1, 5, "429", 0.0), RetryNotice("m", 2, 5, "429", 0.0)]


async def test_the_last_failed_try_announces_no_wait() -> None:
    notices = Notices()
    attempt, made = attempts(limited(), limited())
    caller = Caller("m", replace(OPTIONS, on_retry=notices, max_tries=2), RequestLimits(concurrency=1))
    with pytest.raises(RateLimited):
        await caller.call(attempt)
    assert len(made) == 2
    assert len(notices.seen) == 1


async def test_a_final_failure_is_not_tried_again() -> None:
    attempt, made = attempts(TryFailed(ModelUnreachable("gone", model="m")), HELLO)
    with pytest.raises(ModelUnreachable, match="gone"):
        await Caller("m", OPTIONS, RequestLimits(concurrency=1)).call(attempt)
    assert len(made) == 1


async def test_an_error_of_ours_passes_through() -> None:
    attempt, made = attempts(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await Caller("m", OPTIONS, RequestLimits(concurrency=1)).call(attempt)
    assert len(made) == 1


async def test_waiting_for_a_slot_does_not_count_as_time_of_the_call() -> None:
    limits = RequestLimits(concurrency=1)
    caller = Caller("m", replace(OPTIONS, timeout_s=0.05), limits)
    attempt, _ = attempts(HELLO)
    replies = []

    async def call() -> None:
        replies.append(await caller.call(attempt))

    async with anyio.create_task_group() as group, limits.request():
        group.start_soon(call)
        await anyio.sleep(0.2)
    assert [reply.text for reply in replies] == ["hello"]


async def test_a_try_that_takes_too_long_is_a_timeout() -> None:
    caller = Caller("m", replace(OPTIONS, timeout_s=0.01), RequestLimits(concurrency=1))

    async def attempt() -> Reply:
        await anyio.sleep_forever()
        return HELLO

    with pytest.raises(CallTimeout):
        await caller.call(attempt)


async def test_retries_write_nothing_to_a_bare_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    attempt, _ = attempts(limited(), HELLO)
    await Caller("m", OPTIONS, RequestLimits(concurrency=1)).call(attempt)
    assert capfd.readouterr().err == ""
    assert logging.getLogger("stamina").handlers


def test_backoff_grows_is_capped_and_prefers_what_was_asked_for() -> None:
    waits = [exponential_backoff(tried, None) for tried in range(1, 30)]
    assert 0.5 <= waits[0] <= 0.75
    assert 8.0 <= waits[-1] <= 12.0
    assert exponential_backoff(1, 17.0) == 17.0
    assert exponential_backoff(9, 0.0) == 0.0

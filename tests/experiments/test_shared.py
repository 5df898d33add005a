"""Resources that tasks share: opened once, closed in order, in one task."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from afterword.experiments.shared import open_shared

pytestmark = pytest.mark.anyio


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    @asynccontextmanager
    async def resource(self, name: str) -> AsyncIterator[str]:
        self.lines.append(f"open {name}")
        async with anyio.create_task_group() as group:  # what a context may hold
            yield name
            group.cancel_scope.cancel()
        self.lines.append(f"close {name}")


async def test_many_tasks_get_the_one_that_the_first_opened() -> None:
    log, got = Log(), []

    async with open_shared() as shared:

        async def user(name: str) -> None:
            got.append(await shared.get(name, lambda: log.resource(name)))

        async with anyio.create_task_group() as group:
            for name in ("a", "b", "a", "a", "b"):
                group.start_soon(user, name)
    assert sorted(got) == ["a", "a", "a", "b", "b"]
    assert log.lines == ["open a", "open b", "close b", "close a"]


async def test_what_cannot_be_opened_is_raised_where_it_was_asked_for_and_tried_again() -> None:
    log = Log()
    broken_now = True

    @asynccontextmanager
    async def broken() -> AsyncIterator[str]:
        if broken_now:
            raise ValueError("no such thing")
        yield ""

    async with open_shared() as shared:
        with pytest.raises(ValueError, match="no such thing"):
            await shared.get("a", broken)
        assert await shared.get("a", lambda: log.resource("a")) == "a"
    assert log.lines == ["open a", "close a"]


async def test_all_is_closed_when_the_run_is_cancelled() -> None:
    log = Log()

    @asynccontextmanager
    async def resource() -> AsyncIterator[str]:
        try:
            yield "a"
        finally:
            log.lines.append("closed")

    with anyio.move_on_after(0.02):
        async with open_shared() as shared:
            await shared.get("a", resource)
            await anyio.sleep_forever()
    assert log.lines == ["closed"]

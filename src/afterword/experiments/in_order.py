"""Work on many items at a time, told in the order of the items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from afterword.core.faults import first_of_group

T = TypeVar("T")
R = TypeVar("R")


async def in_order(
    items: Sequence[T], jobs: int, work: Callable[[T], Awaitable[R]], tell: Callable[[T, R], None]
) -> None:
    """Calls `work` on `jobs` items at a time and `tell` with each result, in the order of the items.

    Raises:
        Exception: what `work` or `tell` raised.
    """
    waiting = iter(enumerate(items))
    results: dict[int, R] = {}
    told = 0

    async def worker() -> None:
        nonlocal told
        for index, item in waiting:
            results[index] = await work(item)
            while told in results:
                done, result = told, results.pop(told)
                told += 1
                tell(items[done], result)

    try:
        async with anyio.create_task_group() as group:
            for _ in range(jobs):
                group.start_soon(worker)
    except BaseExceptionGroup as group_of_errors:
        raise first_of_group(group_of_errors) from None

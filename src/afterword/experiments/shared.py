"""Resources that the tasks of a run share, opened when the first of them asks.

A context with a task group inside must be left by the task that entered it, and whoever asks first is seldom the last;
so one task of its own enters and leaves them all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TypeVar, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

T = TypeVar("T")
Order = Callable[[AsyncExitStack], Awaitable[None]]


class Shared:
    """Opens contexts on request. Made by `open_shared`."""

    def __init__(self, orders: MemoryObjectSendStream[Order]) -> None:
        self._orders = orders
        self._opened: dict[Hashable, object] = {}
        self._turns: dict[Hashable, anyio.Lock] = {}

    async def get(self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What `open_it` gives, entered once for its key and left when all is over.

        Raises:
            Exception: what entering raised; the next call tries again.
        """
        async with self._turns.setdefault(key, anyio.Lock()):
            if key not in self._opened:
                self._opened[key] = await self._enter(open_it)
        return cast("T", self._opened[key])  # one key stands for one `open_it`

    async def _enter(self, open_it: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        done = anyio.Event()
        opened: list[T] = []
        failed: list[Exception] = []

        async def order(stack: AsyncExitStack) -> None:
            try:
                opened.append(await stack.enter_async_context(open_it()))
            except Exception as error:  # noqa: BLE001 - raised where it was asked for
                failed.append(error)
            finally:
                done.set()

        await self._orders.send(order)
        await done.wait()
        if failed:
            raise failed[0]
        return opened[0]


@asynccontextmanager
async def open_shared() -> AsyncIterator[Shared]:
    """A place for shared resources; all are closed, the last one first, when it is left."""
    orders, asked = anyio.create_memory_object_stream[Order]()
    async with anyio.create_task_group() as group:
        group.start_soon(_serve, asked)
        async with orders:
            yield Shared(orders)


async def _serve(asked: MemoryObjectReceiveStream[Order]) -> None:
    async with AsyncExitStack() as stack, asked:
        async for order in asked:
            await order(stack)

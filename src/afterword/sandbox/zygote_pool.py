"""A pool of zygotes of one kind: who gets which one, how many there are, and what becomes of one that died.

Separate from the jobs that they do, which are followed in `namespaced.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from afterword.errors import SandboxFault
from afterword.sandbox.cgroups import ControlGroups
from afterword.sandbox.zygotes import View, Zygote


class Pool:
    """Zygotes of one view: started when needed, kept, and replaced when they die.

    At most `size` programs run at once. There may be `extra` zygotes more than that: one whose program was let go of
    is busy with its end, and with the cell that it makes ready next, while another one takes the next program.
    """

    def __init__(self, view: View, groups: ControlGroups, size: int, *, extra: int = 0) -> None:
        self._view = view
        self._groups = groups
        self._extra = extra
        self._running = anyio.Semaphore(size, fast_acquire=True)
        self._zygotes = anyio.Semaphore(size + extra, fast_acquire=True)
        self._idle: deque[Zygote] = deque()
        self._all: set[Zygote] = set()

    async def take(self) -> Zygote:
        await self._running.acquire()
        try:
            await self._zygotes.acquire()
        except BaseException:
            self._running.release()
            raise
        if self._idle:
            return self._idle.popleft()  # the one that has waited longest: its next cell is ready
        try:
            return await self._started()
        except BaseException:
            self.end_turn()
            self._zygotes.release()
            raise

    @property
    def idle(self) -> int:
        return len(self._idle)

    @property
    def may_grow(self) -> bool:
        return self._extra > 0 and self._zygotes.value > 0

    async def grow(self) -> None:
        """Starts the extra zygotes, so that nobody has to wait for their start."""
        while self.may_grow:
            self._extra -= 1
            await self._zygotes.acquire()
            try:
                self._idle.append(await self._started())
            except SandboxFault:
                return  # one less to take turns with; a program that needs one and cannot have it is told why
            finally:
                self._zygotes.release()

    async def _started(self) -> Zygote:
        zygote = Zygote(self._view, self._groups)
        self._all.add(zygote)
        try:
            await zygote.ready()
        except BaseException:
            await self._ended(zygote)
            raise
        return zygote

    def end_turn(self) -> None:
        """Lets the next program in. What was taken stays taken until it is given back or discarded."""
        self._running.release()

    def give_back(self, zygote: Zygote) -> None:
        self._idle.append(zygote)
        self._zygotes.release()

    async def discard(self, zygote: Zygote) -> None:
        self._zygotes.release()
        await self._ended(zygote)

    async def _ended(self, zygote: Zygote) -> None:
        self._all.discard(zygote)
        zygote.kill()
        await zygote.close()

    async def close(self) -> None:
        for zygote in tuple(self._all):
            await zygote.close()
        self._all.clear()
        self._idle.clear()


class Lease:
    """A zygote that somebody has taken, and may keep for a job."""

    def __init__(self, zygote: Zygote) -> None:
        self.zygote = zygote
        self.kept = False

    def keep(self) -> Zygote:
        self.kept = True
        return self.zygote


@asynccontextmanager
async def lease(pool: Pool) -> AsyncIterator[Lease]:
    """A zygote that is thrown away on leaving, unless it was kept: half a job leaves it in an unknown state."""
    leased = Lease(await pool.take())
    try:
        yield leased
    finally:
        if not leased.kept:
            pool.end_turn()
            with anyio.CancelScope(shield=True):
                await pool.discard(leased.zygote)

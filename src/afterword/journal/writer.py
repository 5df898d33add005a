"""The one thread that writes, and commits for everybody who waits in one transaction.

What is written here is on the disk when `write` returns. Rows that nobody waits for ride along with the next one
that somebody does, in the order in which they came. A server that goes away is waited for, and the transaction is
made again: every row can be written twice without harm.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from afterword.errors import InputError, JournalFault
from afterword.journal.database import LOCK_WAIT_S, Database, said
from afterword.journal.statements import Row, Statement

T = TypeVar("T")

RECONNECT_S = 120.0
"""How long a server that is gone is waited for."""
_CLOSING_S = 5.0
"""How long it is still waited for once the journal is being closed: nobody waits for what is left then."""
_SLOW_S = 2.0
"""A transaction that takes longer is a stall, also where the database has said nothing yet."""
_RIDE_S = 0.25
"""How long a row waits at most for one that it can ride along with."""
_DRAFT_S = 1.0
"""How long a draft is kept back."""
_MOST_AT_A_TIME = 2000
_MANY = 64
"""So many rows and waiters are not kept for the end of a turn: tasks that go on early spread out."""


@dataclass(frozen=True, slots=True)
class Stall:
    """The database does not take what it is given; nothing goes on unrecorded meanwhile."""

    since_s: float
    """How long it has lasted."""
    patience_s: float
    """How long it is waited for in all."""
    why: str
    """What the database has said; empty where it says nothing."""


@dataclass(slots=True)
class _Job(Generic[T]):
    """Something to do in a transaction of its own."""

    work: Callable[[Connection], T]
    waiter: asyncio.Future[T]


@dataclass(slots=True)
class _Rows:
    """Rows for one statement, in order."""

    statement: Statement
    rows: list[Row] = field(default_factory=list)


_Item = tuple[Statement, Row] | asyncio.Future[None] | _Job[object]


class Writer:
    """Writes to a database from a thread of its own, which lives from `start` to `close`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._lock = threading.Lock()
        self._items: list[_Item] = []
        self._drafts: dict[Hashable, tuple[float, Statement, Callable[[], Row]]] = {}
        self._fault: str | None = None
        self._closing = False
        self._closed_at = 0.0
        self._trying_since: float | None = None
        self._trouble = ""
        """What was said when the transaction that is being made could not be made at once."""
        self._waking = False
        self._hurried = False
        self._alone = False
        """The last commit was for one task: nothing is gained by waiting for others."""
        self._connection: Connection | None = None
        self._beat: Callable[[Connection], None] | None = None
        self._beat_every_s = 0.0
        self._beaten = _now()
        self._thread = threading.Thread(target=self._run, name="afterword-journal", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def beat(self, every_s: float, beat: Callable[[Connection], None] | None) -> None:
        """Does something every so often, also while there is nothing to write; None ends it."""
        self._beat, self._beat_every_s, self._beaten = beat, every_s, _now()

    @property
    def stall(self) -> Stall | None:
        """What is being waited for; None while all goes well. To be asked from any thread."""
        since, why = self._trying_since, self._trouble
        lasted_s = 0.0 if since is None else _now() - since
        if since is None or not (why or lasted_s > _SLOW_S):
            return None
        return Stall(lasted_s, RECONNECT_S if self._database.remote else LOCK_WAIT_S, why)

    def ride(self, statement: Statement, row: Row) -> None:
        """Has a row written along with the next one, or soon. An error shows with the next write."""
        with self._lock:
            self._items.append((statement, row))

    def draft(self, place: Hashable, statement: Statement, make: Callable[[], Row]) -> None:
        """Has a row written after a while, unless a later draft for its place or the real row comes before that."""
        with self._lock:
            self._drafts.pop(place, None)  # so that the oldest come first
            self._drafts[place] = (_now(), statement, make)

    def drop_draft(self, place: Hashable) -> None:
        """The real row takes its place."""
        with self._lock:
            self._drafts.pop(place, None)

    async def write(self, statement: Statement, row: Row) -> None:
        """Writes a row, and all that rode along; they are committed when this returns.

        Raises:
            JournalFault: it could not be written.
        """
        waiter = self.written(statement, row)
        await waiter

    def written(self, statement: Statement, row: Row) -> asyncio.Future[None]:
        """Hands a row over at once; what is returned is done when it is committed."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._submit((statement, row), waiter)
        return waiter

    async def flush(self) -> None:
        """Waits until everything that was handed over is committed."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._submit(waiter)
        await waiter

    async def do(self, work: Callable[[Connection], T]) -> T:
        """Does something in a transaction of its own, after all that was handed over before.

        It may be done twice, when a server goes away in the middle.
        """
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._submit(_Job(work, waiter))  # type: ignore[arg-type]  # a job of one type among jobs of any
        return await waiter

    def close(self, last: Callable[[Connection], None]) -> None:
        """Writes what is left, does one last thing if the database lets it, and ends the thread."""
        with self._lock:
            self._closing = True
            self._closed_at = _now()
        self._wake.put(None)
        self._thread.join()
        self._beat = None
        # An error was told where it happened, and a lease ends with its process.
        with suppress(SQLAlchemyError):
            self._transaction(last)
        self._drop_connection()

    def _submit(self, *items: _Item) -> None:
        with self._lock:
            if self._closing:
                raise JournalFault(f"the journal {self._database.where} was closed while a run was using it")
            self._items.extend(items)
            waking, self._waking = self._waking, True
            many = len(self._items) >= _MANY and not self._hurried
            at_once = many or (self._alone and not waking)
            self._hurried |= at_once
        if at_once:
            self._wake.put(None)
        elif not waking:
            # Only when all that can run in this turn of the event loop has run: they are committed together.
            asyncio.get_running_loop().call_soon(self._wake.put, None)

    # What follows runs in the thread.

    def _run(self) -> None:
        while True:
            with suppress(Empty):
                self._wake.get(timeout=_RIDE_S)
            with self._lock:
                closing = self._closing
                self._waking = self._hurried = False
                self._take_drafts(0.0 if closing else _DRAFT_S)
                items, self._items = self._items, []
            for start in range(0, len(items), _MOST_AT_A_TIME):
                self._batch(items[start : start + _MOST_AT_A_TIME])
            if self._beat is not None and _now() - self._beaten >= self._beat_every_s:
                self._batch([])
            if closing:
                break

    def _take_drafts(self, age_s: float) -> None:
        if not self._drafts:
            return
        due = _now() - age_s
        for place in list(takewhile(lambda place: self._drafts[place][0] <= due, self._drafts)):
            _, statement, make = self._drafts.pop(place)
            with suppress(InputError):  # what cannot be kept is told when the real row comes
                self._items.append((statement, make()))

    def _batch(self, items: list[_Item]) -> None:
        """Commits rows together up to each job, which has a transaction of its own."""
        rows: list[_Rows] = []
        waiters: list[asyncio.Future[None]] = []
        for item in items:
            if isinstance(item, _Job):
                self._commit(rows, waiters)
                rows, waiters = [], []
                self._commit_job(item)
            elif isinstance(item, asyncio.Future):
                waiters.append(item)
            else:
                _add(rows, *item)
        self._commit(rows, waiters)

    def _commit(self, rows: list[_Rows], waiters: list[asyncio.Future[None]]) -> None:
        beat_due = self._is_beat_due()
        if not rows and not waiters and not beat_due:
            return

        def work(connection: Connection) -> None:
            for group in rows:
                group.statement.insert(connection, group.rows)

        error: Exception | None
        if not rows and not beat_due:
            error = self._known_fault()
        elif beat_due or self._database.remote:
            error = self._attempt(lambda: self._transaction(work))[1]
        else:
            error = self._attempt(lambda: self._insert(rows))[1]
        if error is not None and self._fault is None:  # a row that cannot be written: none after it may be
            error = self._database.fault(error)
            self._fault = str(error)
        self._alone = len(waiters) <= 1
        _settle([(waiter, None, error) for waiter in waiters])

    def _commit_job(self, job: _Job[object]) -> None:
        result, error = self._attempt(lambda: self._transaction(job.work))
        _settle([(job.waiter, result, error)])

    def _attempt(self, transaction: Callable[[], T]) -> tuple[T | None, Exception | None]:
        """Makes a transaction; on another connection again, when a server has gone away."""
        if (known := self._known_fault()) is not None:
            return None, known
        self._trying_since = _now()
        try:
            return self._tried(transaction, self._trying_since)
        finally:
            self._trying_since, self._trouble = None, ""

    def _tried(self, transaction: Callable[[], T], since: float) -> tuple[T | None, Exception | None]:
        pause_s = 0.05
        while True:
            try:
                return transaction(), None
            except (SQLAlchemyError, sqlite3.Error) as error:
                self._drop_connection()
                if not self._database.lost(error) or _now() >= self._deadline(since):
                    fault = self._database.fault(error)
                    self._fault = str(fault)
                    return None, fault
                self._trouble = said(error)
            except JournalFault as fault:
                self._fault = str(fault)
                return None, fault
            except Exception as error:  # noqa: BLE001 - it belongs to who asked for the work
                return None, error
            time.sleep(pause_s)
            pause_s = min(2.0, pause_s * 2)

    def _deadline(self, since: float) -> float:
        patient = since + RECONNECT_S
        return min(patient, self._closed_at + _CLOSING_S) if self._closing else patient

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        connection = self._connected()
        with connection.begin():
            if self._beat is not None and self._is_beat_due():
                self._beat(connection)  # first: what a lost lease would write must not be written
                self._beaten = _now()
            return work(connection)

    def _insert(self, groups: list[_Rows]) -> None:
        """Inserts rows into SQLite by its own interface: SQLAlchemy's takes longer than the transaction itself."""
        connection = self._connected().connection.driver_connection
        if not isinstance(connection, sqlite3.Connection):
            raise TypeError(f"expected a connection to SQLite, found {type(connection).__name__}")
        if len(groups) == 1 and len(groups[0].rows) == 1:  # a row by itself is a transaction by itself
            groups[0].statement.insert_at_once(connection, groups[0].rows)
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            for group in groups:
                group.statement.insert_at_once(connection, group.rows)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.engine.connect()
        return self._connection

    def _is_beat_due(self) -> bool:
        return self._beat is not None and _now() - self._beaten >= self._beat_every_s

    def _known_fault(self) -> JournalFault | None:
        return None if self._fault is None else JournalFault(self._fault)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            try:
                if self._database.remote:
                    connection.invalidate()
                connection.close()
            except SQLAlchemyError:
                pass  # it was broken before


def _add(rows: list[_Rows], statement: Statement, row: Row) -> None:
    """One more row: with its like, unless a row for the same table, which it may renew, stands between."""
    for group in reversed(rows):
        if group.statement is statement:
            group.rows.append(row)
            return
        if group.statement.table is statement.table:
            break
    rows.append(_Rows(statement, [row]))


def _settle(done: list[tuple[asyncio.Future[T], T | None, Exception | None]]) -> None:
    """Tells those who wait, with one call into each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[T], T | None, Exception | None]]] = {}
    for entry in done:
        loops.setdefault(entry[0].get_loop(), []).append(entry)
    for loop, entries in loops.items():
        with suppress(RuntimeError):  # that event loop has ended, and nobody waits in it any more
            loop.call_soon_threadsafe(_tell, entries)


def _tell(entries: list[tuple[asyncio.Future[T], T | None, Exception | None]]) -> None:
    for waiter, result, error in entries:
        if waiter.done():
            continue  # cancelled; the row is kept all the same
        if error is not None:
            waiter.set_exception(error)
        else:
            waiter.set_result(result)  # type: ignore[arg-type]  # a job's own result, or None for a row


def _now() -> float:
    """A clock that nobody sets, and that goes on while the machine sleeps where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()

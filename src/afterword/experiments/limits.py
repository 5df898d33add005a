"""What the tasks of a run may do together: one allowance for all of them, and so many model calls at a time.

Both stand at the model, behind the recorder: a call that a resumed run takes from its journal is paid for already,
and neither waits nor counts again.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager

import anyio

from afterword.core.budget import Allowance, Budget, request_bound
from afterword.core.messages import ChatRequest, Price, Reply
from afterword.core.protocols import Model
from afterword.core.records import FaultRecord, StopReason, Usage
from afterword.errors import BudgetExhausted, MissingKey, QuotaExceeded, UnknownModel


class RunBudget:
    """The allowance of a whole run, shared by tasks that work at the same time.

    A call that fits what is spent, and not what others have reserved, waits for them: they may use less. One that
    cannot fit any more is refused, and from then on no further task should be begun (`exhausted`).
    """

    def __init__(
        self, allowance: Allowance, spent: Usage | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.allowance = allowance
        self.is_limited = allowance != Allowance()
        self._refused_by: StopReason | None = None
        self._budget = Budget(allowance)
        self._budget.charge(spent or Usage())
        self._under_way = 0
        self._turn = anyio.Lock()
        self._over = anyio.Event()
        self._clock = clock
        self._started = clock()

    @property
    def spent(self) -> Usage:
        """All that was used, in earlier sessions of the run too."""
        return self._budget.spent

    @property
    def exhausted(self) -> StopReason | None:
        """The limit that has refused a call, or the time; nothing more should be begun then."""
        return StopReason.TIME if self._out_of_time() else self._refused_by

    def charge(self, usage: Usage) -> None:
        """Adds what a call really used."""
        self._budget.charge(usage)

    @asynccontextmanager
    async def call(self, bound: Usage, model: str) -> AsyncIterator[None]:
        """Holds `bound` while a call runs, whose usage is charged before it is over.

        Raises:
            BudgetExhausted: the allowance of the run cannot carry the call.
            UnknownPrice: there is a cost limit and the model's price is not known.
        """
        async with self._turn:  # first come, first served
            reserved = await self._reserved(bound, model)
        self._under_way += 1
        try:
            with reserved:
                yield
        finally:
            self._under_way -= 1
            over, self._over = self._over, anyio.Event()
            over.set()

    async def _reserved(self, bound: Usage, model: str) -> ExitStack:
        while True:
            if self._out_of_time():
                limit_s = self.allowance.seconds or 0.0
                raise self._refused(BudgetExhausted("time", limit_s, self._clock() - self._started))
            try:
                with ExitStack() as stack:
                    stack.enter_context(self._budget.reserve(bound, model))
                    return stack.pop_all()
            except BudgetExhausted as refused:
                if not self._under_way:
                    raise self._refused(refused) from None
            await self._over.wait()

    def _out_of_time(self) -> bool:
        limit_s = self.allowance.seconds
        return limit_s is not None and self._clock() - self._started >= limit_s

    def _refused(self, refused: BudgetExhausted) -> BudgetExhausted:
        self._refused_by = StopReason(refused.limit)
        return refused


class RunModel:
    """A model as one task of a run may use it. `refused` says that the run's budget, not the task's, ended it."""

    def __init__(self, model: Model, budget: RunBudget, slots: anyio.CapacityLimiter | None = None) -> None:
        self._model = model
        self._budget = budget
        self._slots = slots
        self.refused = False

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """The price of the model within."""
        return self._model.price

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the model within, once the run's limits allow it.

        Raises:
            BudgetExhausted: the allowance of the run cannot carry the call.
            ModelFault: no usable answer after the last try.
        """
        if self._slots is None:
            return await self._within_budget(request)
        async with self._slots:
            return await self._within_budget(request)

    async def _within_budget(self, request: ChatRequest) -> Reply:
        if not self._budget.is_limited:  # counting the tokens of a long prompt would be for nothing
            reply = await self._model.complete(request)
            self._budget.charge(reply.usage)
            return reply
        try:
            async with self._budget.call(request_bound(request, self.price), self.name):
                reply = await self._model.complete(request)
                self._budget.charge(reply.usage)
                return reply
        except BudgetExhausted:
            self.refused = True
            raise


_LASTING = frozenset(kind.__name__ for kind in (MissingKey, QuotaExceeded, UnknownModel))


def is_lasting(fault: FaultRecord) -> bool:
    """Whether every later task would meet it too: the key is refused, no credit is left, there is no such model."""
    return fault.kind in _LASTING

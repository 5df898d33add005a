"""Arms that ask the same question share the answer: pairs that differ by the arm alone, and fewer calls.

The shared calls stand in the record once, under an arm of their own; each arm is charged for them in full.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import TypeVar, cast

import anyio

from afterword.core.effects import SHARED, fingerprint
from afterword.core.messages import Reply
from afterword.core.protocols import EffectKey, Recorder

T = TypeVar("T")

__all__ = ["SHARED", "SharedCalls"]


class SharedCalls:
    """A recorder for the arms of an experiment: what they ask alike is asked once for all of them.

    That is what actors ask in the first trial and what is asked to judge it, and what is asked before it, e.g. for
    tests. Arms whose actors are told nothing of earlier trials also share the later ones: the first arm that comes to
    a trial makes the attempt.

    Args:
        recorder: where what is asked is kept.
        untold: the names of the arms that tell their actors nothing of earlier trials.
    """

    def __init__(self, recorder: Recorder, untold: Collection[str] = ()) -> None:
        self._recorder = recorder
        self._untold = frozenset(untold)
        self._answers: dict[EffectKey, object] = {}
        self._turns: dict[EffectKey, anyio.Lock] = {}

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Passes an effect on, or gives what another arm was answered to the same request."""
        if kind is not Reply or not self._is_shared(key):
            return await self._recorder.effect(key, request, call, kind)
        shared = replace(key, arm=SHARED, role=f"{key.role}:{fingerprint(request)[:16]}")
        async with self._turns.setdefault(shared, anyio.Lock()):
            if shared not in self._answers:
                self._answers[shared] = await self._recorder.effect(shared, request, call, kind)
            return cast("T", self._answers[shared])  # a `Reply`, as was asked for

    def _is_shared(self, key: EffectKey) -> bool:
        if key.trial == 0:
            return True
        alike = key.role == "actor" or key.role.startswith("evaluator/")
        return alike and (key.trial == 1 or key.arm in self._untold)

    def done(self, task: str, seed: int) -> None:
        """Drops what is held for a task once all of its arms are over."""
        for key in [key for key in self._answers if (key.task, key.seed) == (task, seed)]:
            del self._answers[key]
            self._turns.pop(key, None)

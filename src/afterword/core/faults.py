"""Faults kept apart from failures: what a part raises becomes a fault with the part's name on it."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterator
from types import UnionType
from typing import ParamSpec, TypeVar

from afterword.core.records import FaultRecord
from afterword.errors import AfterwordError, BudgetExhausted, ComponentFault, Fault, InputError, JournalFault

P = ParamSpec("P")
T = TypeVar("T")


async def guard(
    role: str, kind: type | UnionType, part: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Calls a part of the loop, whose result must be of this kind.

    Raises:
        AfterwordError: what the part raised of our own tree; of a group of them the gravest.
        ComponentFault: the part raised anything else, or returned something else.
    """
    try:
        result = await part(*args, **kwargs)
    except AfterwordError:
        raise
    except Exception as error:
        raise _gravest(error) or ComponentFault(role, error) from error
    if not isinstance(result, kind):
        expected = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ComponentFault(role, TypeError(f"expected a result of {expected}, found {result!r:.200}"))
    return result


def _gravest(error: Exception) -> AfterwordError | None:
    """What a task group of a part raised, if all of it is ours: bad input, else a fault, else a refusal."""
    leaves = list(_leaves(error))
    ours = [leaf for leaf in leaves if isinstance(leaf, AfterwordError)]
    if len(ours) < len(leaves):
        return None
    return min(ours, key=lambda leaf: (isinstance(leaf, BudgetExhausted), isinstance(leaf, Fault)))


def first_of_group(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of what ended a task group the one that tells most: an interruption, then our own errors, bad input first."""
    order = (KeyboardInterrupt, JournalFault, InputError, AfterwordError, BaseException)
    return min(_leaves(group), key=lambda leaf: next(rank for rank, kind in enumerate(order) if isinstance(leaf, kind)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _leaves(member)
    else:
        yield error


def record_of(fault: Fault, trial: int) -> FaultRecord:
    """The fault as it is kept, with the end of the traceback of what caused it: there stands the part's own line."""
    last_lines = "".join(traceback.format_exception(fault.__cause__ or fault)[-4:])
    return FaultRecord(type(fault).__name__, str(fault), trial, last_lines)

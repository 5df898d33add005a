"""The error that tells most of those that ended a task group."""

from __future__ import annotations

from afterword.errors import AfterwordError, InputError


def first_of_group(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """An interruption before an error of our own, bad input first."""
    leaves: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(error.exceptions)
        else:
            leaves.append(error)
    order = (KeyboardInterrupt, InputError, AfterwordError, BaseException)
    return min(leaves, key=lambda leaf: next(rank for rank, kind in enumerate(order) if isinstance(leaf, kind)))

"""Faults kept apart from failures: what a part raises becomes a fault with the part's name on it."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable
from typing import TypeVar

from afterword.core.records import FaultRecord
from afterword.errors import AfterwordError, ComponentFault, Fault

T = TypeVar("T")


async def guard(role: str, call: Awaitable[T]) -> T:
    """Awaits a part of the loop; whatever it raises that is not of our own tree becomes a `ComponentFault`."""
    try:
        return await call
    except AfterwordError:
        raise
    except Exception as error:
        raise ComponentFault(role, error) from error


def record_of(fault: Fault, trial: int) -> FaultRecord:
    """The fault as it is kept, with the end of its traceback."""
    last_lines = "".join(traceback.format_exception(fault)[-3:])
    return FaultRecord(type(fault).__name__, str(fault), trial, last_lines)

"""Work on many items at a time that is told in their order."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from afterword.errors import InputError
from afterword.experiments.in_order import in_order


def test_results_are_told_in_the_order_of_the_items() -> None:
    told: list[tuple[int, int]] = []

    async def work(number: int) -> int:
        await anyio.sleep(0.01 * (3 - number))
        return number * number

    anyio.run(in_order, [0, 1, 2], 3, work, lambda item, result: told.append((item, result)))
    assert told == [(0, 0), (1, 1), (2, 4)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_work_raises_is_raised_as_it_is(jobs: int) -> None:
    async def work(number: int) -> int:
        if number == 1:
            raise InputError("a log that cannot be read")
        await anyio.lowlevel.checkpoint()
        return number

    with pytest.raises(InputError, match="a log that cannot be read"):
        anyio.run(in_order, [0, 1, 2], jobs, work, lambda item, result: None)

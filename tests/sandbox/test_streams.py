"""Draining a pipe up to a cap."""

from __future__ import annotations

import os

import anyio
import pytest

from afterword.sandbox.streams import Allowance, Drain


def drained(written: bytes, *allowances: int) -> tuple[list[bytes], int]:
    """What drains that share an allowance take of pipes that hold the same, and how often it ran over."""
    overflows: list[bool] = []

    async def main() -> list[bytes]:
        allowance = Allowance(allowances[0])
        drains = []
        for _ in range(len(allowances)):
            reader, writer = os.pipe()
            os.write(writer, written)
            os.close(writer)
            drains.append(Drain(reader, allowance, lambda: overflows.append(True)))
        for drain in drains:
            await drain.run()
            await drain.wait()
        return [drain.content for drain in drains]

    return anyio.run(main), len(overflows)


def test_all_is_read_below_the_cap() -> None:
    assert drained(b"x" * 1000, 5000) == ([b"x" * 1000], 0)


def test_exactly_the_cap_is_no_overflow() -> None:
    assert drained(b"x" * 1000, 1000) == ([b"x" * 1000], 0)


def test_one_byte_more_is_cut_and_told_once() -> None:
    assert drained(b"x" * 1001, 1000) == ([b"x" * 1000], 1)


def test_two_streams_share_their_allowance() -> None:
    assert drained(b"x" * 700, 1000, 1000) == ([b"x" * 700, b"x" * 300], 1)


def test_a_pipe_that_never_ends_can_be_given_up() -> None:
    async def main() -> bytes:
        reader, writer = os.pipe()
        drain = Drain(reader, Allowance(100), lambda: None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drain.run)
            os.write(writer, b"so far")
            await anyio.sleep(0.05)
            drain.stop()
            await drain.wait()
        os.close(writer)
        return drain.content

    assert anyio.run(main) == b"so far"


def test_a_drain_that_never_ran_can_be_closed() -> None:
    async def main() -> None:
        reader, writer = os.pipe()
        drain = Drain(reader, Allowance(100), lambda: None)
        drain.close()
        drain.close()
        with pytest.raises(BrokenPipeError):
            os.write(writer, b"x")
        os.close(writer)

    anyio.run(main)

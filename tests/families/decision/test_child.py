"""A world's process ends with the process that opened it, whatever it is doing."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

PARENT = """
import anyio
from afterword.families.decision.worlds.child import ChildWorld

async def main():
    world = ChildWorld("tests.families.decision.busy_child", {}, name="w", package="x")
    await world.reset()
    async with anyio.create_task_group() as group:
        group.start_soon(world.step, "wait")
        await anyio.sleep(0.3)
        print(world.pid, flush=True)

anyio.run(main)
"""


def gone(process: int) -> bool:
    """Whether a process has ended, within a few seconds."""
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked for this on Linux")
def test_a_game_in_the_middle_of_a_step_dies_with_a_killed_run() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
    assert gone(child)


def test_a_game_whose_parent_is_gone_already_does_not_begin() -> None:
    command = [sys.executable, "-m", "tests.families.decision.busy_child", "1"]
    done = subprocess.run(
        command, input='{}\n{"do": "reset"}\n', capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")

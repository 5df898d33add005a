"""What is made ready ahead of a verdict: runners that wait, zygotes that take turns, jails that end behind its back."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
import termios
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Limits
from afterword.errors import SandboxFault
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.evaluators.function_tests.judges import AttemptLost
from afterword.evaluators.judge.orders import HEADER
from afterword.sandbox import open_sandbox
from tests.sandbox.jailed import held
from tests.watching import alive, children, descendants, descriptors, eventually, survivors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ADD = "def f(a, b): return a + b"
SUITE = Suite.from_source("from solution import f\ndef test_sum(): assert f(1, 2) == 3\n", entry_point="f")


def with_pool(main: Callable[[JudgePool], Awaitable[None]], workers: int = 1) -> None:
    async def run() -> None:
        async with open_sandbox(workers=workers, allow_weak=True) as jail, JudgePool(jail, workers=workers) as pool:
            await main(pool)

    anyio.run(run)


async def waiting_runner(pool: JudgePool) -> int:
    """The process that waits in the one judge of this pool for the next order."""
    (judge,) = pool._all
    with anyio.fail_after(30):
        while not (found := [pid for pid in children(judge.pid) if _sleeps(pid)]):  # noqa: ASYNC110 - no event tells
            await anyio.sleep(0.01)
    return found[0]


def _sleeps(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "S"
    except OSError:
        return False


def test_no_process_and_no_descriptor_is_left() -> None:
    async def main(pool: JudgePool) -> None:
        for _ in range(20):
            assert (await pool.judge(ADD, SUITE, Limits())).passed
        pids.update(descendants(os.getpid()) - others)

    pids: set[int] = set()
    before, others = descriptors(), descendants(os.getpid())
    with_pool(main, workers=2)
    assert len(pids) >= 4  # a judge with its runner, a zygote with its watcher
    assert descriptors() == before
    assert not survivors(pids)


def test_a_runner_that_died_while_it_waited_is_replaced() -> None:
    async def main(pool: JudgePool) -> None:
        for _ in range(4):
            assert (await pool.judge(ADD, SUITE, Limits())).passed
            (judge,) = pool._all
            judges.add(judge.pid)
            os.kill(await waiting_runner(pool), signal.SIGKILL)

    judges: set[int] = set()
    with_pool(main)
    assert len(judges) == 1


def test_a_judge_whose_runners_keep_dying_is_replaced() -> None:
    async def main(pool: JudgePool) -> None:
        assert (await pool.judge(ADD, SUITE, Limits())).passed
        (judge,) = pool._all
        with anyio.fail_after(20):
            while alive(judge.pid):
                for pid in children(judge.pid):
                    os.kill(pid, signal.SIGKILL)
                await anyio.sleep(0.01)
        assert (await pool.judge(ADD, SUITE, Limits())).passed
        assert judge not in pool._all

    with_pool(main)


def test_a_runner_that_died_with_half_an_order_takes_its_judge_along() -> None:
    """The other half would be read as the next order; and the program had no part in it."""

    async def main(pool: JudgePool) -> None:
        assert (await pool.judge(ADD, SUITE, Limits())).passed
        (judge,) = pool._all
        runner = await waiting_runner(pool)
        judge._sock.send(HEADER.pack(1000, 1000, 5.0) + b"{")
        wait_until_unread(judge._sock, 0)
        os.kill(runner, signal.SIGKILL)
        with pytest.raises(AttemptLost):
            await judge.order({"wall_s": 5.0}, b"", [])
        assert eventually(lambda: not judge.is_alive)
        assert (await pool.judge(ADD, SUITE, Limits())).passed

    with_pool(main)


def wait_until_unread(sock: socket.socket, count: int) -> None:
    """Until so many bytes of what was sent wait for the other end."""

    def unread() -> int:
        (left,) = struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))
        return int(left)

    assert eventually(lambda: unread() == count)


def test_each_verdict_has_a_runner_of_its_own() -> None:
    async def main(pool: JudgePool) -> None:
        for _ in range(5):
            assert (await pool.judge(ADD, SUITE, Limits())).passed
            runners.append(await waiting_runner(pool))

    runners: list[int] = []
    with_pool(main)
    assert len(set(runners)) == 5


def test_what_tests_change_in_a_runner_does_not_reach_the_next() -> None:
    leaves = "import math\nfrom solution import f\ndef test_it():\n    assert math.pi > 3\n    math.pi = f(0, 0)\n"

    async def main(pool: JudgePool) -> None:
        suite = Suite.from_source(leaves, entry_point="f")
        for _ in range(3):
            assert (await pool.judge(ADD, suite, Limits())).passed

    with_pool(main)


def test_a_judge_that_dies_between_verdicts_takes_its_waiting_runner_along() -> None:
    async def main(pool: JudgePool) -> None:
        assert (await pool.judge(ADD, SUITE, Limits())).passed
        (judge,) = pool._all
        runner = await waiting_runner(pool)
        os.kill(judge.pid, signal.SIGKILL)
        assert eventually(lambda: not alive(runner))
        assert (await pool.judge(ADD, SUITE, Limits())).passed

    with_pool(main)


def test_modules_that_tests_import_are_imported_once_and_their_time_does_not_count() -> None:
    tests = "import numpy\nfrom solution import f\ndef test_it(): assert f(numpy.int64(1), 2) == 3\n"

    async def main(pool: JudgePool) -> None:
        suite = Suite.from_source(tests, entry_point="f")
        for _ in range(3):
            assert (await pool.judge(ADD, suite, Limits())).passed

    pytest.importorskip("numpy")
    with_pool(main)


def test_callers_that_give_up_at_any_moment_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def main(pool: JudgePool) -> None:
        for step in range(25):
            with anyio.move_on_after(step / 1000):
                await pool.judge(ADD if step % 3 else "while True: pass", SUITE, Limits(wall_s=20))
        assert (await pool.judge(ADD, SUITE, Limits())).passed

    with_pool(main)
    before = held()
    with_pool(main)
    assert held() == before


def test_a_passing_program_that_refuses_to_end_is_ended_and_the_next_verdict_is_its_own() -> None:
    stays = (
        "import os, signal, threading, time\n"
        "for number in range(1, 32):\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "def stay():\n"
        "    while True: os.write(1, b'x')\n"
        "def f(a, b):\n"
        "    for _ in range(2):\n"
        "        if os.fork() == 0: stay()\n"
        "    threading.Thread(target=stay).start()\n"
        "    return a + b\n"
    )

    async def main(pool: JudgePool) -> None:
        for _ in range(4):
            assert (await pool.judge(stays, SUITE, Limits(wall_s=20))).passed
            assert (await pool.judge("def f(a, b): return a - b", SUITE, Limits())).reason == "failed"

    others = descendants(os.getpid())
    with_pool(main)
    assert eventually(lambda: descendants(os.getpid()) <= others)


@pytest.mark.parametrize(("more", "reason"), [(0, "ok"), (1, "output_limit"), (2_000_000, "output_limit")])
def test_what_a_passing_program_printed_counts_to_the_last_byte(more: int, reason: str) -> None:
    source = f"""
import os
def f(a, b):
    try:
        left = {1_000_000 + more}
        while left:
            left -= os.write(1, b"x" * min(left, 4096))
    except OSError:
        pass
    return a + b
"""

    async def main(pool: JudgePool) -> None:
        for _ in range(4):
            verdict = await pool.judge(source, SUITE, Limits(output_bytes=1_000_000))
            assert verdict.reason == reason

    with_pool(main)


def test_no_more_programs_run_at_a_time_than_there_are_workers() -> None:
    async def main() -> None:
        async with open_sandbox(workers=1, allow_weak=True) as sandbox:
            first = await sandbox.open("import time; time.sleep(60)", Limits(wall_s=60))
            with anyio.move_on_after(0.5) as scope:
                await sandbox.open("", Limits())
            assert scope.cancelled_caught
            first.let_go()
            second = await sandbox.open("", Limits())
            await second.close()
            with pytest.raises(SandboxFault, match="taken or closed"):
                first.detach()
            assert (await first.wait()).reason == "signal"

    anyio.run(main)

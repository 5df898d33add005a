"""Judges that die, callers that come together, verdicts that are given up: none is lost and none invented."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Feedback, Limits
from afterword.errors import SandboxFault
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.evaluators.function_tests.pool import stretched
from afterword.sandbox import open_sandbox
from tests.evaluators.judged import judge
from tests.sandbox.jailed import kill_zygotes
from tests.watching import alive

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

ADD = "def f(a, b): return a + b"
SLOW = "import time\ndef f(a, b):\n    time.sleep(0.4)\n    return a + b"
TESTS = "from solution import f\ndef test_f():\n    assert f(2, 3) == 5\n"
SUITE = Suite.from_source(TESTS, entry_point="f")


async def test_a_judge_that_died_idle_is_replaced(judges: JudgePool) -> None:
    assert (await judge(judges, ADD, TESTS)).passed
    dead = {judge.pid for judge in judges._idle}
    for pid in dead:
        os.kill(pid, signal.SIGKILL)
    assert (await judge(judges, ADD, TESTS)).passed
    assert {judge.pid for judge in judges._idle} - dead


async def test_judges_that_all_died_idle_are_no_lost_attempts() -> None:
    async with open_sandbox(workers=4, allow_weak=True) as sandbox, JudgePool(sandbox, workers=4) as pool:
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(judge, pool, SLOW, TESTS)
        dead = [judge.pid for judge in pool._idle]
        assert len(dead) == 4
        for pid in dead:
            os.kill(pid, signal.SIGKILL)
        assert (await judge(pool, ADD, TESTS)).passed


async def test_a_judge_killed_during_a_verdict_is_replaced_and_the_verdict_repeated(judges: JudgePool) -> None:
    async def kill() -> None:
        await anyio.sleep(0.15)
        for one in set(judges._all) - set(judges._idle):
            os.kill(one.pid, signal.SIGKILL)

    verdicts: list[Feedback] = []

    async def ask() -> None:
        verdicts.append(await judge(judges, SLOW, TESTS))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(kill)
    assert [(verdict.passed, verdict.reason) for verdict in verdicts] == [(True, "ok")]


async def test_a_zygote_killed_during_a_verdict_is_replaced_and_the_verdict_repeated() -> None:
    verdicts: list[Feedback] = []
    async with (
        open_sandbox("namespaces", workers=1) as sandbox,
        JudgePool(sandbox, workers=1) as pool,
        anyio.create_task_group() as tasks,
    ):

        async def ask() -> None:
            verdicts.append(await pool.judge(SLOW, SUITE, Limits(wall_s=20)))

        tasks.start_soon(ask)
        while not pool._all:  # noqa: ASYNC110 - no event tells of it
            await anyio.sleep(0.01)
        await anyio.sleep(0.15)
        kill_zygotes()
    assert [(verdict.passed, verdict.reason) for verdict in verdicts] == [(True, "ok")]


async def test_judges_that_always_die_are_a_fault_and_no_verdict(judges: JudgePool) -> None:
    async def kill_all() -> None:
        while True:
            for one in set(judges._all) - set(judges._idle):
                os.kill(one.pid, signal.SIGKILL)
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kill_all)
        with pytest.raises(SandboxFault, match="3 attempts in a row broke off"):
            await judge(judges, SLOW, TESTS)
        tasks.cancel_scope.cancel()
    assert (await judge(judges, ADD, TESTS)).passed


async def test_many_callers_get_each_their_own_verdict(judges: JudgePool) -> None:
    found: dict[int, Feedback] = {}

    async def ask(number: int) -> None:
        source = ADD if number % 3 else ADD.replace("+", "-")
        found[number] = await judges.judge(source, SUITE, Limits())

    async with anyio.create_task_group() as tasks:
        for number in range(24):
            tasks.start_soon(ask, number)
    assert {number for number, feedback in found.items() if not feedback.passed} == set(range(0, 24, 3))


async def test_a_verdict_that_is_given_up_leaves_nothing_running(judges: JudgePool) -> None:
    with anyio.move_on_after(0.2) as scope:
        await judge(judges, "import time\ndef f(a, b): time.sleep(60)", TESTS, Limits(wall_s=30))
    assert scope.cancelled_caught
    started = time.monotonic()
    assert (await judge(judges, ADD, TESTS)).passed
    assert time.monotonic() - started < 20


def test_judges_end_when_the_main_process_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "import os, signal\nfrom afterword.evaluators.function_tests.judges import Judge\n"
        "print(Judge().pid, flush=True)\nsignal.pause()\n",
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        pid = int(main.stdout.readline())
        main.kill()
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)


def test_an_overloaded_machine_gives_more_wall_time_and_no_more_processor_time() -> None:
    limits = Limits(wall_s=5.0)
    assert stretched(limits, 1.5) == Limits(wall_s=7.5, cpu_s=5.0)
    assert stretched(limits, 40.0) == Limits(wall_s=20.0, cpu_s=5.0)
    assert stretched(Limits(wall_s=5.0, cpu_s=2.0), 2.0) == Limits(wall_s=10.0, cpu_s=2.0)

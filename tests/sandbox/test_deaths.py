"""Processes that die under the sandbox: a zygote, the main process, an interpreter that never was one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from afterword.core.protocols import Sandbox
from afterword.core.records import Limits, RunResult
from afterword.errors import InputError, SandboxFault
from afterword.sandbox import open_sandbox
from tests.sandbox.jailed import FAST, held, jail, kill_zygotes, submit, zygotes
from tests.watching import alive, children, descendants, eventually, survivors

MAIN = """
    import anyio, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored, as by `&`
    from afterword.core.records import Limits
    from afterword.sandbox import open_sandbox

    async def main():
        async with open_sandbox(sys.argv[1], workers=2, allow_weak=True) as sandbox:
            peer = await sandbox.open("import os\\nos.fork()\\nwhile True: pass", Limits(wall_s=60))
            fd = peer.detach()
            await anyio.sleep(0.5)
            print("running", flush=True)
            await anyio.sleep(60)

    anyio.run(main)
"""


def test_an_idle_zygote_that_died_is_replaced() -> None:
    async def main() -> list[str]:
        async with jail("namespaces") as sandbox:
            found = [(await submit(sandbox, "import os; os.write(1, b'first')")).stdout]
            kill_zygotes()
            assert eventually(lambda: not survivors(zygotes()))
            found.append((await submit(sandbox, "import os; os.write(1, b'second')")).stdout)
            return found

    before = held()
    assert anyio.run(main) == ["first", "second"]
    assert held().groups == before.groups


def test_a_zygote_that_dies_under_a_program_is_a_fault_and_not_a_verdict() -> None:
    async def main() -> str:
        async with jail("namespaces") as sandbox:
            peer = await sandbox.open("while True: pass", FAST)
            os.close(peer.detach())
            victims = kill_zygotes()
            with pytest.raises(SandboxFault, match="lost"):
                await peer.wait()
            assert eventually(lambda: not survivors(victims))
            return (await submit(sandbox, "import os; os.write(1, b'next')")).stdout

    assert anyio.run(main) == "next"


def test_a_command_whose_zygote_dies_is_run_again() -> None:
    results: list[RunResult] = []

    async def run(sandbox: Sandbox) -> None:
        results.append(await sandbox.run(["sh", "-c", "sleep 0.6; echo done"], {}, FAST))

    async def main() -> None:
        async with jail("namespaces") as sandbox, anyio.create_task_group() as tasks:
            await sandbox.run(["true"], {}, FAST)  # so that the zygote of commands is there
            tasks.start_soon(run, sandbox)
            await anyio.sleep(0.3)
            kill_zygotes()

    anyio.run(main)
    assert [(result.reason, result.stdout) for result in results] == [("exited", "done\n")]


@pytest.mark.slow
def test_a_stopped_zygote_does_not_hang_the_caller() -> None:
    async def main() -> str:
        async with jail("namespaces") as sandbox:
            await submit(sandbox, "")
            for pid in zygotes():
                os.kill(pid, signal.SIGSTOP)
            with anyio.fail_after(30):
                return (await submit(sandbox, "import os; os.write(1, b'by another')")).stdout

    assert anyio.run(main) == "by another"


@pytest.mark.parametrize("level", ["namespaces", "bubblewrap"])
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_everything_ends_with_the_main_process(level: str, ending: signal.Signals) -> None:
    program = [sys.executable, "-c", textwrap.dedent(MAIN), level]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        assert main.stderr is not None
        if main.stdout.readline() != "running\n":
            why = main.stderr.read()
            assert "no sandbox works here" in why
            pytest.skip(f"{level} does not work on this host: {why[-200:]}")
        assert eventually(lambda: len(descendants(main.pid)) >= 4)
        below = descendants(main.pid)
        main.send_signal(ending)
        main.wait(timeout=20)
    assert eventually(lambda: not survivors(below)), survivors(below)


def test_no_control_group_outlives_a_killed_main_process() -> None:
    program = [sys.executable, "-c", textwrap.dedent(MAIN), "namespaces"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "running\n"
        main.kill()
        main.wait(timeout=20)
    assert eventually(
        lambda: not any(f"/afterword-{main.pid}-" in folder for folder, _, _ in os.walk("/sys/fs/cgroup"))
    )


def test_what_is_no_interpreter_is_bad_input(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)

    async def main(path: Path) -> None:
        async with open_sandbox(python=path):
            pass

    for path in (script, tmp_path / "missing", tmp_path):
        with pytest.raises(InputError, match="expected a Python interpreter"):
            anyio.run(main, path)


@pytest.mark.parametrize("victim", ["init", "program"])
def test_a_cell_kept_ready_that_died_is_replaced_without_a_word(victim: str) -> None:
    async def main() -> tuple[list[str], set[int]]:
        async with jail("namespaces") as sandbox:
            found, killed = [], set()
            for _ in range(4):
                found.append((await submit(sandbox, "import os; os.write(1, b'ran')")).stdout)
                init, program = await _waiting_cell()
                killed.add(program)
                os.kill(init if victim == "init" else program, signal.SIGKILL)
                while alive(program):  # noqa: ASYNC110 - no event tells of it
                    await anyio.sleep(0.01)
            return found, killed

    found, killed = anyio.run(main)
    assert found == ["ran"] * 4
    assert len(killed) == 4


async def _waiting_cell() -> list[int]:
    """The init and the program's process of a cell that waits: a zygote's only children that live."""
    with anyio.fail_after(20):
        while True:
            for pid in zygotes():
                if len(found := survivors(children(pid))) == 2:
                    return sorted(found)
            await anyio.sleep(0.01)


def test_each_program_has_a_cell_of_its_own() -> None:
    source = "import os; os.write(1, str('seen' in os.listdir('/tmp')).encode()); open('/tmp/seen', 'w').close()"

    async def main() -> list[str]:
        async with jail("namespaces") as sandbox:
            found = []
            for _ in range(4):
                cells.append(tuple(await _waiting_cell()) if cells else ())
                found.append((await submit(sandbox, source)).stdout)
                cells.append(tuple(await _waiting_cell()))
            return found

    cells: list[tuple[int, ...]] = []
    assert anyio.run(main) == ["False"] * 4
    assert len(set(cells)) >= 4


def test_a_job_with_other_limits_gets_a_cell_with_them() -> None:
    source = "import os, resource; os.write(1, b'%d' % (resource.getrlimit(resource.RLIMIT_FSIZE)[0] >> 20))"

    async def main() -> list[str]:
        async with jail("namespaces") as sandbox:
            return [(await submit(sandbox, source, Limits(file_mb=size))).stdout for size in (3, 3, 5, 7, 3)]

    assert anyio.run(main) == ["3", "3", "5", "7", "3"]

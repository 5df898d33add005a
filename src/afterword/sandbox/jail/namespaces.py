"""The zygote's own isolation, made once: namespaces, an unprivileged user, and a file system of a few read-only parts.

Separate from the cell, which adds what is made anew for each verdict. Everything here happens before any untrusted
byte is read. Raises OSError, whose text says which step the host refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from . import syscalls
from .syscalls import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    MNT_DETACH,
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    mount,
)

ALL_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC
WORK = "/sandbox"
PRIVATE_FOLDERS = (WORK, "/tmp", "/dev/shm")  # noqa: S108 - inside the jail
INNER_ID = 1000
_STASH = "/.shown"
_STAGE = "/tmp"  # noqa: S108 - covered by a mount of this process's own namespace
_DEVICES = ("null", "zero", "full", "random", "urandom")
_HIGH_ID = 1_900_000_000
"""Beyond the ranges that distributions hand out to users and containers."""
_NOBODY = 65534


class Host(NamedTuple):
    """Who the zygote is on the host, and what it was told to show."""

    readable: Sequence[str]
    hidden: Sequence[str]
    """Folders inside readable ones that are shown empty."""


def enter(host: Host) -> None:
    """Leaves the host: after this the caller's next child is pid 1 of the zygote's own namespaces.

    As root the file system is put together first, since an interpreter may stand below a home that only root can
    enter, and then root is given up for good. As an ordinary user it is done inside the user namespace.
    """
    if not syscalls.NUMBERS:
        raise OSError(f"the system calls of {syscalls.MACHINE!r} are not known here: x86_64 and aarch64 are")
    identity = _spare_identity() if os.geteuid() == 0 else None
    if identity is not None:
        syscalls.unshare(CLONE_NEWNS)
        _assemble(host)
        _give_up_root(*identity)
    uid, gid = os.geteuid(), os.getegid()
    syscalls.unshare(ALL_NAMESPACES)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{INNER_ID} {uid} 1")
    _write("/proc/self/gid_map", f"{INNER_ID} {gid} 1")
    if identity is None:
        _assemble(host)


def covered_paths(readable: Sequence[str]) -> list[tuple[str, str]]:
    """The readable paths that a private folder covers in each cell (an interpreter below /tmp), with their stash."""
    numbered = ((f"{_STASH}/{number}", path) for number, path in enumerate(readable))
    return [(stash, path) for stash, path in numbered if path.startswith(tuple(f + "/" for f in PRIVATE_FOLDERS))]


def settle() -> bool:
    """Makes the assembled file system the only one; run as pid 1. Returns whether a /proc could be mounted."""
    try:
        mount("proc", _STAGE + "/proc", "proc", MS_NOSUID | MS_NODEV | syscalls.MS_NOEXEC)
        has_proc = True
    except OSError:  # inside a container whose /proc is masked; the jail then has none, which is no weaker
        has_proc = False
    mount(_STAGE, _STAGE, None, MS_BIND | MS_REC)  # a mount of this namespace, which may become its root
    os.chdir(_STAGE)
    syscalls.pivot_root(".", ".")
    syscalls.unmount(".", MNT_DETACH)
    os.chdir("/")
    syscalls.restrict_mount("/", MS_RDONLY | MS_NOSUID | MS_NODEV, recursive=False)
    syscalls.set_host_name("sandbox")
    syscalls.leave_session_keyring()
    syscalls.drop_bounding_set()
    return has_proc


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _spare_identity() -> tuple[int, int] | None:
    """A user and group that own nothing on the host; None where root has no other identity to become."""
    chosen: list[int] = []
    for name in ("uid", "gid"):
        with open(f"/proc/self/{name}_map") as file:
            extents = [(int(line.split()[0]), int(line.split()[2])) for line in file]
        wanted = _HIGH_ID + os.getpid()
        if not any(first <= wanted < first + count for first, count in extents):
            wanted = max(first + count - 1 for first, count in extents)
            wanted -= wanted == _NOBODY
        if wanted <= 0:
            return None
        chosen.append(wanted)
    return chosen[0], chosen[1]


def _give_up_root(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    # Kept for the one call that makes the user namespace, where a distribution reserves that to administrators
    syscalls.prctl(syscalls.PR_SET_KEEPCAPS, 1)
    os.setresuid(uid, uid, uid)
    syscalls.set_capabilities(syscalls.CAP_SYS_ADMIN)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root and the id maps cannot be written


def _assemble(host: Host) -> None:
    """Puts the file system together at the stage: read-only binds on a tmpfs, and mount points for the rest."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    # Opened before the stage covers /tmp, where an interpreter may stand too
    sources = [(path, os.open(path, os.O_PATH | os.O_NOFOLLOW)) for path in host.readable]
    links = {path: os.readlink(path) for path in host.readable if os.path.islink(path)}
    devices = [(f"/dev/{name}", os.open(f"/dev/{name}", os.O_PATH)) for name in _DEVICES]
    mount("tmpfs", _STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m")
    for folder in ("/proc", "/dev", "/etc", *PRIVATE_FOLDERS):
        os.makedirs(_STAGE + folder, mode=0o755, exist_ok=True)
    for number, (path, fd) in enumerate(sources):
        covered = any(path.startswith(folder + "/") for folder in PRIVATE_FOLDERS)
        _show(f"{_STASH}/{number}" if covered else path, fd, links.get(path))
    stashed = {path: stash for stash, path in covered_paths(host.readable)}
    for path in host.hidden:
        for shown, stash in stashed.items():
            if path.startswith(shown + "/"):
                path = stash + path[len(shown) :]
        if os.path.isdir(_STAGE + path):
            mount("tmpfs", _STAGE + path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=555,size=4k")
    for path, fd in devices:
        os.close(os.open(_STAGE + path, os.O_CREAT | os.O_WRONLY, 0o666))
        mount(f"/proc/self/fd/{fd}", _STAGE + path, None, MS_BIND)
        syscalls.restrict_mount(_STAGE + path, MS_NOSUID | syscalls.MS_NOEXEC, recursive=False)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{_STAGE}/dev/{name}")
    _write(_STAGE + "/etc/passwd", f"sandbox:x:{INNER_ID}:{INNER_ID}:sandbox:{WORK}:/bin/sh\n")
    _write(_STAGE + "/etc/group", f"sandbox:x:{INNER_ID}:\n")
    _write(_STAGE + "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
    for _, fd in (*sources, *devices):
        os.close(fd)


def _show(path: str, fd: int, link: str | None) -> None:
    target = _STAGE + path
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if link is not None:
        if not os.path.lexists(target):
            os.symlink(link, target)
        return
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)
    syscalls.restrict_mount(target, MS_RDONLY | MS_NOSUID | MS_NODEV, recursive=True)

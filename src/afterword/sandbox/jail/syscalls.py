"""The system calls that `os` does not offer on every interpreter we support, by ctypes.

Here and nowhere else is C called; each wrapper raises OSError with the name of the call and what it was called on.
"""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38

CAPABILITIES = 41
"""One more than the highest capability; dropping one that the kernel does not know is EINVAL, and harmless."""
CAP_SYS_ADMIN = 21

MACHINE = os.uname().machine.lower()
_X86_64 = {"pivot_root": 155, "mount_setattr": 442, "pidfd_open": 434, "keyctl": 250, "seccomp": 317}
_AARCH64 = {"pivot_root": 41, "mount_setattr": 442, "pidfd_open": 434, "keyctl": 219, "seccomp": 277}
NUMBERS = {"x86_64": _X86_64, "amd64": _X86_64, "aarch64": _AARCH64, "arm64": _AARCH64}.get(MACHINE, {})

_libc = ctypes.CDLL(None, use_errno=True)
_holding_gil = ctypes.PyDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_KEYCTL_JOIN_SESSION_KEYRING = 1


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(number: int, *arguments: object, what: str) -> int:
    """A raw system call; arguments are ctypes values or pointers."""
    return _checked(int(_syscall(ctypes.c_long(number), *arguments)), what)


def prctl(option: int, value: int = 0, *, what: str = "prctl") -> None:
    _checked(_prctl(option, value, 0, 0, 0), f"{what}({option}, {value})")


def fork_bare() -> int:
    """A fork that skips what Python does after one, which copies a hundred pages.

    A process that never had a second thread has no locks to make anew; the child goes on with its parent's random
    numbers. What the child forks itself with `os.fork` is as always.
    """
    return _checked(_holding_gil.fork(), "fork")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def setns(fd: int, kind: int) -> None:
    _checked(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), f"setns({kind:#x})")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _checked(result, f"mount({kind or 'bind'} on {target})")


def unmount(target: str, flags: int = 0) -> None:
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"umount({target})")


def pivot_root(new: str, old: str) -> None:
    call(NUMBERS["pivot_root"], os.fsencode(new), os.fsencode(old), what="pivot_root")


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def restrict_mount(target: str, flags: int, *, recursive: bool) -> None:
    """Adds MS_RDONLY, MS_NOSUID, MS_NODEV or MS_NOEXEC to a mount, and to those below it if `recursive`.

    Kernels before 5.12 know no recursive change: there only the mount itself is restricted, its old flags kept.
    """
    attr = _MountAttr(flags & 0xF, 0, 0, 0)  # the four MOUNT_ATTR_ flags have the values of the MS_ ones
    try:
        call(
            NUMBERS["mount_setattr"],
            ctypes.c_int(_AT_FDCWD),
            os.fsencode(target),
            ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
            ctypes.byref(attr),
            ctypes.c_size_t(ctypes.sizeof(attr)),
            what=f"mount_setattr({target})",
        )
    except OSError:
        kept = os.statvfs(target).f_flag & 0xF
        mount("none", target, None, MS_REMOUNT | MS_BIND | flags | kept)


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def set_capabilities(*kept: int) -> None:
    """Gives up every capability but those in `kept`, which are made effective."""
    words = [0, 0]
    for capability in kept:
        words[capability // 32] |= 1 << (capability % 32)
    header = _CapHeader(0x20080522, 0)
    data = (_CapData * 2)(*(_CapData(word, word, 0) for word in words))
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)), "capset")


def set_host_name(name: str) -> None:
    _checked(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def drop_bounding_set() -> None:
    for capability in range(CAPABILITIES):
        _prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def pidfd_open(pid: int) -> int:
    return call(NUMBERS["pidfd_open"], ctypes.c_int(pid), ctypes.c_uint(0), what="pidfd_open")


def leave_session_keyring() -> None:
    """Joins a new, empty session keyring; a kernel without keyrings has nothing to leave."""
    _syscall(ctypes.c_long(NUMBERS["keyctl"]), ctypes.c_int(_KEYCTL_JOIN_SESSION_KEYRING), None)

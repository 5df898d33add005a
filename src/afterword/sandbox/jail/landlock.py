"""Landlock, a second lock behind the mounts: writes only below the private folders, no TCP, no signals outwards.

Separate since it is optional: a kernel without it, or with an older version, offers less and says so in `abi`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from . import syscalls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_CHANGES_V1 = _WRITE_FILE | 0x1FF0  # remove and make of every kind, bits 4 to 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP = 0x3
_SCOPED = 0x3
_PATH_BENEATH = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    try:
        return syscalls.call(
            _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1), what="landlock_create_ruleset"
        )
    except OSError:
        return 0


def restrict(version: int, writable: Sequence[str], *, may_exec: bool) -> None:
    """Binds this process and all it starts: changes only below `writable`, and to the devices in /dev."""
    changes = _CHANGES_V1 | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    ruleset = _Ruleset(
        changes | (0 if may_exec else _EXECUTE), _TCP if version >= 4 else 0, _SCOPED if version >= 6 else 0
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    fd = syscalls.call(
        _CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0), what="landlock ruleset"
    )
    for folder in writable:
        _allow(fd, folder, changes)
    _allow(fd, "/dev", changes & (_WRITE_FILE | _TRUNCATE))
    syscalls.call(_RESTRICT_SELF, ctypes.c_int(fd), ctypes.c_uint32(0), what="landlock_restrict_self")
    os.close(fd)


def _allow(ruleset_fd: int, folder: str, access: int) -> None:
    parent = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    rule = _PathBeneath(access, parent)
    syscalls.call(
        _ADD_RULE,
        ctypes.c_int(ruleset_fd),
        ctypes.c_int(_PATH_BENEATH),
        ctypes.byref(rule),
        ctypes.c_uint32(0),
        what=f"landlock rule for {folder}",
    )
    os.close(parent)

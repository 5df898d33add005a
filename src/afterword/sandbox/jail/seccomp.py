"""A seccomp filter in classic BPF, assembled here: what a jailed program may not ask of the kernel.

Kept apart since it is a table more than a program. It is a deny list up to the newest call the table knows and an
allow list after it, so that a call the kernel gains later is refused until someone has looked at it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence

from . import syscalls

_LOAD, _AND, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_AT_NUMBER, _AT_ARCH, _AT_ARGUMENTS = 0, 4, 16
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32_BIT = 0x40000000
_FLAG_SPEC_ALLOW = 4
_NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW* flag: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; NEWTIME is for clone3 only."""
_CLONE_PARENT = 0x8000
"""A child of one's parent, which stands outside of the jail and would have a process that it does not know of."""
_FIRST_UNIFIED = 424
"""From here on all architectures number their calls alike."""

_AUDIT_ARCH = {"x86_64": 0xC000003E, "amd64": 0xC000003E, "aarch64": 0xC00000B7, "arm64": 0xC00000B7}

_COMMON_X86_64 = {
    "keyctl": 250, "add_key": 248, "request_key": 249,
    "unshare": 272, "setns": 308, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "swapon": 167, "swapoff": 168,
    "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "kexec_load": 246, "kexec_file_load": 320,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "lookup_dcookie": 212,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "reboot": 169, "syslog": 103, "acct": 163,
    "quotactl": 179, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
    "sethostname": 170, "setdomainname": 171, "vhangup": 153, "personality": 135, "nfsservctl": 180,
    "mbind": 237, "set_mempolicy": 238, "migrate_pages": 256, "move_pages": 279, "seccomp": 317,
    "vmsplice": 278,
    "iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "ustat": 136, "sysfs": 139, "_sysctl": 156,
    "create_module": 174, "get_kernel_syms": 177, "query_module": 178, "vserver": 236,
}  # fmt: skip
_COMMON_AARCH64 = {
    "keyctl": 219, "add_key": 217, "request_key": 218,
    "unshare": 97, "setns": 268, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "swapon": 224, "swapoff": 225,
    "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "kexec_load": 104, "kexec_file_load": 294,
    "name_to_handle_at": 264, "open_by_handle_at": 265, "fanotify_init": 262, "lookup_dcookie": 18,
    "init_module": 105, "finit_module": 273, "delete_module": 106, "reboot": 142, "syslog": 116, "acct": 89,
    "quotactl": 60, "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266, "adjtimex": 171,
    "sethostname": 161, "setdomainname": 162, "vhangup": 58, "personality": 92, "nfsservctl": 42,
    "mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239, "seccomp": 277,
    "vmsplice": 75,
}  # fmt: skip
_EXEC = {"x86_64": (59, 322), "amd64": (59, 322), "aarch64": (221, 281), "arm64": (221, 281)}
_DENIED: dict[str, dict[str, int]] = {
    "x86_64": _COMMON_X86_64, "amd64": _COMMON_X86_64, "aarch64": _COMMON_AARCH64, "arm64": _COMMON_AARCH64,
}  # fmt: skip
_MEMORY = {"x86_64": (319, 29), "amd64": (319, 29), "aarch64": (279, 194), "arm64": (279, 194)}
"""memfd_create and shmget: memory that belongs to no process, which only a control group would count."""
_PRIORITIES = {
    "x86_64": (141, 142, 144, 314, 251), "amd64": (141, 142, 144, 314, 251),
    "aarch64": (140, 118, 119, 274, 30), "arm64": (140, 118, 119, 274, 30),
}  # fmt: skip
"""setpriority, sched_setparam, sched_setscheduler, sched_setattr, ioprio_set: they do nothing, and say that they did.

A program, or an init that it made so, that runs only when nobody else wants to could take for ever to end.
"""
_INSPECTED_X86_64 = {"clone": 56, "socket": 41, "socketpair": 53, "setsockopt": 54, "ioctl": 16, "prlimit64": 302}
_INSPECTED_AARCH64 = {"clone": 220, "socket": 198, "socketpair": 199, "setsockopt": 208, "ioctl": 29, "prlimit64": 261}
_INSPECTED = {
    "x86_64": _INSPECTED_X86_64, "amd64": _INSPECTED_X86_64,
    "aarch64": _INSPECTED_AARCH64, "arm64": _INSPECTED_AARCH64,
}  # fmt: skip
_ALLOWED_UNIFIED = (424, 434, 436, 437, 439, 441, 449, 451, 452, 454, 455, 456, 462)
"""pidfd_send_signal, pidfd_open, close_range, openat2, faccessat2, epoll_pwait2, futex_waitv, cachestat,
fchmodat2, futex_wake, futex_wait, futex_requeue, mseal. The others are ENOSYS, so that libc falls back (clone3)
and io_uring, the new mount calls, pidfd_getfd, memfd_secret and Landlock are not there."""

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_DGRAM = 1, 2
_SOL_SOCKET = 1
_TIOCSTI, _TIOCSETD, _TIOCLINUX = 0x5412, 0x5423, 0x541C


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _argument(index: int) -> bytes:
    """Loads the low half of an argument; both supported machines are little-endian."""
    return _op(_LOAD, _AT_ARGUMENTS + 8 * index)


def _one_of(values: Sequence[int], verdict: int) -> list[bytes]:
    """Returns `verdict` if the loaded word is one of `values`, and falls through otherwise."""
    lines = []
    for value in values:
        lines += [_op(_JUMP_EQ, value, 0, 1), _op(_RETURN, verdict)]
    return lines


def _block(code: int, value: int, body: list[bytes]) -> list[bytes]:
    """Runs `body`, which ends in a return, if the loaded number compares so with `value`."""
    return [_op(code, value, 0, len(body)), *body]


def assemble(*, may_exec: bool, machine: str = syscalls.MACHINE) -> bytes:
    """The filter program for this machine.

    Sockets: unix ones are needed by multiprocessing, and reach nothing outside since the network namespace and
    the file system are the jail's own. Internet sockets can be made, since programs do so outside a `try`; with no
    interface up, a connection is refused by the kernel. Every other family (vsock, netlink, packet) is refused.
    """
    deny = _ERRNO | errno.EPERM
    inspected = _INSPECTED[machine]
    stream_or_datagram = [
        _argument(1),
        _op(_AND, 0xF),
        *_one_of([_SOCK_STREAM, _SOCK_DGRAM], _ALLOW),
        _op(_RETURN, deny),
    ]
    internet = _op(_JUMP_EQ, _AF_INET, 1, 0), _op(_JUMP_EQ, _AF_INET6, 0, len(stream_or_datagram))
    program = [
        _op(_LOAD, _AT_ARCH),
        _op(_JUMP_EQ, _AUDIT_ARCH[machine], 1, 0),
        _op(_RETURN, _KILL),
        _op(_LOAD, _AT_NUMBER),
    ]
    if machine in ("x86_64", "amd64"):
        program += _block(_JUMP_GE, _X32_BIT, [_op(_RETURN, _KILL)])
    unified = [*_one_of(_ALLOWED_UNIFIED, _ALLOW), _op(_RETURN, _ERRNO | errno.ENOSYS)]
    program += _block(_JUMP_GE, _FIRST_UNIFIED, unified)
    refused_clone = [_argument(0), _op(_JUMP_SET, _NEW_NAMESPACES | _CLONE_PARENT, 0, 1), _op(_RETURN, deny)]
    program += _block(_JUMP_EQ, inspected["clone"], [*refused_clone, _op(_RETURN, _ALLOW)])
    family = [_argument(0), *_one_of([_AF_UNIX], _ALLOW), *internet, *stream_or_datagram, _op(_RETURN, deny)]
    program += _block(_JUMP_EQ, inspected["socket"], family)
    pair = [_argument(0), *_one_of([_AF_UNIX], _ALLOW), _op(_RETURN, deny)]
    program += _block(_JUMP_EQ, inspected["socketpair"], pair)
    level = [_argument(1), *_one_of([_SOL_SOCKET], _ALLOW), _op(_RETURN, deny)]
    program += _block(_JUMP_EQ, inspected["setsockopt"], level)
    terminal = [_argument(1), *_one_of([_TIOCSTI, _TIOCSETD, _TIOCLINUX], deny), _op(_RETURN, _ALLOW)]
    program += _block(_JUMP_EQ, inspected["ioctl"], terminal)
    own_process = [_argument(0), *_one_of([0], _ALLOW), _op(_RETURN, deny)]  # the init's limits are not the program's
    program += _block(_JUMP_EQ, inspected["prlimit64"], own_process)
    program += _one_of(_PRIORITIES[machine], _ERRNO)  # no error: a program that asks outside of a `try` is no worse
    denied = sorted(_DENIED[machine].values())
    program += _one_of(denied if may_exec else [*_EXEC[machine], *_MEMORY[machine], *denied], deny)
    program.append(_op(_RETURN, _ALLOW))
    return b"".join(program)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install(program: bytes) -> None:
    """Binds this thread and all it starts; needs no_new_privs. Raises OSError where seccomp is missing."""
    loaded = _Program(len(program) // 8, program)
    number = syscalls.NUMBERS["seccomp"]
    # SPEC_ALLOW: without it kernels before 5.16 slow the whole process down against speculation attacks on itself
    for flags in (_FLAG_SPEC_ALLOW, 0):
        try:
            syscalls.call(number, ctypes.c_ulong(1), ctypes.c_ulong(flags), ctypes.byref(loaded), what="seccomp")
            return
        except OSError as error:
            if error.errno != errno.EINVAL or not flags:
                raise

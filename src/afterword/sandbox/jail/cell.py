"""One verdict's cell: what is made anew for each, its init as pid 1, and the program inside.

Separate from the zygote, which lives on: everything here runs in its children and ends with them. A submission's
process and its init are both forked by the zygote, since each fork of a fork copies its pages again; a command's
process is its init's child, which outlives it to hand out files.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from . import landlock, limits, passing, program, seccomp, syscalls
from .limits import Limits
from .namespaces import PRIVATE_FOLDERS, WORK
from .program import COMMAND, SUBMISSION

_PEER_FD = 3
_BEGUN = b"begun"
"""What the program's process says last before the program; without it no ending is the program's."""


class Tools(NamedTuple):
    """What the zygote prepared once."""

    filter: bytes
    landlock_abi: int
    has_proc: bool
    covered: Sequence[tuple[str, str]]
    already_mapped: int
    """Bytes of address space that a program starts with; its limit comes on top."""
    already_running: int
    """Processes of the same user that are not the program's; its limit comes on top."""
    limits_memory: bool
    """A control group bounds the memory, so that a command may reserve more address space than that."""


class Descriptors(NamedTuple):
    """What the main process sends along with an order."""

    payload: int
    """The source, or the packed files. Read in the cell only: a zygote that never holds a program cannot leak it."""
    stdout: int
    stderr: int
    peer: int
    """Where the worker is called, or where collected files go."""


class Job(NamedTuple):
    """What a cell is made for, without the descriptors: a submission's come later, so that its cell can wait for it."""

    kind: str
    limits: Limits
    argv: Sequence[str] = ()
    collect: Sequence[str] = ()
    environment: Mapping[str, str] = {}


def be_init() -> NoReturn:
    """Pid 1 of a submission's cell: it holds the cell together, and lets the kernel reap what is orphaned there."""
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    syscalls.set_capabilities()
    while True:
        signal.pause()


def run_submission(job: Job, tools: Tools, channel: socket.socket, word_fd: int) -> NoReturn:
    """The program's process: makes the cell and locks itself in, waits for its descriptors, and becomes the program.

    That it has begun, or what went wrong before, is told through `word_fd`, which is closed then.
    """
    payload = b""
    try:
        _go_first_for_memory(tools)
        _furnish(job.limits, tools)
        _settle_in()
        _lock(job, tools)
        fds = Descriptors(*passing.receive(channel)[1])
        payload, word_fd = _take_over(fds, job.kind, word_fd)
    except Exception as error:  # noqa: BLE001 - told to the zygote, which passes it on
        _give_up(word_fd, error)
    _say_begun(word_fd)
    try:
        if job.kind == SUBMISSION:
            program.start_worker(_PEER_FD, payload)
        os._exit(0)
    finally:  # whatever a program managed to raise, it never returns into the zygote's code
        os._exit(1)


def run_command(job: Job, tools: Tools, fds: Descriptors, status_fd: int) -> NoReturn:
    """The init of a command's cell. Tells how the command ended through `status_fd`, and never returns."""
    try:
        _go_first_for_memory(tools)
        _furnish(job.limits, tools)
        heard_fd, word_fd = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(status_fd)
            _become_command(job, tools, fds, word_fd)
        os.close(word_fd)
        syscalls.set_capabilities()
        check_begun(_read_all(heard_fd))
        status, cpu_s = _reap_until(child)
        _kill_all()
        _hand_out(fds.peer, job.collect)
        report: dict[str, object] = {"status": status, "cpu_s": cpu_s}
    except Exception as error:  # noqa: BLE001  told to the main process, which raises it as a fault
        report = {"fault": str(error)}
    try:
        os.write(status_fd, json.dumps(report).encode())
    finally:
        os._exit(0)


def check_begun(told: bytes) -> None:
    """Raises OSError unless the program's process said that the program begins."""
    if told != _BEGUN:
        raise OSError(told.decode(errors="backslashreplace") or "the program's process died before the program began")


def _go_first_for_memory(tools: Tools) -> None:
    """The kernel is to kill this process and all it starts before the zygote, also if the memory is not in processes.

    Files take memory too: a program may be smaller than its zygote and have used up everything.
    """
    if tools.has_proc:
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else the file is not its own
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, b"1000")
        os.close(fd)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)


def _furnish(bounds: Limits, tools: Tools) -> None:
    syscalls.unshare(syscalls.CLONE_NEWNS | syscalls.CLONE_NEWIPC)
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    for folder in PRIVATE_FOLDERS:
        mode = "0700" if folder == WORK else "1777"
        syscalls.mount("tmpfs", folder, "tmpfs", flags, f"mode={mode},size={bounds.scratch_mb}m,nr_inodes=16k")
    for stash, path in tools.covered:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        if os.path.islink(stash):
            os.symlink(os.readlink(stash), path)
            continue
        if os.path.isdir(stash):
            os.makedirs(path, exist_ok=True)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
        syscalls.mount(stash, path, None, syscalls.MS_BIND | syscalls.MS_REC)
    if tools.has_proc:
        syscalls.mount("proc", "/proc", "proc", flags | syscalls.MS_NOEXEC | syscalls.MS_RDONLY)


def _reap_until(child: int) -> tuple[int, float]:
    """Reaps orphans until the program itself has ended; its wait status and processor seconds."""
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == child:
            return status, usage.ru_utime + usage.ru_stime


def _kill_all() -> None:
    """Ends what the command left running, so that the collected files stand still."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        return


def _hand_out(peer_fd: int, names: Sequence[str]) -> None:
    """Writes each collected file to the peer as a line of JSON and its bytes; what is no plain file is left out."""
    with open(peer_fd, "wb", closefd=False) as out:
        for name, content in program.collected_files(WORK, names):
            out.write(json.dumps({"name": name, "size": len(content)}).encode() + b"\n" + content)


def _become_command(job: Job, tools: Tools, fds: Descriptors, word_fd: int) -> NoReturn:
    try:
        _settle_in()
        payload, word_fd = _take_over(fds, job.kind, word_fd)
        program.unpack_files(payload)
        _lock(job, tools)
    except Exception as error:  # noqa: BLE001 - told to the init, which passes it on
        _give_up(word_fd, error)
    _say_begun(word_fd)
    program.execute(job.argv, job.environment)


def _settle_in() -> None:
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # its own /proc is the program's; the zygote's and the init's are not
    os.setpgid(0, 0)  # kill(0) must not reach the zygote's group
    os.umask(0o022)
    os.chdir(WORK)


def _give_up(word_fd: int, error: Exception) -> NoReturn:
    os.write(word_fd, f"the jail could not start the program: {error}".encode(errors="backslashreplace"))
    os._exit(1)


def _say_begun(word_fd: int) -> None:
    os.write(word_fd, _BEGUN)
    os.close(word_fd)


def _lock(job: Job, tools: Tools) -> None:
    command = job.kind == COMMAND
    limits.apply(
        job.limits._replace(processes=job.limits.processes + tools.already_running),
        already_mapped=0 if command else tools.already_mapped,
        limit_address_space=not (command and tools.limits_memory),
    )
    syscalls.set_capabilities()
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if tools.landlock_abi:
        landlock.restrict(tools.landlock_abi, PRIVATE_FOLDERS, may_exec=command)
    seccomp.install(tools.filter)


def _read_all(fd: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read()


def _take_over(fds: Descriptors, kind: str, word_fd: int) -> tuple[bytes, int]:
    """Reads the payload and puts every descriptor in its place; the payload and the new place of `word_fd`.

    0: /dev/null; 1 and 2: the captured output; 3: the peer, for a submission; every other one is closed, but for
    `word_fd`, which the caller closes.
    """
    os.lseek(fds.payload, 0, os.SEEK_SET)
    payload = _read_all(fds.payload)
    kept = [os.open("/dev/null", os.O_RDONLY), fds.stdout, fds.stderr, fds.peer, word_fd]
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, len(kept)) for fd in kept]
    for target, fd in enumerate(moved):
        os.dup2(fd, target, inheritable=target <= 2)
    if kind != SUBMISSION:
        os.close(_PEER_FD)
    os.closerange(len(kept), os.sysconf("SC_OPEN_MAX"))
    return payload, len(kept) - 1

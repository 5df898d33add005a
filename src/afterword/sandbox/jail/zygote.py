"""The zygote: a single-threaded process that isolates itself once and then forks a cell for each job.

One job at a time, and its pid 1 is reaped before the next: that is what makes it sound to share the user, network
and host-name namespaces between jobs. It holds no source, no output and no test, so a cell has nothing to read in
the memory it inherits.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, cast

from . import cell, landlock, limits, multiprocess, namespaces, passing, program, seccomp, syscalls, view, worker
from .cgroup import ControlGroup
from .limits import Limits

_GRACE_S = 0.25
"""How long after its wall limit a program is ended from outside; the judge's own deadline comes first."""
_PRELOAD = (
    "abc array bisect calendar cmath collections collections.abc contextlib copy dataclasses datetime decimal enum "
    "fractions functools heapq io itertools json math numbers operator queue random re signal statistics string "
    "struct textwrap threading time traceback types typing unicodedata warnings"
)
"""What programs import most, and no more: every megabyte and every mapped library makes each fork slower."""


def main() -> NoReturn:
    """Started with the number of the control socket as last argument; its first message is the configuration."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=int(sys.argv[-1]))
    message = json.loads(control.recv(passing.MESSAGE_BYTES))
    try:
        zygote = _isolate(control, message)
    except OSError as error:
        control.send(json.dumps({"fault": str(error)}).encode())
        os._exit(1)
    gc.collect()
    gc.disable()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    zygote.serve()


def _isolate(control: socket.socket, message: Mapping[str, object]) -> Zygote:
    """Makes a child pid 1 of its own namespaces and returns in it; this process becomes a watcher that ends with it."""
    strings = cast("Mapping[str, list[str]]", message)
    toolchain = bool(message["toolchain"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # pid 1 ignores what it has no handler for
    hash_seed = program.forget_own_variables()
    _preload((*_PRELOAD.split(), *strings["preload"]))
    readable = view.readable_paths(strings["readable"], toolchain=toolchain)
    folders = cast("Mapping[str, str]", message["cgroups"])
    parent = int(str(message["parent"]))
    if folders:
        parent = _leave_a_sweeper(list(folders.values()), parent)
    with open("/proc/self/oom_score_adj", "w") as file:  # the cells inherit it: rather they than anything of the host
        file.write("500")
    group = ControlGroup(folders)
    group.join()
    others = limits.processes_of_user()
    namespaces.enter(namespaces.Host(readable, strings["hidden"]))
    child = os.fork()
    if child:
        _watch(control, child, parent)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    program.seed_random(hash_seed)  # here, since an ordinary fork seeds anew
    pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    has_proc = namespaces.settle()
    covered = namespaces.covered_paths(readable)
    _check_readable(view.interpreter_paths(), covered)
    shown_later = tuple(path for _, path in covered)
    sys.path[:] = [path for path in sys.path if os.path.exists(path) or path.startswith(shown_later)]
    sys.path_importer_cache.clear()
    tools = cell.Tools(
        filter=seccomp.assemble(may_exec=toolchain),
        landlock_abi=landlock.abi(),
        has_proc=has_proc,
        covered=covered,
        already_mapped=limits.address_space_in_use(),
        already_running=others + _OWN_PROCESSES,
        limits_memory=group.limits_memory,
    )
    return Zygote(control, tools, group, pid_namespace)


_OWN_PROCESSES = 3
"""The watcher, the zygote and the init of the cell: they are the same user as the program."""


def _check_readable(needed: Sequence[str], covered: Sequence[tuple[str, str]]) -> None:
    """Refuses an interpreter that only root can read: a submission would fail on imports and be blamed for it."""
    for path in needed:
        place = path
        for stash, shown in covered:
            if path == shown or path.startswith(shown + "/"):
                place = stash + path[len(shown) :]
        # A link in the stash leads nowhere yet (`lib64 -> lib` of a venv); what it leads to is a path of its own.
        if os.path.lexists(place) and not os.path.islink(place) and not os.access(place, os.R_OK):
            raise PermissionError(f"only root can read {path}; let others read it too: chmod -R go+rX {path}")


def _preload(names: Sequence[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def _leave_a_sweeper(folders: Sequence[str], main_process: int) -> int:
    """Goes on in a child, and leaves this process outside to remove the control groups when all is over.

    The main process removes them too, but not when it is killed. Returns this process's id to the child.
    """
    own_id = os.getpid()
    child = os.fork()
    if child == 0:
        return own_id
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != main_process:
        os.kill(child, signal.SIGKILL)
    os.closerange(0, 1024)
    os.waitpid(child, 0)
    deadline = time.monotonic() + _SWEEP_WITHIN_S
    while any(not _removed(folder) for folder in folders) and time.monotonic() < deadline:
        time.sleep(0.01)
    os._exit(0)


_SWEEP_WITHIN_S = 3.0


def _removed(folder: str) -> bool:
    """A group is busy until the last of its processes is gone."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _watch(control: socket.socket, child: int, parent: int) -> NoReturn:
    """Tells the main process who the zygote is, waits for its end, and dies with the main process."""
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    control.send(json.dumps({"zygote": child}).encode())
    os.closerange(0, 1024)
    os.waitpid(child, 0)
    os._exit(0)


class Running(NamedTuple):
    """A cell, from its zygote's side."""

    init: int
    """Its pid 1, by the number it has here; it is ours until we have waited for it."""
    program: int
    """The program's process; 0 where that is the init's child."""
    status_fd: int
    """Where the init tells how its child ended, or where the program's process tells that the program begins."""
    limits: Limits
    channel: socket.socket | None
    """Where it waits for its descriptors; None for one that was given them at birth."""

    @property
    def watched(self) -> int:
        """The process whose end is the end of the cell."""
        return self.program or self.init

    def deliver(self, fds: Sequence[int]) -> bool:
        """Whether the cell was there to take them."""
        if self.channel is None:
            return False
        try:
            passing.send(self.channel, b"fds", fds)
        except OSError:
            return False
        finally:
            self.channel.close()
        return True

    def reap(self) -> tuple[int, float] | None:
        """Ends all of it: the kernel does, with its pid 1. The program's wait status and processor seconds.

        None if the program had not ended by itself, or where that is the init's to tell.
        """
        ended, status, usage = os.wait4(self.program, os.WNOHANG) if self.program else (0, 0, None)
        os.kill(self.init, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # all children are this cell's; the init ends last
            while True:
                os.waitpid(-1, 0)
        return (status, usage.ru_utime + usage.ru_stime) if ended and usage is not None else None

    def report(self, cause: str | None, ended: tuple[int, float] | None) -> Mapping[str, object]:
        """How its program ended, after the cell was reaped. Raises OSError if the program never began."""
        told = os.read(self.status_fd, passing.MESSAGE_BYTES)
        os.close(self.status_fd)
        if not self.program:
            return cast("Mapping[str, object]", json.loads(told or b"{}"))
        if ended is None:
            return {}
        if cause is None:
            cell.check_begun(told)
        return {"status": ended[0], "cpu_s": ended[1]}

    def discard(self) -> None:
        self.reap()
        os.close(self.status_fd)
        if self.channel is not None:
            self.channel.close()


class Zygote:
    """Takes jobs from the control socket, one at a time.

    Between jobs it keeps one cell ready, made after the last one was reaped: mounts, locks and limits are there
    already when a submission with the same limits comes.
    """

    def __init__(self, control: socket.socket, tools: cell.Tools, group: ControlGroup, pid_namespace: int) -> None:
        self._control = control
        self._tools = tools
        self._group = group
        self._pid_namespace = pid_namespace
        self._spare: Running | None = None

    def serve(self) -> NoReturn:
        # No cell looks into its init or, however it got there, into this process: the same user would be allowed to
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
        while True:
            order, fds = self._receive()
            if "kind" not in order:  # it asks to end a job that has ended already
                continue
            job = self._run(int(str(order["job"])), order, fds)
            if job is not None and job.kind == program.SUBMISSION:
                self._spare = self._start(job)

    def _receive(self) -> tuple[Mapping[str, object], list[int]]:
        data, fds = passing.receive(self._control)
        return json.loads(data), fds

    def _send(self, message: Mapping[str, object]) -> None:
        self._control.send(json.dumps(message).encode())

    def _run(self, number: int, order: Mapping[str, object], fds: list[int]) -> cell.Job | None:
        """Does one job and reports on it. Returns it, or None if this zygote can do no other."""
        self._send({"accepted": number})
        started = time.monotonic()
        report: dict[str, object] = {"ended": number, "cause": None}
        job = None
        try:
            job = _job(order)
            self._group.limit(job.limits)
            kills = self._group.memory_kills()
            running = self._cell_for(job, fds)
            for fd in fds:
                os.close(fd)
            cause = self._supervise(number, running, started)
            ended = running.reap()
            report["cause"] = cause
            report.update(running.report(cause, ended))
            report["memory_kill"] = self._group.memory_kills() > kills
        except OSError as error:
            job = None
            report["fault"] = str(error)
            report["broken"] = True
        report["wall_s"] = time.monotonic() - started
        self._send(report)
        return job

    def _cell_for(self, job: cell.Job, fds: Sequence[int]) -> Running:
        """The cell that was kept ready, where it fits the job, or a new one; never both."""
        spare, self._spare = self._spare, None
        if spare is not None:
            if job.kind == program.SUBMISSION and spare.limits == job.limits and spare.deliver(fds):
                return spare
            spare.discard()
        if job.kind == program.COMMAND:
            return self._start_command(job, cell.Descriptors(*fds))
        running = self._start(job)
        running.deliver(fds)  # a cell that failed already tells why in its status
        return running

    def _start(self, job: cell.Job) -> Running:
        """Makes a cell for a submission, which waits for its descriptors."""
        heard_fd, word_fd = os.pipe()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        syscalls.unshare(syscalls.CLONE_NEWPID)
        init = syscalls.fork_bare()
        if init == 0:
            cell.be_init()
        child = syscalls.fork_bare()  # into the same namespace, with this process as its parent
        if child == 0:
            os.close(heard_fd)
            self._control.close()
            ours.close()
            cell.run_submission(job, self._tools, theirs, word_fd)
        syscalls.setns(self._pid_namespace, syscalls.CLONE_NEWPID)  # so that the next unshare is allowed
        os.close(word_fd)
        theirs.close()
        return Running(init, child, heard_fd, job.limits, ours)

    def _start_command(self, job: cell.Job, fds: cell.Descriptors) -> Running:
        status_fd, write_fd = os.pipe()
        syscalls.unshare(syscalls.CLONE_NEWPID)
        init = os.fork()
        if init == 0:
            os.close(status_fd)
            self._control.close()
            cell.run_command(job, self._tools, fds, write_fd)
        syscalls.setns(self._pid_namespace, syscalls.CLONE_NEWPID)
        os.close(write_fd)
        return Running(init, 0, status_fd, job.limits, None)

    def _supervise(self, number: int, running: Running, started: float) -> str | None:
        """Waits until the cell has ended or is to be ended; why it is ended from here, if it is."""
        bounds = running.limits
        deadline = started + bounds.wall_s + _GRACE_S
        pidfd = syscalls.pidfd_open(running.watched)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        watch_memory = not self._group.limits_memory and self._tools.has_proc
        cause = None
        while cause is None:
            left_s = max(0.0, deadline - time.monotonic())
            ready = [fd for fd, _ in poll.poll(1000 * min(left_s, _WATCH_S if watch_memory else left_s) + 1)]
            if pidfd in ready:
                break
            if ready:
                order, _ = self._receive()
                cause = "closed" if order.get("end") == number else None
            elif time.monotonic() >= deadline:
                cause = "deadline"
            elif watch_memory and limits.memory_of_others() > bounds.memory_mb * limits.MEGABYTE:
                cause = "memory"
        os.close(pidfd)
        return cause


_WATCH_S = 0.1
"""How often the memory of a cell is looked at where no control group bounds it."""


def _job(order: Mapping[str, object]) -> cell.Job:
    strings = cast("Mapping[str, list[str]]", order)
    return cell.Job(
        kind=str(order["kind"]),
        limits=Limits.from_wire(cast("Mapping[str, float]", order["limits"])),
        argv=strings["argv"],
        collect=strings["collect"],
        environment=cast("Mapping[str, str]", order["environment"]),
    )


_NEEDED_IN_CELLS = (multiprocess, worker)
"""Imported here, since their files are out of sight in a cell."""

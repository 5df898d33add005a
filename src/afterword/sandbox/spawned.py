"""The levels without a zygote: each program is a fresh interpreter, started by bubblewrap, seatbelt or nothing.

Separate from `namespaced.py` since here the isolation is another program's work, and each job is a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from afterword.core.records import Limits, RunResult
from afterword.errors import SandboxFault
from afterword.sandbox.cgroups import ControlGroups
from afterword.sandbox.children import Child
from afterword.sandbox.environment import environment, interpreter_environment
from afterword.sandbox.jail.cgroup import ControlGroup
from afterword.sandbox.jail.limits import Limits as JailLimits
from afterword.sandbox.jail.program import COMMAND, SUBMISSION, TRIAL, collected_files
from afterword.sandbox.launchers import JAIL_FOLDER, Launcher
from afterword.sandbox.peers import JailedPeer
from afterword.sandbox.results import Cause, Ending, anonymous_file, pack_files
from afterword.sandbox.streams import Allowance, Drain

_LEFTOVER_S = 0.5
_FAILURE_BYTES = 4_000
BOOT = "import sys; sys.path[0] = sys.argv[1]; from jail.boot import main; del sys.path[0]; main()"
_JOIN_GROUP = 'echo $$ > "$0" && exec "$@"'


class Job:
    """One launched program, from the main process's side."""

    def __init__(self, launcher: Launcher, limits: Limits) -> None:
        self.launcher = launcher
        self.limits = limits
        self.folder: Path | None = None
        self.groups: dict[str, str] = {}
        self.group = ControlGroup({})
        self.collect: Sequence[str] = ()
        self._child: Child | None = None
        self._outputs: list[Drain] = []
        self._failure: list[Drain] = []
        self._cause: Cause | None = None
        self._over = anyio.Event()
        self._outcome: RunResult | SandboxFault = SandboxFault("the sandbox was closed while the jail ran")

    def started(self, child: Child, outputs: Sequence[int], failure: int) -> tuple[Drain, ...]:
        """Takes over the reading ends; returns what is to be drained."""
        self._child = child
        allowance = Allowance(self.limits.output_bytes)
        self._outputs = [Drain(fd, allowance, self._overflow) for fd in outputs]
        self._failure = [Drain(failure, Allowance(_FAILURE_BYTES), self._overflow)]
        return self.drains

    @property
    def drains(self) -> tuple[Drain, ...]:
        return (*self._outputs, *self._failure)

    def _overflow(self) -> None:
        self._stop("output_limit")

    def _stop(self, cause: Cause) -> None:
        if self._cause is None and self._child is not None and not self._over.is_set():
            self._cause = cause
            self._child.kill()

    async def attend(self, child: Child) -> None:
        """Follows the program to its end; whatever happens, nothing of it is left where the level can see to that."""
        started = anyio.current_time()
        kills = self.group.memory_kills()
        try:
            with anyio.move_on_after(self.limits.wall_s + self.launcher.start_s) as deadline:
                await child.exited()
            if deadline.cancelled_caught:
                self._stop("deadline")
            returncode = await child.end()
            wall_s = anyio.current_time() - started
            for drain in self.drains:
                with anyio.move_on_after(_LEFTOVER_S):  # a process that left its group may hold the pipe open
                    await drain.wait()
                drain.stop()
            self._outcome = self._conclude(returncode, wall_s, self.group.memory_kills() > kills)
        except SandboxFault as fault:
            self._outcome = fault

    def finish(self) -> None:
        for drain in self.drains:
            drain.stop()
        self._over.set()

    def abandon(self) -> None:
        """Lets go of what a job holds that was never followed."""
        for drain in self.drains:
            drain.close()

    def _conclude(self, returncode: int, wall_s: float, memory_kill: bool) -> RunResult:
        for failure in self._failure:
            if failure.content:
                raise SandboxFault(failure.content.decode(errors="backslashreplace"))
        files = dict(collected_files(str(self.folder), self.collect)) if self.folder is not None else {}
        ended_by_us = self._cause in ("closed", "deadline") and returncode != 0
        ending = Ending(
            status=None if ended_by_us else _wait_status(returncode, self.launcher.shell_statuses),
            cause=self._cause,
            wall_s=wall_s,
            memory_kill=memory_kill,
            stdout=self._outputs[0].content,
            stderr=self._outputs[1].content if len(self._outputs) > 1 else b"",
            files=files,
        )
        return ending.result(self.limits, self.launcher.level)

    async def wait(self) -> RunResult:
        await self._over.wait()
        if isinstance(self._outcome, SandboxFault):
            raise self._outcome
        return self._outcome

    def let_go(self) -> bool:
        for drain in self.drains:
            drain.catch_up()
        self._stop("closed")
        return self._cause != "output_limit"

    async def close(self) -> None:
        self._stop("closed")
        await self._over.wait()


class SpawnedSandbox:
    """Launches each program anew, by the launcher of its level."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        python: Path,
        workers: int,
        readable: Sequence[Path] = (),
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        self._launcher = launcher
        self._python = python
        self._readable = tuple(readable)
        self._extra_environment = dict(extra_environment or {})
        self._workers = anyio.Semaphore(workers)
        self._groups = ControlGroups()
        self._views: dict[bool, list[str]] = {}
        self._scratch: str | None = None
        """Where work folders are made; None: where temporary files are."""
        self._tasks: TaskGroup | None = None
        self._live: dict[Job, Child] = {}

    @property
    def isolation(self) -> str:
        return self._launcher.level

    async def open(self, source: str, limits: Limits) -> JailedPeer:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                payload = source.encode("utf-8", "surrogatepass")
                job = await self._begin(SUBMISSION, payload, limits, peer=theirs.fileno())
                return JailedPeer(job, ours, self.isolation)
        except BaseException:
            ours.close()
            raise

    async def run(
        self, argv: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, collect: Sequence[str] = ()
    ) -> RunResult:
        job = await self._begin(COMMAND, pack_files(files), limits, argv=argv, collect=collect)
        try:
            return await job.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await job.close()

    async def try_out(self) -> None:
        """Goes the whole way once, into the jail and out again. Raises SandboxFault with the reason where it fails."""
        job = await self._begin(TRIAL, b"", Limits(wall_s=30.0))
        result = await job.wait()
        if result.exit_code != 0:
            raise SandboxFault(f"a trial run ended with {result.reason}: {result.stdout.strip()}")
        if self._launcher.locks and os.geteuid() == 0 and not self._groups.limit_processes:
            raise SandboxFault("as root the number of processes needs a control group, and none can be made here")

    async def _begin(
        self,
        kind: str,
        payload: bytes,
        limits: Limits,
        *,
        peer: int | None = None,
        argv: Sequence[str] = (),
        collect: Sequence[str] = (),
    ) -> Job:
        if self._tasks is None:
            raise SandboxFault("the sandbox is not open: use it in `async with`")
        command = kind == COMMAND
        readable = await self._view(toolchain=command)
        await self._workers.acquire()
        job = Job(self._launcher, limits)
        try:
            job.collect = collect
            if self._launcher.needs_folder(command=command):
                job.folder = Path(tempfile.mkdtemp(prefix="afterword-", dir=self._scratch))
            job.groups = self._groups.make() if self._launcher.contains else {}
            job.group = ControlGroup(job.groups)
            job.group.limit(self._group_limits(limits))
            child, drains = self._launch(job, kind, payload, peer, argv, readable)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._clear(job)
            raise
        for drain in drains:
            self._tasks.start_soon(drain.run)
        self._live[job] = child
        self._tasks.start_soon(self._attend, job, child)
        return job

    async def _attend(self, job: Job, child: Child) -> None:
        try:
            await job.attend(child)
        finally:
            await self._bury(job, child)

    async def _bury(self, job: Job, child: Child) -> None:
        """Ends the process and removes all that the job holds, also if it was never followed."""
        with anyio.CancelScope(shield=True):
            child.kill()
            await child.end()
            job.finish()
            await self._clear(job)
        self._live.pop(job, None)

    async def _clear(self, job: Job) -> None:
        job.group.close()
        await self._groups.remove(job.groups)
        if job.folder is not None:
            await anyio.to_thread.run_sync(remove_tree, job.folder)
        self._workers.release()

    def _launch(
        self, job: Job, kind: str, payload: bytes, peer: int | None, argv: Sequence[str], readable: Sequence[str]
    ) -> tuple[Child, tuple[Drain, ...]]:
        home = self._launcher.inner_home or str(job.folder)
        variables = environment(home, self._readable, self._extra_environment)
        if self._launcher.inner_home is None:
            variables["TMPDIR"] = home
        outputs = [os.pipe() for _ in range(2 if kind == COMMAND else 1)]
        readers, writers = [reader for reader, _ in outputs], [writer for _, writer in outputs]
        failure, failure_writer = os.pipe()
        payload_fd = anonymous_file(payload)
        fds = {"payload": payload_fd, "failure": failure_writer, "peer": -1 if peer is None else peer}
        order = {
            "kind": kind,
            "limits": asdict(job.limits),
            "argv": list(argv),
            "environment": variables,
            "lock": self._launcher.locks,
            "shares_user": not self._launcher.locks,
            "memory_is_bounded": job.group.limits_memory,
            "fds": self._seen_inside(fds),
        }
        order_fd = anonymous_file(json.dumps(order).encode())
        fds["order"] = order_fd
        try:
            popen = subprocess.Popen(
                self._command_line(job, fds, readable, variables),
                pass_fds=[fd for fd in fds.values() if fd >= 0],
                stdin=subprocess.DEVNULL,
                stdout=writers[0],
                stderr=writers[-1],
                env=self._outer_environment(variables),
                cwd=job.folder or "/",
                start_new_session=True,
            )
        except OSError as error:
            for fd in (failure, *readers):
                os.close(fd)
            raise SandboxFault(f"the {self.isolation} level cannot start a program: {error}") from error
        finally:
            for fd in (payload_fd, failure_writer, order_fd, *writers):
                os.close(fd)
        child = self._child(popen, job)
        return child, job.started(child, readers, failure)

    def _group_limits(self, limits: Limits) -> JailLimits:
        return JailLimits.from_wire(asdict(limits))

    def _seen_inside(self, fds: Mapping[str, int]) -> Mapping[str, int]:
        """The numbers that descriptors have for the program."""
        return fds

    def _outer_environment(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        return interpreter_environment(variables)

    def _child(self, popen: subprocess.Popen[bytes], job: Job) -> Child:  # noqa: ARG002 - for other levels
        return Child(popen, contains=self._launcher.contains)

    def _program(self, order_fd: int) -> list[str]:
        """The interpreter that reads the order."""
        boot = [BOOT, self._launcher.jail_folder(), str(order_fd)]
        return [str(self._python), "-s", "-B", "-X", "utf8", "-c", *boot]

    def _command_line(
        self,
        job: Job,
        fds: Mapping[str, int],
        readable: Sequence[str],
        variables: Mapping[str, str],  # noqa: ARG002 - inherited, unless a level passes them on itself
    ) -> list[str]:
        limits = JailLimits.from_wire(asdict(job.limits))
        line = self._launcher.command_line(self._program(fds["order"]), job.folder, readable, limits)
        return self._in_group(job, line)

    def _in_group(self, job: Job, line: list[str]) -> list[str]:
        for folder in job.groups.values():
            line = ["/bin/sh", "-c", _JOIN_GROUP, f"{folder}/cgroup.procs", *line]
        return line

    async def _view(self, *, toolchain: bool) -> list[str]:
        """What the interpreter needs to read; asked of the interpreter itself, once."""
        if toolchain not in self._views:
            kind = "toolchain" if toolchain else "interpreter"
            extra = [str(path) for path in self._readable] if toolchain else []
            line = [str(self._python), "-s", "-B", str(JAIL_FOLDER / "view.py"), kind, *extra]
            try:
                with anyio.fail_after(30):
                    answer = await anyio.run_process(line, env=environment("/"), check=True)
            except (OSError, subprocess.CalledProcessError, TimeoutError) as error:
                raise SandboxFault(f"{str(self._python)!r} does not answer as a Python interpreter: {error}") from error
            self._views[toolchain] = json.loads(answer.stdout)["readable"]
        return self._views[toolchain]

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tasks is not None:
            tasks, self._tasks = self._tasks, None
            tasks.cancel_scope.cancel()
            # Without the error of the body, which is not the group's and is to reach the caller as it is
            try:
                await tasks.__aexit__(None, None, None)
            finally:
                for job, child in tuple(self._live.items()):  # a task cancelled before its first step has done nothing
                    await self._bury(job, child)
                    job.abandon()


def remove_tree(folder: Path) -> None:
    """Removes a work folder, also one whose permissions the program took away."""
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            if not Path(parent, name).is_symlink():
                Path(parent, name).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _wait_status(returncode: int, shell_statuses: bool) -> int:
    if returncode < 0:
        return -returncode
    if shell_statuses and 128 < returncode <= 128 + 64:
        return returncode - 128
    return returncode << 8

"""The `container` level: each program in a container of its own, made by podman's command line.

Separate from the other launched programs, since a container is no child of the process that asks for it: it has a name,
gets its descriptors renumbered, and has to be ended by its own pid. No image is used and none is fetched: the root is
an empty folder into which the same parts of the host are bound, read-only, as at the other levels.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

import anyio

from afterword.core.records import Limits
from afterword.errors import SandboxFault
from afterword.sandbox.children import Child
from afterword.sandbox.environment import interpreter_environment
from afterword.sandbox.jail.limits import Limits as JailLimits
from afterword.sandbox.launchers import JAIL_FOLDER
from afterword.sandbox.spawned import BOOT, Job, SpawnedSandbox, remove_tree

_INNER_JAIL = "/.afterword"
_INNER_ID = 1000
_FIRST_ID = 1_000_000_000
"""The host's id of the container's user 0: one that owns nothing."""
_HIDDEN = Path(__file__).parent.parent
_FDS = ("peer", "payload", "failure", "order")
"""What the program inherits, from descriptor 3 on."""
_OWN_PROCESSES = 64
_OWN_MEMORY_MB = 256
"""What podman and its monitor take, which stand in the same control group."""
_REMOVE_WITHIN_S = 20.0
_HYBRID = "/sys/fs/cgroup/unified"

_RENUMBER = """\
import fcntl, os, sys
numbers = [int(text) for text in sys.argv[1].split(",")]
opened = [os.open(os.devnull, os.O_RDWR) if fd < 0 else fd for fd in numbers]
for target, fd in enumerate([fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in opened], start=3):
    os.dup2(fd, target)
os.closerange(3 + len(numbers), os.sysconf("SC_OPEN_MAX"))
os.execv(sys.argv[2], sys.argv[2:])
"""
_INIT = """\
import os, sys
child = os.fork()
if child:
    os.closerange(3, 64)
    pid = 0
    while pid != child:
        pid, status = os.wait()
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
"""
"""Pid 1, which a signal of its own would not end: it waits for the program and says how that ended."""
_WITHOUT_VERSION_2 = f'umount {_HYBRID} && exec "$@"'


class Podman:
    """The command line of a container, but for its name; it keeps the empty roots that containers are made on."""

    level = "container"
    contains = True
    locks = True
    shell_statuses = True
    inner_home: str | None = "/sandbox"
    start_s = 2.0

    def __init__(self) -> None:
        found = shutil.which("podman")
        if found is None:
            raise SandboxFault("podman is not there: install podman and crun")
        self.binary = found
        # As root the container's user is another one, who has to get there
        place = "/run" if os.geteuid() == 0 and os.access("/run", os.W_OK) else None
        self.home = Path(tempfile.mkdtemp(prefix="afterword-", dir=place))
        self.home.chmod(0o711)
        self._roots: dict[tuple[str, ...], Path] = {}

    def needs_folder(self, *, command: bool) -> bool:
        return command

    def jail_folder(self) -> str:
        return _INNER_JAIL

    def command_line(
        self, program: Sequence[str], folder: Path | None, readable: Sequence[str], limits: JailLimits
    ) -> list[str]:
        line = [self.binary, "run", *_isolation(limits), *_mounts(folder, readable, limits)]
        return [*line, "--rootfs", str(self._root(readable)), *program]

    def _root(self, readable: Sequence[str]) -> Path:
        """An empty root with a place for each mount, since the container's user may make none; made once."""
        key = tuple(readable)
        if key not in self._roots:
            self._roots[key] = self.home / f"root-{len(self._roots)}"
            _make_root(self._roots[key], readable)
        return self._roots[key]


def _isolation(limits: JailLimits) -> list[str]:
    """No network, no capability, no new privileges; the control group is ours, and the container stays in it."""
    size = f"{limits.scratch_mb}m"
    line = ["--rm", "--pull=never", "--log-driver=none", "--cgroups=disabled", "--network=none", "--no-hosts"]
    line += ["--ipc=private", "--uts=private", "--pid=private", "--hostname=sandbox", "--systemd=false"]
    line += ["--cap-drop=all", "--security-opt=no-new-privileges", "--read-only", "--read-only-tmpfs=false"]
    line += ["--ulimit=nofile=1024:1024", "--ulimit=core=0:0", f"--ulimit=nproc={limits.processes + _OWN_PROCESSES}"]
    # crun would copy the places for mounts below /tmp into it, as an owner whom it cannot name there
    line += [f"--tmpfs=/tmp:rw,nosuid,nodev,size={size},mode=1777,notmpcopyup"]
    line += [f"--shm-size={size}", "--workdir=/sandbox"]
    line += ["--tmpfs=/sys:ro,size=4k,mode=0711"]
    if os.geteuid() == 0:
        mapping = f"0:{_FIRST_ID}:{2 * _INNER_ID}"
        line += [f"--uidmap={mapping}", f"--gidmap={mapping}", f"--user={_INNER_ID}:{_INNER_ID}"]
    return line


def _mounts(folder: Path | None, readable: Sequence[str], limits: JailLimits) -> list[str]:
    line = [f"--volume={path}:{path}:ro" for path in readable if not Path(path).is_symlink()]
    if any(_HIDDEN.is_relative_to(path) for path in readable):
        line.append(f"--tmpfs={_HIDDEN}:ro,size=4k")
    line.append(f"--volume={JAIL_FOLDER}:{_INNER_JAIL}/jail:ro")
    if folder is None:
        return [*line, f"--tmpfs=/sandbox:rw,nosuid,nodev,size={limits.scratch_mb}m,mode=1777"]
    return [*line, f"--volume={folder}:/sandbox:rw"]


class ContainerChild(Child):
    """The podman process of one container, which is killed by its pid 1."""

    def __init__(self, popen: subprocess.Popen[bytes], pid_file: Path) -> None:
        super().__init__(popen, contains=True)
        self._pid_file = pid_file

    def _children(self) -> list[int]:
        try:
            return [int(self._pid_file.read_text())]
        except (OSError, ValueError):
            return []


class ContainerSandbox(SpawnedSandbox):
    """Runs each program in a container; see `docs/sandbox.md` for what that promises."""

    def __init__(
        self,
        *,
        python: Path,
        workers: int,
        readable: Sequence[Path] = (),
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        podman = Podman()
        super().__init__(podman, python=python, workers=workers, readable=readable, extra_environment=extra_environment)
        self._podman = podman
        self._scratch = str(podman.home)
        self._mark = f"afterword-{os.getpid()}-{secrets.token_hex(4)}"
        self._numbers = itertools.count()
        self._names: dict[Job, str] = {}

    def _group_limits(self, limits: Limits) -> JailLimits:
        bounds = super()._group_limits(limits)
        return bounds._replace(processes=bounds.processes + _OWN_PROCESSES, memory_mb=bounds.memory_mb + _OWN_MEMORY_MB)

    def _seen_inside(self, fds: Mapping[str, int]) -> Mapping[str, int]:
        return {name: -1 if fds[name] < 0 else 3 + _FDS.index(name) for name in fds}

    def _outer_environment(self, variables: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ARG002 - see there
        """Podman's own: it finds its settings and its state there, and passes nothing of it on."""
        return os.environ

    def _child(self, popen: subprocess.Popen[bytes], job: Job) -> Child:
        return ContainerChild(popen, self._pid_file(self._names[job]))

    def _program(self, order_fd: int) -> list[str]:
        line = super()._program(order_fd)
        line[line.index(BOOT)] = _INIT + BOOT
        return line

    def _pid_file(self, name: str) -> Path:
        return self._podman.home / f"{name}.pid"

    def _command_line(
        self, job: Job, fds: Mapping[str, int], readable: Sequence[str], variables: Mapping[str, str]
    ) -> list[str]:
        name = self._names[job] = f"{self._mark}-{next(self._numbers)}"
        if job.folder is not None and os.geteuid() == 0:
            os.chown(job.folder, _FIRST_ID + _INNER_ID, _FIRST_ID + _INNER_ID)
        program = self._program(3 + _FDS.index("order"))
        if job.folder is None:  # podman carries two streams, and would not keep their order
            program = [part.replace(_INIT, _INIT + "os.dup2(1, 2)\n") for part in program]
        limits = JailLimits.from_wire(asdict(job.limits))
        binary, run, *line = self._launcher.command_line(program, job.folder, readable, limits)
        own = [f"--name={name}", f"--pidfile={self._pid_file(name)}", f"--preserve-fds={len(_FDS)}"]
        own += [f"--env={key}={value}" for key, value in interpreter_environment(variables).items()]
        numbers = ",".join(str(fds[each]) for each in _FDS)
        line = [sys.executable, "-I", "-S", "-c", _RENUMBER, numbers, binary, run, *own, *line]
        if os.geteuid() == 0 and os.path.ismount(_HYBRID):  # crun refuses to run beside both versions of cgroups
            line = ["unshare", "--mount", "/bin/sh", "-c", _WITHOUT_VERSION_2, "sh", *line]
        return self._in_group(job, line)

    async def _clear(self, job: Job) -> None:
        name = self._names.pop(job, None)
        if name is not None:
            # podman removes what ended by itself; one that was killed while it started may still be known to it
            if self._is_known(name):
                with anyio.move_on_after(_REMOVE_WITHIN_S):
                    await anyio.run_process(
                        [self._podman.binary, "rm", "--force", "--time=0", "--ignore", name], check=False
                    )
            self._pid_file(name).unlink(missing_ok=True)
        await super()._clear(job)

    def _is_known(self, name: str) -> bool:
        """Whether its pid 1 lives, or it never told one."""
        try:
            os.kill(int(self._pid_file(name).read_text()), signal.SIG_DFL)
        except ProcessLookupError:
            return False
        except (OSError, ValueError):
            return True
        return True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, traceback)
        finally:
            remove_tree(self._podman.home)


def _make_root(root: Path, readable: Sequence[str]) -> None:
    root.mkdir(mode=0o755)
    for folder in ("etc", "proc", "sys", "dev", "run", "tmp", "sandbox", f"{_INNER_JAIL.lstrip('/')}/jail"):
        (root / folder).mkdir(parents=True)
    for file in ("etc/passwd", "etc/group", "etc/hostname", "etc/hosts", "etc/resolv.conf", "run/.containerenv"):
        (root / file).touch()
    for path in map(Path, readable):
        inside = root / path.relative_to("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            inside.symlink_to(path.readlink())
        elif path.is_dir():
            inside.mkdir(exist_ok=True)
        else:
            inside.touch()
    for parent, _, _ in os.walk(root):
        Path(parent).chmod(0o755)
    (root / "run").chmod(0o711)  # podman puts a mark of its own there

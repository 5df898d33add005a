"""What a hostile submission tries, on the levels that promise to keep it in."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import cast

import anyio
import pytest

from afterword.sandbox import Level
from tests.sandbox.jailed import jail, outcome, submit, told

ATTEMPT = """
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
def attempt(call, *arguments):
    ctypes.set_errno(0)
    result = call(*arguments)
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
"""


@pytest.mark.parametrize(
    "call",
    [
        "libc.unshare, 0x10000000",
        "libc.unshare, 0x00020000",
        "libc.setns, 0, 0",
        "libc.mount, b'none', b'/tmp', b'tmpfs', 0, None",
        "libc.umount2, b'/proc', 2",
        "libc.chroot, b'/tmp'",
        "libc.ptrace, 16, 1, 0, 0",
        "libc.process_vm_readv, 1, None, 0, None, 0, 0",
        "libc.execv, b'/bin/sh', None",
        "libc.socket, 40, 1, 0",
        "libc.socket, 16, 3, 0",
        "libc.socket, 17, 3, 0",
        "libc.socket, 2, 3, 0",
        "libc.reboot, 0",
        "libc.personality, 0x0040000",
        "libc.open_by_handle_at, -1, None, 0",
    ],
)
def test_a_dangerous_call_is_refused(call: str) -> None:
    assert told(f"attempt({call})", "namespaces", before=ATTEMPT) == "EPERM"


@pytest.mark.parametrize("number", [425, 428, 430, 435, 438, 442, 444, 447, 460, 500])
def test_a_call_newer_than_the_table_does_not_exist(number: int) -> None:
    assert told(f"attempt(libc.syscall, {number}, 0, 0, 0, 0)", "namespaces", before=ATTEMPT) == "ENOSYS"


@pytest.mark.parametrize(
    "flag", ["0x10000000", "0x00020000", "0x20000000", "0x40000000", "0x08000000", "0x02000000", "0x00008000"]
)
def test_clone_into_a_new_namespace_or_beside_oneself_is_refused(flag: str) -> None:
    number = "220 if platform.machine() == 'aarch64' else 56"
    assert told(f"attempt(libc.syscall, {number}, {flag} | 17, 0, 0, 0, 0)", "namespaces", before=ATTEMPT) == "EPERM"


def test_nobody_is_made_to_run_only_when_nobody_else_wants_to(level: Level) -> None:
    """A dying process of that kind could keep its zygote waiting for as long as the machine is busy."""
    before = ATTEMPT + "who = [0, 1]\n"
    asks = (
        "[os.setpriority(os.PRIO_PROCESS, pid, 19) for pid in who]"
        " + [os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)) for pid in who]"
    )
    seen = "[os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)]"
    assert told(f"[{asks}, os.nice(5), {seen}][2]", level, before=before) == [0, os.SCHED_OTHER]


def test_proc_is_read_only() -> None:
    flags = "[line.split()[5] for line in open('/proc/self/mountinfo') if line.split()[4] == '/proc'][-1].split(',')"
    assert "ro" in cast("list[str]", told(flags, "namespaces"))


def test_the_same_locks_hold_on_each_strong_level(level: Level) -> None:
    calls = "[attempt(libc.unshare, 0x10000000), attempt(libc.execv, b'/bin/sh', None), attempt(libc.socket, 16, 3, 0)]"
    assert told(calls, level, before=ATTEMPT) == ["EPERM"] * 3


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the x32 calls are those of x86-64")
def test_a_call_by_another_machines_numbers_ends_the_program() -> None:
    assert outcome(ATTEMPT + "libc.syscall(0x40000000 + 39)").reason == "signal"


def test_no_shell_can_be_started(level: Level) -> None:
    source = "[name for name in ('sh', 'bash', 'env') for p in ('/bin', '/usr/bin') if tried(f'{p}/{name}')]"
    before = """
def tried(path):
    try:
        os.execv(path, [path])
    except OSError as error:
        return not isinstance(error, (PermissionError, FileNotFoundError))
"""
    assert told(source, level, before=before) == []


def test_the_host_is_out_of_sight(level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("planted")
    (Path.home() / ".afterword-test-secret").write_text("planted")
    paths = [
        secret, Path.home() / ".afterword-test-secret", "/etc/shadow", "/etc/ssh", "/proc/1/environ", "/proc/1/mem",
        Path(__file__), Path(__file__).parents[2] / "pyproject.toml", "/var/run/docker.sock", "/run", "/sys", "/home",
        "/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/tty",
    ]  # fmt: skip
    before = """
def readable(path):
    try:
        return bool(os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(1))
    except OSError:
        return False
"""
    try:
        names = [str(path) for path in paths]
        assert told(f"[path for path in {names!r} if readable(path)]", level, before=before) == []
    finally:
        (Path.home() / ".afterword-test-secret").unlink()


def test_this_package_is_shown_empty(level: Level) -> None:
    import afterword

    folder = str(Path(afterword.__file__).parent)
    assert told(f"os.listdir({folder!r}) if os.path.exists({folder!r}) else []", level) == []


def test_nothing_outside_the_private_folders_can_be_written(level: Level) -> None:
    before = """
import sys
def writable(folder):
    try:
        open(os.path.join(folder, 'planted'), 'w').close()
        return True
    except OSError:
        return False
"""
    folders = (
        "['/', '/etc', '/usr/lib', '/lib', '/proc', '/dev', sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)]"
    )
    # A folder that leads to an interpreter below /tmp is a part of the private /tmp.
    outside = f"[folder for folder in {folders} if not folder.startswith('/tmp/') and writable(folder)]"
    assert told(outside, level, before=before) == []
    assert told("[writable(folder) for folder in ('.', '/tmp', '/dev/shm')]", level, before=before) == [True] * 3


def test_private_folders_are_fresh_each_time(level: Level) -> None:
    async def main() -> list[str]:
        source = "import os\nseen = [os.path.exists(d + 'left') for d in ('', '/tmp/', '/dev/shm/')]\n"
        source += (
            "[open(d + 'left', 'w').close() for d in ('', '/tmp/', '/dev/shm/')]\nos.write(1, repr(seen).encode())"
        )
        async with jail(level) as sandbox:
            return [(await submit(sandbox, source)).stdout for _ in range(2)]

    assert anyio.run(main) == ["[False, False, False]"] * 2


def test_no_descriptor_but_the_peer_is_inherited(level: Level) -> None:
    names = told(
        "[os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in sorted(os.listdir('/proc/self/fd'))[:-1]]", level
    )
    assert isinstance(names, list)
    assert [name for name in names if name not in ("/dev/null", "pipe")] == ["socket"]


def test_no_connection_reaches_the_host(level: Level) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.2)
        port = listening.getsockname()[1]
        before = f"""
import socket
def connected(address):
    s = socket.socket(socket.AF_INET)
    s.settimeout(0.5)
    try:
        s.connect(address)
        return True
    except OSError:
        return False
addresses = [('127.0.0.1', {port}), ('1.1.1.1', 53), ('169.254.169.254', 80)]
"""
        assert told("[a for a in addresses if connected(a)]", level, before=before) == []
        with pytest.raises(TimeoutError):
            listening.accept()


def test_a_unix_socket_of_the_host_is_out_of_reach(level: Level, tmp_path: Path) -> None:
    name = f"\0afterword-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as named:
        abstract.bind(name)
        abstract.listen()
        named.bind(str(tmp_path / "s"))
        named.listen()
        before = """
import socket
def connected(address):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(address)
        return True
    except OSError:
        return False
"""
        addresses = [name, str(tmp_path / "s"), "/run/docker.sock", "/var/run/docker.sock"]
        assert told(f"[a for a in {addresses!r} if connected(a)]", level, before=before) == []


def test_signals_reach_only_the_jail(level: Level) -> None:
    source = """
import os, signal
for pid in (1, 0, -1):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        pass
os.write(1, b'lives')
"""

    async def main() -> list[str]:
        async with jail(level) as sandbox:
            return [(await submit(sandbox, source)).stdout for _ in range(2)]

    assert anyio.run(main) == ["lives"] * 2


def test_killing_everything_in_sight_ends_only_itself(level: Level) -> None:
    async def main() -> str:
        async with jail(level) as sandbox:
            await submit(sandbox, "import os, signal\nos.kill(0, signal.SIGKILL)\nos.kill(-1, signal.SIGKILL)")
            return (await submit(sandbox, "import os; os.write(1, b'next one runs')")).stdout

    assert anyio.run(main) == "next one runs"


def test_output_is_cleaned_of_what_fools_a_terminal(level: Level) -> None:
    written = "b'a\\x1b[31mb\\x00c\\xe2\\x80\\xaed\\xff\\xfe\\n'"
    assert outcome(f"import os; os.write(1, {written})", level=level).stdout == "a[31mbcd\\xff\\xfe\n"


def test_multiprocessing_and_shared_memory_work(level: Level) -> None:
    source = """
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory
def square(x):
    return x * x
with multiprocessing.Pool(2) as pool:
    found = pool.map(square, [1, 2, 3])
with ProcessPoolExecutor(2) as executor:
    found += executor.map(square, [4])
block = shared_memory.SharedMemory(name='h_segment', create=True, size=100)
queue = multiprocessing.Queue()
queue.put(5)
with multiprocessing.Manager() as manager:
    found += [queue.get(), len(manager.list([1, 2]))]
os.write(1, repr(found).encode())
"""
    result = outcome(source, level=level)
    assert result.stdout == "[1, 4, 9, 16, 5, 2]"
    assert not Path("/dev/shm/h_segment").exists()


def test_the_users_packages_can_be_imported(level: Level) -> None:
    pytest.importorskip("numpy")
    assert told("numpy.ones(3).sum()", level, before="import numpy") == 3.0


def test_a_program_cannot_read_what_ran_before_it(level: Level) -> None:
    """Neither its source nor its output is in memory that the next one inherits."""
    first = "import os; os.write(1, b'CANARY' + b'-OF-OUTPUT')  # CANARY-OF-SOURCE"
    search = """
import os, re
found = set()
for line in open('/proc/self/maps'):
    start, end = (int(part, 16) for part in line.split()[0].split('-'))
    if line.split()[1].startswith('r') and end - start < 1 << 28 and '[v' not in line:
        with open('/proc/self/mem', 'rb', 0) as memory:
            memory.seek(start)
            try:
                found |= set(re.findall(b'CANARY-O' + b'F-[A-Z]+', memory.read(end - start)))
            except OSError:
                pass
os.write(1, repr(sorted(found)).encode())
"""

    async def main() -> str:
        async with jail(level) as sandbox:
            await submit(sandbox, first)
            return (await submit(sandbox, search)).stdout

    assert anyio.run(main) == "[]"


def test_the_main_thread_need_not_be_the_one_that_runs_the_loop(level: Level) -> None:
    found: list[str] = []
    thread = threading.Thread(
        target=lambda: found.append(outcome("import os; os.write(1, b'here')", level=level).stdout)
    )
    thread.start()
    thread.join()
    assert found == ["here"]

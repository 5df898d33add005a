"""What a hostile submission uses up, on the levels that promise limits that hold."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

from afterword.core.records import Limits
from afterword.sandbox import Level
from tests.sandbox.jailed import FAST, jail, outcome, submit, zygotes
from tests.watching import descendants, eventually, processes_with


def test_a_fork_bomb_stays_within_its_processes(level: Level) -> None:
    source = """
import os, time
made = 0
while made < 200:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError:
        break
    made += 1
os.write(1, str(made).encode())
"""
    assert 20 <= int(outcome(source, Limits(processes=32), level=level).stdout) <= 34


def test_an_endless_fork_bomb_is_ended(level: Level) -> None:
    source = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    assert outcome(source, Limits(wall_s=1, processes=32), level=level).reason == "timeout"


def test_threads_up_to_the_limit_work(level: Level) -> None:
    source = """
import os, threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(24)]
[t.start() for t in threads]
go.set()
[t.join() for t in threads]
os.write(1, b'24 threads')
"""
    assert outcome(source, Limits(memory_mb=1024, processes=32), level=level).stdout == "24 threads"


def test_a_thread_bomb_is_refused_inside(level: Level) -> None:
    source = """
import os, threading
stop = threading.Event()
made = 0
try:
    while made < 5000:
        threading.Thread(target=stop.wait, daemon=True).start()
        made += 1
except (RuntimeError, MemoryError):
    pass
os.write(1, str(made).encode())
"""
    assert int(outcome(source, Limits(processes=32), level=level).stdout) <= 34


def test_one_process_gets_a_memory_error_at_its_limit(level: Level) -> None:
    source = """
import os
try:
    bytearray(600 << 20)
except MemoryError:
    os.write(1, b'refused')
bytearray(200 << 20)
os.write(1, b', less is fine')
"""
    assert outcome(source, Limits(memory_mb=400), level=level).stdout == "refused, less is fine"


def test_many_processes_share_one_memory_limit(level: Level) -> None:
    source = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        break
block = bytearray(150 << 20)
block[::4096] = b'x' * len(block[::4096])
time.sleep(3)
os.write(1, b'had it all')
"""
    result = outcome(source, Limits(wall_s=8, memory_mb=300), level=level)
    assert result.stdout.count("had it all") < 6


def test_files_are_limited_in_size_and_in_all(level: Level) -> None:
    source = """
import os
def write(path, megabytes):
    try:
        with open(path, 'wb') as file:
            for _ in range(megabytes):
                file.write(b'x' * (1 << 20))
        return True
    except OSError:
        return False
written = 0
while written < 64 and write(f'/tmp/{written}', 8):
    written += 1
os.write(1, repr([write('one', 12), write('big', 30), written < 64]).encode())
"""
    result = outcome(source, Limits(file_mb=16, memory_mb=512), level=level)
    assert result.stdout == "[True, False, True]"


def test_a_stopped_program_times_out(level: Level) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    assert outcome(source, Limits(wall_s=0.5), level=level).reason == "timeout"


def test_a_daemon_that_cut_all_ties_ends_with_its_jail(level: Level) -> None:
    marker = f"H-{os.getpid()}-{level}"
    source = f"""
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0)
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        libc.prctl(15, b{marker[:15]!r})
        while True:
            time.sleep(1)
    os._exit(0)
"""
    outcome(source, level=level)
    assert [path for path in Path("/proc").glob("[0-9]*/comm") if _name_in(path) == marker[:15]] == []


def _name_in(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def test_the_init_cannot_be_starved_by_limits(level: Level) -> None:
    source = """
import os, resource
try:
    resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))
    os.write(1, b'done')
except PermissionError:
    os.write(1, b'refused')
"""
    assert outcome(source, level=level).stdout == "refused"


def test_no_process_of_a_command_outlives_it(level: Level) -> None:
    marker = f"4{os.getpid()}"

    async def main() -> None:
        async with jail(level) as sandbox:
            await sandbox.run(["sh", "-c", f"setsid sleep {marker} & sleep 0.1"], {}, FAST)

    anyio.run(main)
    assert eventually(lambda: not processes_with(marker), within_s=2)


SMALL_AND_FULL = """
import ctypes, os
libc = ctypes.CDLL(None)
def shrink():
    for line in open('/proc/self/maps').read().splitlines():
        if 'r-xp' in line and '[' not in line:
            start, end = (int(part, 16) for part in line.split()[0].split('-'))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 4)
def fill():
    for folder in ('/tmp', '/dev/shm', '.'):
        for number in range(40):
            try:
                with open(f'{folder}/{number}', 'wb') as file:
                    for _ in range(15):
                        file.write(bytes(1 << 20))
            except OSError:
                break
if os.fork() == 0:
    shrink()
    fill()
    fill()
    os._exit(0)
os.wait()
os._exit(0)
"""


def test_a_program_whose_files_take_all_memory_dies_before_its_zygote() -> None:
    """The kernel ends the largest process; a small one with large files must not have the zygote ended instead."""

    async def main() -> None:
        limits = Limits(wall_s=20, memory_mb=128)
        async with jail("namespaces") as sandbox:
            await submit(sandbox, "")
            before = {pid for pid in zygotes() if descendants(pid)}  # a cell bears its zygote's name, and has no child
            assert before
            for _ in range(3):
                await submit(sandbox, SMALL_AND_FULL, limits)  # a lost zygote would be a fault
            assert before <= zygotes()

    anyio.run(main)

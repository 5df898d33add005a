"""Many verdicts through one pool, and what there was of everything before and after: does it grow, does it stay?

Every twentieth program misbehaves (raises, exits, crashes, leaves a daemon, writes files, swallows memory), since
what well-behaved programs leave behind proves little.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import anyio

from afterword import Limits
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.sandbox import open_sandbox
from harness.report import Aim, aims_table, machine, machine_line, table, write_block
from harness.samples import figure

WORKERS = 2
PR_SET_CHILD_SUBREAPER = 36
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - it is only counted
MARK = f"afterword-soak-{os.getpid()}"
"""In the names of what programs put in shared memory, where other processes of the host have files too."""
FLAT_KB = 4096
"""Growth of the main process that is still flat: the allocator's own moods over a run."""

ADD_TESTS = "from solution import f\n\ndef test_small():\n    assert f(2, 3) == 5\n"
MISBEHAVING = (
    "def f(a, b):\n    raise RuntimeError('no')\n",
    "import os\ndef f(a, b):\n    os._exit(0)\n",
    "import ctypes\ndef f(a, b):\n    return ctypes.string_at(0)\n",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\ndef f(a, b):\n    return a - b\n",
    "open('left', 'w').write('x' * 100_000)\nopen('/tmp/left', 'w').write('x')\n"
    f"open('/dev/shm/{MARK}-file', 'w').write('x')\ndef f(a, b):\n    return a - b\n",
    "def f(a, b):\n    return bytearray(1 << 40)\n",
    f"from multiprocessing import shared_memory\nshared_memory.SharedMemory('{MARK}', create=True, size=4096)\n"
    "def f(a, b):\n    return a - b\n",
)


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is of everything that verdicts could leave behind."""

    memory_kb: int
    """Resident memory of the main process."""
    workers_memory_kb: int
    """Proportional memory of all processes below it: pages that they share are counted once."""
    processes: int
    descriptors: int
    mounts: int
    control_groups: int
    temporary_files: int
    shared_memory_files: int


LABELS = {
    "memory_kb": "memory of the main process, KB",
    "workers_memory_kb": "memory of judges and zygotes, KB",
    "processes": "processes below it",
    "descriptors": "open descriptors",
    "mounts": "mounts",
    "control_groups": "control groups",
    "temporary_files": "temporary files",
    "shared_memory_files": "files of programs in /dev/shm",
}


def main(items: Sequence[dict[str, object]], verdicts: int, *, write: bool) -> None:
    """Judges so many times, prints what grew, and exits with 1 if anything did."""
    # Orphans of a jail come to us and not to process 1, so that they are counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    facts = machine()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        result = anyio.run(soak, items, verdicts, Path(folder))
        tempfile.tempdir = None
    text = f"{machine_line(facts)}\n\n{result.page}"
    print(text)
    if write:
        write_block("soak", text)
    if any(not aim.met for aim in result.aims):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class Result:
    """The counts before anything, early, late and after closing."""

    verdicts: int
    wrong: int
    """Verdicts that were not as they had to be."""
    seconds: float
    before: Counts
    early: Counts
    late: Counts
    closed: Counts

    @property
    def aims(self) -> tuple[Aim, ...]:
        grown = self.late.memory_kb - self.early.memory_kb
        left = [name for name in LABELS if not name.endswith("memory_kb") and self._left(name)]
        return (
            Aim("every verdict as it must be", f"{self.wrong} wrong", self.wrong == 0),
            Aim("memory of the main process flat", f"{grown:+,} KB", grown < FLAT_KB),
            Aim("nothing left behind", ", ".join(LABELS[name] for name in left) or "nothing", not left),
        )

    def _left(self, name: str) -> bool:
        running = getattr(self.late, name) > getattr(self.early, name)
        return bool(running or getattr(self.closed, name) > getattr(self.before, name))

    @property
    def page(self) -> str:
        moments = (self.before, self.early, self.late, self.closed)
        rows = [(label, *(f"{getattr(counts, name):,}" for counts in moments)) for name, label in LABELS.items()]
        head = ("", "before", "after 500", f"after {self.verdicts:,}", "pool closed")
        rate = figure(self.verdicts / self.seconds)
        return "\n\n".join(
            (
                f"{self.verdicts:,} verdicts on {WORKERS} workers at {rate} per second, one in twenty of them "
                "on a misbehaving program.",
                table(head, rows),
                aims_table(self.aims),
            )
        )


async def soak(items: Sequence[dict[str, object]], verdicts: int, folder: Path) -> Result:
    """Judges so many times and counts on the way."""
    jobs = _jobs(items)
    wrong = 0
    before = count(folder)
    started = time.monotonic()

    async def judge(number: int) -> None:
        nonlocal wrong

        async def work() -> None:
            nonlocal wrong
            while remaining:
                remaining.pop()
                source, suite, passes = next(jobs)
                feedback = await pool.judge(source, suite, Limits())
                wrong += feedback.passed is not passes

        remaining = [None] * number
        async with anyio.create_task_group() as group:
            for _ in range(WORKERS):
                group.start_soon(work)

    early_count = min(500, verdicts // 2)
    async with open_sandbox(workers=WORKERS) as sandbox, JudgePool(sandbox, workers=WORKERS) as pool:
        await judge(early_count)
        early = count(folder)
        for done in range(early_count, verdicts, 1000):
            await judge(min(1000, verdicts - done))
            print(f"soak: {done:,} of {verdicts:,}", file=sys.stderr)
        seconds = time.monotonic() - started
        late = count(folder)
    return Result(verdicts, wrong, seconds, before, early, late, count(folder))


def _jobs(items: Sequence[dict[str, object]]) -> Iterator[tuple[str, Suite, bool]]:
    """Source, tests and whether it is to pass, for ever."""
    good = [
        (f"{item['prompt']}{item['solution']}", Suite.from_humaneval(str(item["test"]), str(item["entry_point"])))
        for item in items
    ]
    add = Suite.from_source(ADD_TESTS, entry_point="f")
    number = 0
    while True:
        number += 1
        if number % 20 == 0:
            yield MISBEHAVING[number // 20 % len(MISBEHAVING)], add, False
        else:
            source, suite = good[number % len(good)]
            yield source, suite, True


def count(folder: Path) -> Counts:
    """What there is now."""
    gc.collect()
    children = _descendants(os.getpid())
    return Counts(
        memory_kb=_kb(Path("/proc/self/status"), "VmRSS:"),
        workers_memory_kb=sum(_kb(Path(f"/proc/{child}/smaps_rollup"), "Pss:") for child in children),
        processes=len(children),
        descriptors=sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1,  # one of them is this listing
        mounts=len(Path("/proc/self/mountinfo").read_text().splitlines()),
        control_groups=sum(1 for _ in Path("/sys/fs/cgroup").rglob(f"afterword-{os.getpid()}-*")),
        temporary_files=sum(1 for _ in folder.rglob("*")),
        shared_memory_files=sum(MARK in file.name for file in SHARED_MEMORY.iterdir()),
    )


def _descendants(process: int) -> list[int]:
    """All processes below this one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    wave = [process]
    while wave:
        wave = [child for parent in wave for child in parents.get(parent, ())]
        found += wave
    return found


def _kb(file: Path, key: str) -> int:
    """A line of a /proc file that tells kilobytes; 0 for a process that is gone or not ours to read."""
    try:
        lines = file.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


assert {field.name for field in fields(Counts)} == set(LABELS)

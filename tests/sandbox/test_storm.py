"""Many programs at once, good and hostile, closed and cancelled at any moment: right answers, and nothing left."""

from __future__ import annotations

import random
from pathlib import Path

import anyio
import pytest

from afterword.core.protocols import Sandbox
from afterword.core.records import Limits
from tests.sandbox.jailed import held, jail, submit

HOSTILE = (
    "while True: pass",
    "while True: print('x' * 10_000)",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "x = bytearray(1 << 40)",
    "import os; os.kill(os.getpid(), 9)",
    "import os; os.kill(-1, 9)",
    "import os; os._exit(0)",
    "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "import ctypes; ctypes.string_at(0)",
    "open('/tmp/big', 'wb').write(b'x' * (60 << 20))",
)
BRIEF = Limits(wall_s=0.3, memory_mb=256, processes=16, output_bytes=100_000)


async def client(sandbox: Sandbox, dice: random.Random, rounds: int, right: list[bool]) -> None:
    for number in range(rounds):
        draw = dice.random()
        if draw < 0.4:
            result = await submit(sandbox, f"import os; os.write(1, b'{number}')", Limits(wall_s=20))
            right.append(result.stdout == str(number))
        elif draw < 0.6:
            await submit(sandbox, dice.choice(HOSTILE), BRIEF)
        elif draw < 0.75:
            peer = await sandbox.open(dice.choice(HOSTILE), BRIEF)
            await anyio.sleep(dice.random() / 50)
            await peer.close()
            await peer.wait()
        elif draw < 0.9:
            with anyio.move_on_after(dice.random() / 20):
                await sandbox.run(["sh", "-c", "sleep 5 & sleep 5"], {"in": b"x" * 1000}, BRIEF)
        else:
            result = await sandbox.run(["cat", "in"], {"in": str(number).encode()}, Limits(wall_s=20))
            right.append(result.stdout == str(number))


async def storm(rounds: int, seed: int) -> list[bool]:
    right: list[bool] = []
    async with jail("namespaces", workers=2) as sandbox, anyio.create_task_group() as tasks:
        for number in range(4):
            dice = random.Random(f"{seed}-{number}")  # noqa: S311 - a storm that can be repeated
            tasks.start_soon(client, sandbox, dice, rounds, right)
    return right


def test_a_short_storm_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    anyio.run(storm, 1, 0)
    before = held()
    right = anyio.run(storm, 8, 1)
    assert all(right)
    assert len(right) >= 8
    assert held() == before


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_memory_and_descriptors_stay_flat_over_thousands_of_programs() -> None:
    async def main() -> tuple[int, int, int]:
        async with jail("namespaces") as sandbox:
            for _ in range(200):
                await submit(sandbox, "")
            pages, descriptors = resident_pages(), held().descriptors
            for _ in range(3000):
                await submit(sandbox, "print('some output')")
            return resident_pages() - pages, held().descriptors - descriptors, pages

    grown, descriptors, pages = anyio.run(main)
    assert descriptors == 0
    assert grown < pages // 20


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])

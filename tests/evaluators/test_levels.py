"""Verdicts at every sandbox level that works on this host, and with another interpreter than ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.sandbox import STRONG, Level, open_sandbox, probe

_WORKING = [report.level for report in anyio.run(probe) if report.works]
SUITE = Suite.from_source(
    "from solution import C, f\ndef test_call():\n    assert f([3, 1]) == [1, 3]\ndef test_object():\n"
    "    xs = [2, 1]\n    assert C(xs).sort() is None\n    assert C(xs) == C([1, 2])\n",
    entry_point="f",
)
RIGHT = (
    "from dataclasses import dataclass\n@dataclass\nclass C:\n    xs: list\n    def sort(self): self.xs.sort()\n"
    "def f(xs): return sorted(xs)\n"
)


async def _verdicts(level: Level | None, sources: list[str], python: Path | None = None) -> list[Feedback]:
    async with (
        open_sandbox(level, python=python, workers=1, allow_weak=True) as sandbox,
        JudgePool(sandbox, workers=1) as pool,
    ):
        return [await pool.judge(source, SUITE, Limits(wall_s=2.0)) for source in sources]


@pytest.mark.parametrize("level", _WORKING)
def test_verdicts_are_the_same_at_every_level(level: Level) -> None:
    sources = [
        RIGHT,
        RIGHT.replace("return sorted(xs)", "return xs"),
        RIGHT.replace("return sorted(xs)", "\n    while True: pass"),
        RIGHT.replace("return sorted(xs)", "import os; os._exit(0)"),
        "def f(:",
    ]
    feedbacks = anyio.run(_verdicts, level, sources)
    assert [feedback.reason for feedback in feedbacks] == ["ok", "failed", "timeout", "error", "syntax"]
    assert {feedback.isolation for feedback in feedbacks} == {level}
    assert {feedback.trust for feedback in feedbacks} == {"isolated" if level in STRONG else "shared_process"}


def _other_interpreter() -> tuple[Path, str] | None:
    """An interpreter of another minor version, beside ours or on the PATH."""
    names = [f"python3.{minor}" for minor in range(8, 15) if minor != sys.version_info.minor]
    on_path = [Path(found) for name in names if (found := shutil.which(name))]
    beside = sorted(Path(sys.base_prefix).parent.glob("*/bin/python3"))
    for python in [*on_path, *beside]:
        command = [str(python), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        if answer.returncode == 0 and answer.stdout.strip() in [name.removeprefix("python") for name in names]:
            return python, answer.stdout.strip()
    return None


def test_the_program_runs_under_the_interpreter_that_is_named() -> None:
    other = _other_interpreter()
    if other is None:
        pytest.skip("no interpreter of another version on this host")
    python, version = other
    source = RIGHT + f"import sys\nassert '%d.%d' % sys.version_info[:2] == {version!r}\n"
    (feedback,) = anyio.run(_verdicts, None, [source], python)
    assert feedback.passed, feedback.message

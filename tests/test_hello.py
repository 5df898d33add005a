"""The first example runs offline and is as small as it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HELLO = Path(__file__).parents[1] / "examples" / "01_hello.py"


def test_hello_shows_trials_lessons_and_status() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", str(HELLO)], capture_output=True, text=True, check=True, timeout=60
    )
    lines = result.stdout.splitlines()
    assert [line.split(",")[0] for line in lines if line.startswith("trial")] == [f"trial {n}" for n in (1, 2, 3, 4)]
    assert sum("next time I write" in line for line in lines) == 3
    assert lines[-1] == "unverified after 4 trials: passed"
    assert result.stderr == ""


def test_hello_stays_under_forty_lines() -> None:
    assert len(HELLO.read_text().splitlines()) < 40

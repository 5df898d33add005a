"""Small published runs of our own, written as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

TASKS = {
    "toy_1_total": (
        "def total(xs: List[int]) -> int:\n    pass\n",
        "total",
        "    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n",
    ),
    "toy_2_mean": (
        "def mean(xs):\n    pass\n",
        "mean",
        "    assert candidate([1, 3]) == 2\n    assert candidate([5]) == 5\n",
    ),
    "toy_3_root": ("def root(x):\n    pass\n", "root", "    assert candidate(9) == 3\n"),
}


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def benchmark(root: Path) -> None:
    rows = [
        {
            "task_id": task_id,
            "prompt": prompt,
            "entry_point": name,
            "test": f"def check(candidate):\n{checks}",
            "canonical_solution": "",
        }
        for task_id, (prompt, name, checks) in TASKS.items()
    ]
    write(root / "benchmarks" / "toy.jsonl", rows)


def item(
    task_id: str, solution: str, claimed: bool, trials: int = 1, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    return {
        "benchmark": "toy",
        "language": "python",
        "task_id": task_id,
        "trial_count": trials,
        "max_trials": 3,
        "reflections": ["I was wrong."] * (trials - 1),
        "solution": solution,
        "solution_kind": "function",
        "claimed_solved": claimed,
        **(more or {}),
    }


def programs(root: Path, run: str, rows: Sequence[Mapping[str, object]]) -> Path:
    benchmark(root)
    return write(root / "runs_programming" / f"{run}.jsonl", rows)


REDEFINES = (
    "def sum(xs):\n    return 0\n\n\ndef total(xs):\n    out = 0\n    for x in xs:\n        out += x\n    return out\n"
)
MEAN = "def mean(xs):\n    return sum(xs) / len(xs)\n"
ROOT = "import math\n\n\ndef root(x):\n    return math.isqrt(x)\n"
ROOT_WITHOUT_IMPORT = "def root(x):\n    return math.isqrt(x)\n"

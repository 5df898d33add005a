"""How lessons are kept on the command line: kinds of memory, and what speaks against a lesson."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command

LESSONS = [
    "In `case:1` half(0) gave 5: I returned a constant. I will divide n by two.",
    "`case:2` says half(7) gave 6, since I rounded up. I will round down.",
    "half(-3) gave -1 in `case:3`, which rounds towards zero. I will use floor division.",
]
DIGEST = "I will divide by two, rounding down."
CASES = [{"args": [0], "expected": 0}, {"args": [7], "expected": 3}, {"args": [-3], "expected": -2}]


def program(body: str) -> str:
    return f"```python\ndef half(n):\n    return {body}\n```"


def rows(*programs: str) -> list[dict[str, str]]:
    replies = [{"role": "actor", "text": program(body)} for body in programs]
    replies += [{"role": "reflector", "text": lesson} for lesson in LESSONS]
    return [*replies, *[{"role": "memory", "text": DIGEST}] * 3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "half"
    made.mkdir()
    (made / "task.toml").write_text('id = "half"\nentry_point = "half"\ninstructions = "Half of n."\n')
    (made / "visible_cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    return made


def run(afterword: Command, folder: Path, replies: list[dict[str, str]], *more: str) -> dict[str, object]:
    script = folder.parent / "replies.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    ran = afterword("run", folder, "--model", f"scripted:{script}", "--no-journal", "--json", *more)
    assert ran.code in (0, 1), ran.err
    return ran.told


def trials_of(told: dict[str, object]) -> list[dict[str, object]]:
    trials = told["trials"]
    assert isinstance(trials, list)
    return trials


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("window", [[], [1], [1, 2], [2, 3]]),
        ("summary", [[], [1], [1, 2], [2, 3]]),
        ("clusters", [[], [1], [1, 2], [2, 3]]),
    ],
)
def test_a_kind_of_memory_is_chosen(afterword: Command, folder: Path, kind: str, shown: list[list[int]]) -> None:
    told = run(afterword, folder, rows("5", "6", "7", "8"), "--memory-kind", kind, "--memory", "2")
    assert [trial["lessons_shown"] for trial in trials_of(told)] == shown
    digests = [trial.get("digests") for trial in trials_of(told)]
    condensed = [{"trial": 2, "merges": [1, 2], "text": DIGEST}]
    assert digests == [None, None, None, condensed if kind == "summary" else None]


def test_a_lesson_after_which_the_score_fell_twice_is_told_and_no_longer_shown(
    afterword: Command, folder: Path
) -> None:
    told = run(afterword, folder, rows("max(n, 0) // 2", "5", "6", "7"), "--memory", "3")
    assert [trial["checks_passed"] for trial in trials_of(told)] == [2, 0, 0, 0]
    assert [trial["lessons_shown"] for trial in trials_of(told)] == [[], [1], [1, 2], [2, 3]]
    assert [trial["retired"] for trial in trials_of(told)] == [[], [], [1], []]
    ran = afterword(
        "run", folder, "--model", f"scripted:{folder.parent / 'replies.jsonl'}", "--no-journal", "--memory", "3"
    )
    assert "no longer shown: the lesson of trial 1 (the score fell after it)" in ran.out


def test_an_unknown_kind_is_refused(afterword: Command, folder: Path) -> None:
    ran = afterword("run", folder, "--memory-kind", "elephant")
    assert ran.code == 2
    assert "elephant" in ran.complaint

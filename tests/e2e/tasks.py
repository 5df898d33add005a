"""Small tasks, programs and scripted replies, written into a test's own folder."""

from __future__ import annotations

import json
from pathlib import Path

VISIBLE = """from solution import double


def test_zero():
    assert double(0) == 0


def test_one():
    assert double(1) == 2


def test_two():
    assert double(2) == 4


def test_five():
    assert double(5) == 10
"""

CANARY = "wombat"
"""Stands in the held-out file only."""
HELD_OUT = f"""from solution import double


def test_seven():
    assert double(7) == 14


def test_{CANARY}():
    assert double("{CANARY}") == "{CANARY}{CANARY}", "{CANARY}"
"""

SAME = "def double(n):\n    return n\n"
PLUS_ONE = "def double(n):\n    return n + 1\n"
PLUS_TWO = "def double(n):\n    return n + 2\n"
SQUARE = "def double(n):\n    return n * n\n"
TABLE = "def double(n):\n    return {0: 0, 1: 2, 2: 4, 5: 10}.get(n, -1)\n"
"""Passes what is visible and nothing else."""
RIGHT = "def double(n):\n    return n + n\n"
ENDLESS = "def double(n):\n    while True:\n        pass\n"

LESSON_1 = (
    "My trial failed `test_one`, where `double(1)` did not return 2, since I handed the number back as it is. "
    "In the next trial I will multiply it by 2."
)
LESSON_2 = (
    "The check `test_five` expects 10 for 5 and I came short, as my sum grows by a constant. "
    "I will add the number to itself instead."
)
LESSON_3 = (
    "With `test_zero` I saw a value above 0, because something is added even to nothing. "
    "Next I will drop the constant term and keep the factor only."
)


def write_task(
    folder: Path,
    *,
    visible: str | None = VISIBLE,
    held_out: str | None = HELD_OUT,
    toml: str = "",
    cases: bool = False,
) -> Path:
    """A task folder; `toml` is added to `task.toml`, and with `cases` the checks are labelled examples."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.toml").write_text(
        f'id = "double"\ninstructions = "Return twice the number."\nentry_point = "double"\n{toml}', encoding="utf-8"
    )
    end = "cases.jsonl" if cases else "tests.py"
    for name, text in (("visible", visible), ("held_out", held_out)):
        if text is not None:
            (folder / f"{name}_{end}").write_text(text, encoding="utf-8")
    return folder


def fenced(code: str) -> str:
    """A reply that gives a program."""
    return f"```python\n{code}```\n"


def write_replies(file: Path, *programs: str, lessons: tuple[str, ...] = (LESSON_1, LESSON_2, LESSON_3)) -> str:
    """A script of these programs and lessons; returns the name of its model."""
    rows = [{"role": "actor", "text": fenced(program)} for program in programs]
    rows += [{"role": "reflector", "text": lesson} for lesson in lessons]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"scripted:{file}"


def recorded_calls(file: Path, role: str) -> list[dict[str, object]]:
    """What was asked of a role, from a recording."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row["request"] for row in rows if row["kind"] == "call" and row["role"] == role]


def prompts(file: Path, role: str) -> list[str]:
    """The prompts of a role, from a recording: its messages, one after the other."""
    requests = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        "\n".join(message["content"] for message in row["request"]["messages"])
        for row in requests
        if row["kind"] == "call" and row["role"] == role
    ]

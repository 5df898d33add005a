"""What a pilot takes from an exam: how many planted bugs its own reflector's lessons named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afterword.cli.exam_result import named_in
from afterword.errors import InputError


def exam(file: Path, named: object) -> Path:
    file.write_text(json.dumps({"seed": 0, "reflectors": {"local": {"named": named}}}) + "\n")
    return file


def test_the_reflectors_own_counts_are_taken(tmp_path: Path) -> None:
    assert named_in(exam(tmp_path / "exam.json", {"count": 2, "total": 16}), "local") == (2, 16)


@pytest.mark.parametrize(
    ("named", "reflector", "said"),
    [
        ({"count": 2, "total": 16}, "openai:gpt", "the exam was one of local, and lessons are written by openai:gpt"),
        ({"count": 17, "total": 16}, "local", "found 17 of 16"),
        ({"count": True, "total": 16}, "local", "found True of 16"),
        ({"count": -1, "total": 16}, "local", "found -1 of 16"),
        (None, "local", "the exam was one of local"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, named: object, reflector: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        named_in(exam(tmp_path / "exam.json", named), reflector)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    file.write_text('{"task": "a"}\n{"task": "b"}\n')
    with pytest.raises(InputError, match="expected the one object"):
        named_in(file, "local")

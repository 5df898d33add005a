"""`afterword audit`: lessons of a run counted, and classed by a person."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command

SPECIFIC = "In test_zero half(0) gave 1: I added one. I will return n // 2 instead."
VAGUE = "I should be more careful."


def trial(number: int, lesson: str | None, failed: list[str], shown: list[int], passed: int = 1) -> dict[str, object]:
    return {
        "number": number,
        "passed": not failed,
        "score": passed / (passed + len(failed)),
        "checks_passed": passed,
        "failed": failed,
        "feedback": "half(0) gave 1",
        "reflection": lesson,
        "lessons_shown": shown,
        "output": "def half(n):\n    return n + 1\n",
    }


OUTCOMES = [
    {
        "task": "half",
        "trials": [
            trial(1, SPECIFIC, ["test_zero", "test_one"], []),
            trial(2, VAGUE, ["test_one"], [1], passed=2),
            trial(3, None, ["test_one", "test_zero"], [2]),
        ],
    },
    {"task": "twice", "trials": [trial(1, SPECIFIC, ["test_two"], []), trial(2, None, [], [1], passed=2)]},
]


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    file = tmp_path / "outcomes.jsonl"
    file.write_text("".join(json.dumps(outcome) + "\n" for outcome in OUTCOMES))
    return file


def test_shares_and_effects_are_printed_with_intervals(afterword: Command, outcomes: Path) -> None:
    ran = afterword("audit", outcomes)
    assert ran.code == 0, ran.err
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert lines[0] == "all: 3 lessons of 2 tasks"
    assert "quotes evidence 67 % 15 to 96 %" in lines
    assert "prescribes a change 67 % 15 to 96 %" in lines
    assert "in the next trial, for 3 lessons that it had in its prompt:" in lines
    assert "gained 67 % 15 to 96 %" in lines
    assert "lost 33 % 4 to 85 %" in lines
    assert "2 checks gained, 1 lost" in lines


def test_json_has_every_lesson(afterword: Command, outcomes: Path) -> None:
    told = afterword("audit", outcomes, "--json").told
    lessons = told["lessons"]
    assert isinstance(lessons, list)
    assert [(one["task"], one["trial"], one["effect"], one["names_check"]) for one in lessons] == [
        ("half", 1, "gained", True),
        ("half", 2, "lost", False),
        ("twice", 1, "gained", False),
    ]
    assert lessons[0]["evidence"] == "test_zero"
    assert all(one["label"] is None for one in lessons)


def test_labels_are_asked_for_kept_and_gone_on_with(
    afterword: Command, outcomes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x\nr\nq\n"))
    ran = afterword("audit", outcomes, "--label")
    assert ran.code == 0, ran.err
    assert "[p] wrong prescription" in ran.out
    assert "expected one of r, p, m, v, h, Enter or q, found 'x'" in ran.out
    assert "gained" not in ran.out.partition("1 label kept in")[0]
    file = outcomes.with_name("outcomes.jsonl.labels.jsonl")
    assert [json.loads(line)["label"] for line in file.read_text().splitlines()] == ["right"]

    monkeypatch.setattr("sys.stdin", io.StringIO("\nh\n"))
    ran = afterword("audit", outcomes, "--label")
    assert "1 of 2 lessons: task half, trial 2" in ran.out
    lessons = afterword("audit", outcomes, "--json").told["lessons"]
    assert isinstance(lessons, list)
    assert [one["label"] for one in lessons] == ["right", None, "hallucinated"]
    assert "as a person classed 2 lessons:" in afterword("audit", outcomes).out


def test_when_all_is_classed_nothing_is_asked(
    afterword: Command, outcomes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("v\nv\nv\n"))
    afterword("audit", outcomes, "--label")
    assert "all lessons are classed" in afterword("audit", outcomes, "--label").out


def test_end_of_input_skips_the_rest(afterword: Command, outcomes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "0 labels kept" in afterword("audit", outcomes, "--label").out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "outcomes.jsonl:1: expected an outcome of `afterword run --json`"),
        ('{"task": "t", "trials": [{}]}', "expected a trial with its number"),
        ('{"task": "t", "trials": []}', "has 1 task and no lesson"),
        ("nonsense", "expected one JSON object a line"),
    ],
)
def test_a_file_that_is_no_outcomes_is_refused(afterword: Command, tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "outcomes.jsonl"
    file.write_text(text)
    ran = afterword("audit", file)
    assert ran.code == 2
    assert complaint in ran.complaint


def test_a_path_without_a_file_is_refused(afterword: Command) -> None:
    ran = afterword("audit", "nowhere/outcomes.jsonl")
    assert (ran.code, "check the path" in ran.complaint) == (2, True)


def test_a_broken_file_of_labels_is_refused(afterword: Command, outcomes: Path) -> None:
    labels = outcomes.with_name("labels.jsonl")
    labels.write_text('{"key": "a", "label": "fine"}\n')
    ran = afterword("audit", outcomes, "--labels", labels)
    assert ran.code == 2
    assert "labels.jsonl:1: expected an object with key and label, one of right" in ran.complaint


def test_asking_and_json_do_not_go_together(afterword: Command, outcomes: Path) -> None:
    assert "leave one of them out" in afterword("audit", outcomes, "--label", "--json").complaint

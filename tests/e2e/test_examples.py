"""The shipped examples end as their documentation says."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Command

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_duration_parser_is_a_false_positive_that_is_caught(afterword: Command) -> None:
    folder = EXAMPLES / "duration_parser"
    ran = afterword("run", folder, "--model", f"scripted:{folder / 'replies.jsonl'}", "--json")
    told = json.loads(ran.out)
    assert ran.code == 1
    assert (told["status"], told["stop_reason"], told["best_trial"]) == ("rejected", "passed", 2)
    assert [(trial["checks_passed"], trial["checks_total"]) for trial in told["trials"]] == [(4, 6), (6, 6)]
    assert told["acceptance"] == {"passed": False, "checks_passed": 11, "checks_total": 12, "trust": "isolated"}


def test_repeated_unit_is_held_out_only() -> None:
    folder = EXAMPLES / "duration_parser"
    assert "1h1h" in (folder / "held_out_tests.py").read_text()
    for name in ("visible_tests.py", "task.toml", "replies.jsonl"):
        assert "1h1h" not in (folder / name).read_text()


def test_track_order_is_accepted_after_its_lesson(afterword: Command) -> None:
    folder = EXAMPLES / "track_order"
    ran = afterword("run", folder, "--model", f"scripted:{folder / 'replies.jsonl'}", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert (told["status"], told["best_trial"]) == ("accepted", 2)
    assert [trial["checks_total"] for trial in told["trials"]] == [28, 28]
    assert (told["acceptance"]["checks_passed"], told["acceptance"]["checks_total"]) == (12, 12)
    assert "DELIVERY_ATTEMPT_FAILED" in told["trials"][0]["feedback"]
    assert "'delivered'" in told["trials"][0]["feedback"]


def test_scripted_lessons_pass_their_own_shape(afterword: Command) -> None:
    for name in ("duration_parser", "track_order"):
        folder = EXAMPLES / name
        told = json.loads(afterword("run", folder, "--model", f"scripted:{folder / 'replies.jsonl'}", "--json").out)
        assert told["usage"]["by_role"]["reflector"]["calls"] == 1

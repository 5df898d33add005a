"""The shipped examples end as their documentation says."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest
from rich.console import Console

from afterword.models.recording_file import read_headers
from afterword.models.weights import EMBEDDED
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


def test_the_experiment_compares_three_arms_on_two_tasks(afterword: Command) -> None:
    ran = afterword("experiment", EXAMPLES / "experiment.toml", "--json")
    rows = map(json.loads, ran.out.splitlines())
    statuses = {(told["task"], told["arm"]): told["status"] for told in rows}
    assert ran.code == 0
    for task, end in (("duration-parser", "rejected"), ("track-order", "accepted")):
        assert [statuses[task, arm] for arm in ("single", "retry", "reflexion")] == ["gave_up", end, end]


def test_scripted_lessons_pass_their_own_shape(afterword: Command) -> None:
    for name in ("duration_parser", "track_order"):
        folder = EXAMPLES / name
        told = json.loads(afterword("run", folder, "--model", f"scripted:{folder / 'replies.jsonl'}", "--json").out)
        assert told["usage"]["by_role"]["reflector"]["calls"] == 1


def test_recorded_lesson_replays_call_for_call(afterword: Command) -> None:
    """A changed prompt shows here: the recording then has to be made anew (examples/README.md says how)."""
    folder = EXAMPLES / "mean_delay"
    ran = afterword("run", folder, "--model", f"recorded:{folder / 'recording.jsonl'}", "--max-trials", "3", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert (told["status"], told["best_trial"]) == ("accepted", 2)
    assert [trial["passed"] for trial in told["trials"]] == [False, True]
    assert told["trials"][1]["lessons_shown"] == [1]


def test_recording_says_when_and_on_what_it_was_made() -> None:
    (header, *_) = read_headers(EXAMPLES / "mean_delay" / "recording.jsonl")
    assert header.written.startswith("20")
    assert header.model == "local"
    assert header.model_extra is not None
    assert header.model_extra["gguf_sha256"] == EMBEDDED.sha256


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("mean_delay", "recorded:mean_delay/recording.jsonl"),
        ("duration_parser", "scripted:duration_parser/replies.jsonl"),
    ],
)
def test_transcript_is_what_a_run_prints(
    afterword: Command, monkeypatch: pytest.MonkeyPatch, name: str, model: str
) -> None:
    monkeypatch.chdir(EXAMPLES)
    ran = afterword("run", name, "--model", model, "--max-trials", "3", "--no-journal")
    shown = ran.out.replace(f"({_isolation(ran.out)})", "(namespaces)")
    assert shown == (EXAMPLES / name / "transcript.txt").read_text(encoding="utf-8")


def _isolation(shown: str) -> str:
    """The level that this machine gives; the transcripts were made with namespaces."""
    found = re.search(r"verdict: isolated \((\w+)\)", shown)
    assert found is not None
    return found[1]


def test_demo_completes_where_nothing_can_be_fetched(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    console = Console(width=80)
    monkeypatch.chdir(EXAMPLES)
    demo["play"](console, EXAMPLES / "mean_delay", "local")  # the model is not installed below AFTERWORD_HOME
    shown = capfd.readouterr().out
    assert "could not run" in shown
    assert "accepted" in shown

"""`afterword run` on several tasks at once: sources, lines, exit codes, budgets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.processes import terminal
from tests.e2e.tasks import LESSON_1, RIGHT, SAME, TABLE, fenced, write_replies, write_task
from tests.models.server import Http, completion, error, provider

TRIPLE = "def triple(n):\n    return 3 * n\n"


def row(name: str, factor: int, **more: object) -> dict[str, object]:
    cases = [{"args": [number], "expected": factor * number} for number in (1, 2, 5, 7)]
    return {
        "id": name,
        "instructions": f"Return {factor} times the number.",
        "entry_point": name,
        "visible_cases": cases[:3],
        "held_out_cases": cases[3:],
        **more,
    }


def write_lines(file: Path, *rows: Mapping[str, object]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return file


def by_task(file: Path, **programs: tuple[str, ...]) -> str:
    """A script keyed by task: the programs of each, and a lesson for any."""
    rows: list[dict[str, object]] = [{"role": "reflector", "text": LESSON_1} for _ in range(9)]
    for task, texts in programs.items():
        rows += [{"role": "actor", "task": task, "text": fenced(text)} for text in texts]
    write_lines(file, *rows)
    return f"scripted:{file}"


def lines(out: str) -> dict[str, dict[str, object]]:
    return {told["task"]: told for told in map(json.loads, out.splitlines())}


def test_a_json_object_a_task_and_one_rejection_fails_the_whole(tmp_path: Path, afterword: Command) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    name = by_task(tmp_path / "s.jsonl", double=(SAME, TABLE), triple=(TRIPLE,))
    ran = afterword("run", tasks, "--model", name, "--jobs", "2", "--json")
    told = lines(ran.out)
    assert {task: one["status"] for task, one in told.items()} == {"double": "rejected", "triple": "accepted"}
    assert ran.code == 1
    assert "1 accepted, 1 rejected" in ran.err
    (run,) = [json.loads(line)["run"] for line in afterword("runs", "--json").out.splitlines()]
    assert [one["run"] for one in told.values()] == [run, run]
    unkept = lines(afterword("run", tasks, "--model", name, "--no-journal", "--json").out)
    assert all("run" not in one for one in unkept.values())


def test_folders_beside_each_other_and_all_accepted(tmp_path: Path, afterword: Command) -> None:
    first = write_task(tmp_path / "a")
    second = write_task(tmp_path / "b")
    (second / "task.toml").write_text((second / "task.toml").read_text().replace('id = "double"', 'id = "again"'))
    name = by_task(tmp_path / "s.jsonl", double=(RIGHT,), again=(RIGHT,))
    ran = afterword("run", first, second, "--model", name)
    assert ran.code == 0
    assert "tasks 2, 1 at a time" in ran.out
    assert ran.out.count("✓ accepted") == 2
    assert "2 accepted" in ran.out.splitlines()[-1]


def test_one_task_that_cannot_run_stops_no_other(tmp_path: Path, afterword: Command) -> None:
    broken = row(
        "broken",
        2,
        visible_cases=None,
        visible_tests="import no_such_module\nfrom solution import broken\nassert broken(1) == 2\n",
    )
    tasks = write_lines(tmp_path / "tasks.jsonl", broken, row("triple", 3))
    name = by_task(tmp_path / "s.jsonl", broken=("def broken(n): ...\n",), triple=(TRIPLE,))
    ran = afterword("run", tasks, "--model", name, "--json")
    told = lines(ran.out)
    assert told["triple"]["status"] == "accepted"
    assert (told["broken"]["status"], ran.code) == ("faulted", 3)
    assert "afterword resume" in ran.err


def test_limit_takes_the_first_tasks_and_one_is_watched_closely(tmp_path: Path, afterword: Command) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    ran = afterword("run", tasks, "--limit", "1", "--model", by_task(tmp_path / "s.jsonl", double=(RIGHT,)))
    assert ran.code == 0
    assert "task  double: 3 visible checks, 1 held out" in ran.out
    assert "the program of trial 1" in ran.out


def test_the_budget_of_the_run_leaves_tasks_that_a_larger_one_takes_up(tmp_path: Path, afterword: Command) -> None:
    names = ("double", "triple", "fourfold")
    tasks = write_lines(tmp_path / "tasks.jsonl", *(row(name, number) for number, name in enumerate(names, start=2)))
    fourfold = "def fourfold(n):\n    return 4 * n\n"
    name = by_task(tmp_path / "s.jsonl", double=(SAME, RIGHT), triple=(TRIPLE,), fourfold=(fourfold,))
    ran = afterword("run", tasks, "--model", name, "--jobs", "1", "--total-calls", "2", "--json")
    told = lines(ran.out)
    assert ran.code == 1
    assert (told["double"]["status"], told["double"]["stop_reason"]) == ("gave_up", "calls")
    assert told["fourfold"] == {
        "run": told["fourfold"]["run"],
        "task": "fourfold",
        "status": "not_begun",
        "stop_reason": "calls",
    }
    assert "the calls budget of the run is used up" in ran.err
    more = afterword("resume", "--total-calls", "9", "--json")
    assert {task: one["status"] for task, one in lines(more.out).items()} == dict.fromkeys(names, "accepted")
    usage = lines(more.out)["double"]["usage"]
    assert isinstance(usage, dict)
    assert usage["calls"] == 3
    assert more.code == 0


@pytest.mark.parametrize(
    ("refusal", "says"),
    [
        (error(401, "Incorrect API key provided"), "refuses the key (401)"),
        (error(429, "You exceeded your current quota", code="insufficient_quota"), "no credit left"),
        (error(404, "The model `m` does not exist", code="model_not_found"), "is not known there"),
    ],
    ids=["a key that expires", "no credit any more", "a model that is taken away"],
)
def test_what_every_later_task_would_meet_too_ends_the_run_which_goes_on_with_a_remedy(
    tmp_path: Path, afterword: Command, refusal: Http, says: str
) -> None:
    names = ("double", "triple", "fourfold", "fivefold")
    tasks = write_lines(tmp_path / "tasks.jsonl", *(row(name, number) for number, name in enumerate(names, start=2)))
    programs = [completion(fenced(f"def {name}(n):\n    return {by} * n\n")) for by, name in enumerate(names, start=2)]
    key = ("--api-key", "k" * 20)
    with provider(programs[0], refusal, *programs[1:]) as served:
        model = ("--model", "openai:m", "--base-url", served.url, *key)
        ran = afterword("run", tasks, *model, "--jobs", "1", "--json")
        told = lines(ran.out)
        assert [told[name]["status"] for name in names] == ["accepted", "faulted", "not_begun", "not_begun"]
        assert told["fivefold"] == {
            "run": told["fivefold"]["run"],
            "task": "fivefold",
            "status": "not_begun",
            "stop_reason": "cancelled",
        }
        assert ran.code == 3
        assert "no more tasks are begun, since each would fail: " in ran.err
        assert says in ran.err.splitlines()[-1]
        assert "go on with: afterword resume" in ran.err.splitlines()[-1]
        assert len(served.bodies) == 2
        assert "interrupted  4 tasks: 1 accepted, 1 faulted, 2 not begun" in afterword("runs").out
        assert json.loads(afterword("runs", "--json").out)["not_begun"] == 2
        more = afterword("resume", *key, "--json")
        assert more.code == 0
        assert {name: one["status"] for name, one in lines(more.out).items()} == dict.fromkeys(names, "accepted")
        assert len(served.bodies) == 5
        assert "finished  4 tasks: 4 accepted" in afterword("runs").out


def test_a_fault_that_the_next_task_need_not_meet_stops_no_other(tmp_path: Path, afterword: Command) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    filtered = error(400, "flagged", code="content_filter")
    with provider(filtered, completion(fenced(TRIPLE))) as served:
        model = ("--model", "openai:m", "--base-url", served.url, "--api-key", "k" * 20)
        ran = afterword("run", tasks, *model, "--jobs", "1", "--json")
    assert {name: one["status"] for name, one in lines(ran.out).items()} == {"double": "faulted", "triple": "accepted"}


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        ([], 3, "set OPENAI_API_KEY"),
        (["--api-key", "k" * 20, "--total-cost-usd", "1"], 2, "a cost budget needs the price of 'openai:unheard-of'"),
    ],
)
def test_what_is_wrong_with_a_model_is_told_once(
    tmp_path: Path, afterword: Command, options: list[str], code: int, complaint: str
) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    ran = afterword("run", tasks, "--model", "openai:unheard-of", *options)
    assert (ran.code, ran.out) == (code, "")
    assert complaint in ran.complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--jobs", "0"], "--jobs takes a number from 1, found 0"),
        (["--limit", "0"], "--limit takes a number from 1, found 0"),
        (["--family", "programing"], "did you mean 'programming'?"),
        (["--mode", "react"], "--mode is no option of the family programming"),
        (["--out", "x.py"], "--out is for one task"),
        (["--no-journal", "--fsync"], "leave out --journal and --fsync"),
        (["--total-calls", "-1"], "the calls budget must be above 0"),
        (["--ask", "--jobs", "2"], "add --jobs 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, afterword: Command, arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    ran = afterword("run", tasks, "--model", by_task(tmp_path / "s.jsonl", double=(RIGHT,)), *arguments)
    assert ran.code == 2
    assert complaint in ran.complaint
    assert ran.out == ""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "found an empty file"),
        ('{"id": "a"}\n', "the key 'instructions' is missing"),
        ("[1]\n", "expected a JSON object"),
        (json.dumps(row("double", 2)) + "\n" + json.dumps(row("double", 2)) + "\n", "found 'double' twice"),
        (json.dumps(row("double", 2, hidden=1)), "unknown key 'hidden'"),
        ('{"id": "a", "question": "b"}\n', "unknown key 'question'; questions are read with --family qa"),
        (json.dumps(row("double", 2, held_out_cases=[1])), "held_out_cases must be a list of objects"),
    ],
)
def test_a_bad_file_of_tasks_is_refused_with_its_line(
    tmp_path: Path, afterword: Command, text: str, complaint: str
) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(text)
    ran = afterword("run", file, "--model", by_task(tmp_path / "s.jsonl", double=(RIGHT,)))
    assert ran.code == 2
    assert complaint in ran.complaint
    if '"id": "a"' in text or "hidden" in text:
        assert f"{file}:1: " in ran.complaint


def test_a_refused_run_leaves_none_in_the_journal(tmp_path: Path, afterword: Command) -> None:
    broken = write_task(
        tmp_path / "task", visible="import no_such_module\nfrom solution import double\nassert double(1) == 2\n"
    )
    ran = afterword("run", broken, "--model", write_replies(tmp_path / "a.jsonl", RIGHT))
    assert ran.code == 2
    assert json.loads(afterword("runs", "--json").out or "null") is None


def test_many_tasks_in_a_terminal_show_where_the_run_stands(tmp_path: Path) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    name = by_task(tmp_path / "s.jsonl", double=(SAME, RIGHT), triple=(TRIPLE,))
    with terminal(["run", tasks, "--model", name, "--jobs", "2", "--no-journal"], columns=120) as screen:
        assert screen.finish() == 0
    assert "/2 done" in screen.shown
    assert "2 accepted" in screen.shown


def test_what_a_recording_does_not_hold_is_told_in_one_line_and_no_resume_is_promised(
    tmp_path: Path, afterword: Command
) -> None:
    tasks = write_lines(tmp_path / "tasks.jsonl", row("double", 2), row("triple", 3))
    model = by_task(tmp_path / "a.jsonl", double=("def double(n):\n    return 2 * n\n",), triple=())
    ran = afterword("run", tasks, "--model", model)
    assert ran.code == 2
    assert "go on with" not in ran.out
    assert "holds 0 replies" in ran.complaint
    assert "(met by 1 task)" in ran.complaint
    assert "begin a new one with a fuller file" in ran.complaint

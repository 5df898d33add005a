"""`afterword run`: the options about the loop, each shown to do something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import (
    LESSON_1,
    LESSON_2,
    LESSON_3,
    PLUS_ONE,
    PLUS_TWO,
    RIGHT,
    SAME,
    SQUARE,
    prompts,
    write_replies,
    write_task,
)


def trials_of(ran: Ran) -> list[dict[str, object]]:
    trials = ran.told["trials"]
    assert isinstance(trials, list)
    return trials


@pytest.mark.parametrize("most", [1, 2, 3])
def test_max_trials(tmp_path: Path, afterword: Command, most: int) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, PLUS_TWO)
    ran = afterword("run", task, "--model", name, "--max-trials", str(most), "--json")
    assert ran.code == 1
    assert (ran.told["status"], ran.told["stop_reason"]) == ("gave_up", "max_trials")
    assert len(trials_of(ran)) == most


def test_four_trials_without_the_option(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, PLUS_TWO, SQUARE, RIGHT)
    assert len(trials_of(afterword("run", task, "--model", name, "--json"))) == 4


def shown(tmp_path: Path, afterword: Command, *options: str) -> list[tuple[str, ...]]:
    """For each prompt of the actor, which of these it holds: the lessons, and the earlier programs."""
    record = tmp_path / "calls.jsonl"
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, PLUS_TWO, RIGHT)
    ran = afterword("run", task, "--model", name, "--record", record, *options)
    assert ran.code == 0
    parts = {
        "lesson 1": LESSON_1,
        "lesson 2": LESSON_2,
        "lesson 3": LESSON_3,
        "program 1": SAME,
        "program 2": PLUS_ONE,
        "program 3": PLUS_TWO,
    }
    return [tuple(part for part, text in parts.items() if text in prompt) for prompt in prompts(record, "actor")]


def test_the_default_strategy_shows_the_last_attempt_and_its_lesson(tmp_path: Path, afterword: Command) -> None:
    both = [(), ("lesson 1", "program 1"), ("lesson 2", "program 2"), ("lesson 3", "program 3")]
    assert shown(tmp_path, afterword) == both


def test_last_attempt_and_reflexion_is_the_default(tmp_path: Path, afterword: Command) -> None:
    named = shown(tmp_path, afterword, "--strategy", "last_attempt_and_reflexion")
    assert named[3] == ("lesson 3", "program 3")


def test_reflexion_shows_lessons_and_no_program(tmp_path: Path, afterword: Command) -> None:
    only = [(), ("lesson 1",), ("lesson 2",), ("lesson 3",)]
    assert shown(tmp_path, afterword, "--strategy", "reflexion") == only


def test_last_attempt_shows_the_program_and_no_lesson(tmp_path: Path, afterword: Command) -> None:
    only = [(), ("program 1",), ("program 2",), ("program 3",)]
    assert shown(tmp_path, afterword, "--strategy", "last_attempt") == only


def test_retry_shows_nothing(tmp_path: Path, afterword: Command) -> None:
    assert shown(tmp_path, afterword, "--strategy", "retry") == [(), (), (), ()]


@pytest.mark.parametrize("strategy", ["retry", "last_attempt"])
def test_strategies_without_lessons_ask_no_reflector(tmp_path: Path, afterword: Command, strategy: str) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, RIGHT, lessons=())
    ran = afterword("run", task, "--model", name, "--strategy", strategy, "--json")
    usage = ran.told["usage"]
    assert isinstance(usage, dict)
    assert list(usage["by_role"]) == ["actor"]


def test_memory_keeps_so_many_lessons_and_they_stand_last(tmp_path: Path, afterword: Command) -> None:
    kept = shown(tmp_path, afterword, "--memory", "2")
    assert kept[3] == ("lesson 2", "lesson 3", "program 3")
    last = prompts(tmp_path / "calls.jsonl", "actor")[3]
    assert last.index(PLUS_TWO) < last.index(LESSON_2) < last.index(LESSON_3)
    assert last.rstrip().endswith(LESSON_3)


def test_calls_budget_stops_the_loop(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    ran = afterword("run", task, "--model", name, "--calls", "2", "--json")
    assert (ran.code, ran.told["status"], ran.told["stop_reason"]) == (1, "gave_up", "calls")
    assert len(trials_of(ran)) == 1


def test_token_budget_refuses_the_call_that_might_overrun(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    ran = afterword("run", task, "--model", name, "--tokens", "2000", "--json")
    assert (ran.code, ran.told["stop_reason"]) == (1, "tokens")
    usage = ran.told["usage"]
    assert isinstance(usage, dict)
    assert 0 < usage["tokens_in"] + usage["tokens_out"] <= 2000


def test_wall_time_stops_the_loop(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, RIGHT)
    ran = afterword("run", task, "--model", name, "--seconds", "0.000001", "--json")
    assert (ran.code, ran.told["stop_reason"]) == (1, "time")
    assert len(trials_of(ran)) <= 1


def test_plateau_is_off_and_min_gain_turns_it_on(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, PLUS_TWO, SQUARE)
    off = afterword("run", task, "--model", name, "--json")
    two = afterword("run", task, "--model", name, "--min-gain", "0.05", "--json")
    one = afterword("run", task, "--model", name, "--min-gain", "0.05", "--patience", "1", "--json")
    low = afterword("run", task, "--model", name, "--min-gain", "0.05", "--patience", "3", "--json")
    assert [ran.told["stop_reason"] for ran in (off, two, one)] == ["max_trials", "plateau", "plateau"]
    assert [len(trials_of(ran)) for ran in (off, two, one, low)] == [4, 3, 2, 4]


def test_repeated_output_stops_the_loop_even_two_trials_later(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, SAME, RIGHT)
    ran = afterword("run", task, "--model", name, "--json")
    assert (ran.told["stop_reason"], len(trials_of(ran))) == ("repeated_output", 3)


def test_repeated_lesson_stops_the_loop(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT, lessons=(LESSON_1, LESSON_1))
    ran = afterword("run", task, "--model", name, "--json")
    assert (ran.told["stop_reason"], len(trials_of(ran))) == ("repeated_reflection", 2)


def test_best_trial_is_the_latest_of_the_highest_score_and_labelled_as_failing(
    tmp_path: Path, afterword: Command
) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, SQUARE, PLUS_ONE)
    arguments = ("run", task, "--model", name, "--max-trials", "3")
    told = afterword(*arguments, "--json").told
    assert told["best_trial"] == 2
    acceptance = told["acceptance"]
    assert isinstance(acceptance, dict)
    assert acceptance["passed"] is False
    assert "the program of trial 2, which is failing" in afterword(*arguments).out


def test_split_of_the_task_file_holds_checks_out(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", held_out=None, toml="split = 0.3\n")
    ran = afterword("run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT), "--json")
    assert ran.told["status"] == "accepted"
    acceptance = ran.told["acceptance"]
    assert isinstance(acceptance, dict)
    visible = trials_of(ran)[0]["checks_total"]
    assert isinstance(visible, int)
    assert acceptance["checks_total"] + visible == 4
    assert acceptance["checks_total"] >= 1


def test_empty_code_less_and_cut_replies_are_failed_trials(tmp_path: Path, afterword: Command) -> None:
    script = tmp_path / "a.jsonl"
    script.write_text(
        '{"text": ""}\n{"text": "I would rather not."}\n{"text": "```python\\ndef double(n):", "finish": "length"}\n'
    )
    ran = afterword(
        *("run", write_task(tmp_path / "task"), "--model", f"scripted:{script}", "--json"),
        *("--max-trials", "3", "--strategy", "last_attempt"),
    )
    assert (ran.code, ran.told["status"]) == (1, "gave_up")
    assert [trial["reason"] for trial in trials_of(ran)] == ["no_output"] * 3
    assert [trial["checks_total"] for trial in trials_of(ran)] == [4] * 3
    assert len({str(trial["feedback"]) for trial in trials_of(ran)}) == 3

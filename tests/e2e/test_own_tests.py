"""`afterword run` with tests that a model writes: where a task has none, and where the user wants it so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import (
    CANARY,
    LESSON_1,
    PLUS_ONE,
    RIGHT,
    SAME,
    TABLE,
    VISIBLE,
    fenced,
    prompts,
    recorded_calls,
    write_task,
)

TESTS = """```python
# nothing
assert double(0) == 0
# one
assert double(1) == 2
assert double(5) == 10
assert sorted([double(2), 1]) == [1, 4]
```"""
OTHER_TESTS = "assert double(0) == 0\nassert double(3) == 6\nassert double(4) == 8"
MANY = "\n".join(f"assert double({number}) == {2 * number}" for number in range(20))


def script(
    file: Path, *programs: str, tests: tuple[str, ...] = (TESTS,), lessons: tuple[str, ...] = (LESSON_1,)
) -> str:
    rows = [{"role": "test_writer", "text": text} for text in tests]
    rows += [{"role": "actor", "text": fenced(program)} for program in programs]
    rows += [{"role": "reflector", "text": lesson} for lesson in lessons]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"scripted:{file}"


def trials(told: dict[str, object]) -> list[dict[str, Any]]:
    found = told["trials"]
    assert isinstance(found, list)
    return found


def texts(told: dict[str, object]) -> list[str]:
    own = told["own_tests"]
    assert isinstance(own, list)
    return [test["text"] for test in own]


def test_task_with_held_out_checks_only_is_accepted_by_them(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None, held_out=VISIBLE)
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", SAME, RIGHT), "--json")
    assert (ran.code, ran.told["status"], ran.told["best_trial"]) == (0, "accepted", 2)
    assert ran.told["trust"] == "model"
    assert ran.told["own_tests"] == [
        {"text": "assert double(0) == 0", "description": "nothing"},
        {"text": "assert double(1) == 2", "description": "one"},
        {"text": "assert double(5) == 10", "description": ""},
        {"text": "assert sorted([double(2), 1]) == [1, 4]", "description": ""},
    ]
    first = trials(ran.told)[0]
    assert first["failed"] == ["own:2", "own:3", "own:4"]
    assert "own:2 (one): assert double(1) == 2\n  left: 1\n  right: 2" in first["feedback"]
    assert "own:4: assert sorted([double(2), 1]) == [1, 4]\n  double(2) returned 2" in first["feedback"]
    assert first["feedback"].endswith("tests passed:\n  assert double(0) == 0")


def test_false_positive_of_own_tests_is_caught(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", TABLE), "--json")
    assert (ran.code, ran.told["status"]) == (1, "rejected")


def test_task_without_any_check_ends_unverified(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None, held_out=None)
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", RIGHT), "--json")
    assert (ran.code, ran.told["status"], ran.told["acceptance"]) == (0, "unverified", None)


def test_own_tests_are_not_written_where_the_task_has_visible_ones(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("run", write_task(tmp_path / "task"), "--model", script(tmp_path / "a.jsonl", TABLE), "--json")
    assert "own_tests" not in ran.told
    assert ran.told["trust"] != "model"


def test_own_tests_option_puts_them_in_place_of_the_visible_ones(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    model = script(tmp_path / "a.jsonl", "def double(n):\n    return {0: 0, 3: 6}.get(n, 8)\n", tests=(OTHER_TESTS,))
    ran = afterword("run", task, "--model", model, "--own-tests", "--json")
    assert texts(ran.told) == OTHER_TESTS.split("\n")
    assert ran.told["status"] == "rejected"  # the visible tests of the task would have failed it


def test_broken_visible_tests_do_not_matter_with_own_tests(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=VISIBLE + "\nraise RuntimeError('boom')\n")
    model = script(tmp_path / "a.jsonl", RIGHT)
    assert afterword("run", task, "--model", model, "--json").code == 2
    assert afterword("run", task, "--model", model, "--own-tests", "--max-trials", "1", "--json").code in (0, 1)


def test_seed_chooses_six_and_the_set_is_the_same_in_all_trials(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    model = script(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT, tests=(MANY,))
    options = ("--model", model, "--strategy", "last_attempt", "--json", "--seed")
    first, again, other = (afterword("run", task, *options, seed).told for seed in ("1", "1", "2"))
    assert len(texts(first)) == 6
    assert texts(first) == texts(again) != texts(other)
    assert [trial["checks_total"] for trial in trials(first)] == [6, 6, 6]
    usage = first["usage"]
    assert isinstance(usage, dict)
    assert usage["by_role"]["test_writer"]["calls"] == 1


def test_writer_has_a_model_and_a_temperature_of_its_own(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    model, writer = script(tmp_path / "a.jsonl", RIGHT), script(tmp_path / "b.jsonl", tests=(OTHER_TESTS,))
    record = tmp_path / "record.jsonl"
    options = ("--test-writer-model", writer, "--test-writer-temperature", "0.9", "--record", record)
    ran = afterword("run", task, "--model", model, *options, "--json")
    assert texts(ran.told) == OTHER_TESTS.split("\n")
    (request,) = recorded_calls(record, "test_writer")
    assert (request["temperature"], request["max_tokens"]) == (0.9, 512)


@pytest.mark.parametrize(("said", "temperature"), [((), 0.2), (("--test-writer-temperature", "none"), None)])
def test_writer_samples_as_in_the_paper_unless_told(
    tmp_path: Path, afterword: Command, said: tuple[str, ...], temperature: float | None
) -> None:
    task = write_task(tmp_path / "task", visible=None)
    record = tmp_path / "record.jsonl"
    afterword("run", task, "--model", script(tmp_path / "a.jsonl", RIGHT), "--record", record, *said, "--json")
    (request,) = recorded_calls(record, "test_writer")
    assert request["temperature"] == temperature


def test_consensus_keeps_what_most_suites_state(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    suites = ("assert double(0) == 0\nassert double(3) == 7", TESTS, OTHER_TESTS)
    ran = afterword(
        "run", task, "--model", script(tmp_path / "a.jsonl", RIGHT, tests=suites), "--consensus", "3", "--json"
    )
    assert (ran.code, texts(ran.told)) == (0, ["assert double(0) == 0"]), ran.err


def test_weak_tests_are_added_to_where_mutants_pass_them(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    weak = "assert double(0) == 0"
    hardly_run = "def double(n):\n    if n:\n        return n * n + n - n * 2 + n\n    return 0\n"
    for said, asked in (((), 1), (("--mutation-check",), 2)):
        model = script(tmp_path / "a.jsonl", hardly_run, RIGHT, tests=(weak, OTHER_TESTS))
        ran = afterword("run", task, "--model", model, *said, "--strategy", "last_attempt", "--json")
        usage = ran.told["usage"]
        assert isinstance(usage, dict)
        assert usage["by_role"]["test_writer"]["calls"] == asked
        assert ran.told["status"] == ("accepted" if said else "rejected")


def test_a_reviewer_sets_a_wrong_test_aside(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    wrong = "assert double(0) == 0\nassert double(3) == 7"
    disputes = "My trial failed `own:2`, but the text asks for 6 there, so I will keep my program.\nDISPUTE: own:2"
    model = script(tmp_path / "a.jsonl", RIGHT, RIGHT, tests=(wrong, "It returns 6.\nVERDICT: wrong"))
    with (tmp_path / "a.jsonl").open("a") as replies:
        replies.write(json.dumps({"role": "reflector", "text": disputes}) + "\n")
    ran = afterword("run", task, "--model", model, "--test-review", "--max-trials", "2", "--json")
    assert ran.told["status"] == "accepted"
    assert "own:2" in trials(ran.told)[1]["feedback"]  # shown, and no longer counted


@pytest.mark.parametrize("said", [("--consensus", "3"), ("--mutation-check",), ("--test-review",)])
def test_repairs_of_tests_that_nobody_writes_are_refused(
    tmp_path: Path, afterword: Command, said: tuple[str, ...]
) -> None:
    ran = afterword("run", write_task(tmp_path / "task"), "--model", script(tmp_path / "a.jsonl", RIGHT), *said)
    assert (ran.code, "--own-tests" in ran.err) == (2, True), ran.err
    ran = afterword("run", "hotpotqa", "--model", script(tmp_path / "a.jsonl", RIGHT), *said)
    assert (ran.code, f"{said[0]} is no option of the family qa" in ran.err) == (2, True), ran.err


def test_an_even_number_of_suites_is_refused(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", RIGHT), "--consensus", "2")
    assert (ran.code, "odd number of suites from 3, found 2" in ran.err) == (2, True), ran.err


def test_recorded_run_is_the_same_again(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    record = tmp_path / "record.jsonl"
    model = script(tmp_path / "a.jsonl", SAME, RIGHT)
    first = afterword("run", task, "--model", model, "--record", record, "--json").told
    again = afterword("run", task, "--model", f"recorded:{record}", "--json").told
    for name in ("status", "own_tests", "best_trial"):
        assert again[name] == first[name]


def test_no_valid_test_is_a_fault(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    model = script(tmp_path / "a.jsonl", RIGHT, tests=("No.", "assert True"))
    ran = afterword("run", task, "--model", model, "--json")
    assert (ran.code, ran.told["status"], ran.told["trials"]) == (3, "faulted", [])
    fault = ran.told["fault"]
    assert isinstance(fault, dict)
    assert (fault["kind"], fault["trial"]) == ("NoOwnTests", 0)


def test_held_out_text_reaches_neither_writer_nor_screen(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    record = tmp_path / "record.jsonl"
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", SAME, RIGHT), "--record", record)
    assert prompts(record, "test_writer")
    assert CANARY not in ran.out + ran.err + record.read_text(encoding="utf-8")


def test_person_sees_the_tests_and_who_judges(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    ran = afterword("run", task, "--model", script(tmp_path / "a.jsonl", SAME, RIGHT))
    assert "own tests, 2 held out" in ran.out
    assert "4 tests written\n    assert double(0) == 0\n" in ran.out
    assert "verdict: model" in ran.out


@pytest.mark.parametrize("option", [("--test-writer-model", "local"), ("--test-writer-temperature", "0.5")])
def test_writer_options_without_own_tests_are_refused(
    tmp_path: Path, afterword: Command, option: tuple[str, str]
) -> None:
    model = script(tmp_path / "a.jsonl", RIGHT)
    ran = afterword("run", write_task(tmp_path / "task"), "--model", model, *option, "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "add --own-tests" in ran.complaint


def test_bad_temperature_of_the_writer(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=None)
    model = script(tmp_path / "a.jsonl", RIGHT)
    ran = afterword("run", task, "--model", model, "--test-writer-temperature", "hot", "--json")
    assert ran.code == 2
    assert "--test-writer-temperature takes a number from 0 to 2" in ran.complaint

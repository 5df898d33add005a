"""`afterword pilot`: each of its five answers, its budget, and that it goes on where it was interrupted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import fenced
from tests.models.server import Http, Plan, Served, completion, error, provider

LESSON = (
    "My trial failed `case:1`, where {name}(1) returned 0. "
    "In the next trial I will multiply the number by its factor instead of returning 0."
)
VAGUE = "I will try again and be more careful."

Answering = Callable[[str, int, bool], str]
"""From a task, its number and whether a lesson is shown to the program that is written."""


def write_tasks(file: Path, number: int, *, held_out: bool = True) -> Path:
    rows = []
    for n in range(1, number + 1):
        cases = [{"args": [value], "expected": n * value} for value in (0, 1, 2, 7)]
        row = {
            "id": f"f{n}",
            "instructions": f"Return {n} times the number.",
            "entry_point": f"f{n}",
            "visible_cases": cases[:3],
            **({"held_out_cases": cases[3:]} if held_out else {}),
        }
        rows.append(json.dumps(row))
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


def right(n: int) -> str:
    return f"def f{n}(x):\n    return {n} * x\n"


def wrong(n: int) -> str:
    return f"def f{n}(x):\n    return 0\n"


def table(n: int) -> str:
    """Passes what is visible only."""
    return f"def f{n}(x):\n    return {{0: 0, 1: {n}, 2: {2 * n}}}.get(x, -1)\n"


def model(writes: Callable[[int, bool, int], str], lesson: str = LESSON) -> Plan:
    """A model that writes a program by the task's number, whether it sees a lesson, and how often it was asked."""
    asked: dict[tuple[int, bool], int] = {}

    def choose(served: Served) -> Http:
        messages = served.bodies[-1]["messages"]
        assert isinstance(messages, list)
        text = "\n".join(str(message["content"]) for message in messages)
        found = re.findall(r"\bf(\d+)\b", text)
        n = int(found[-1])
        if "You write one Python" not in text:
            return completion(lesson.format(name=f"f{n}"))
        with_lesson = "# Lessons from your failed attempts" in text
        asked[n, with_lesson] = asked.get((n, with_lesson), 0) + 1
        return completion(fenced(writes(n, with_lesson, asked[n, with_lesson])))

    return choose


@pytest.fixture
def pilot(tmp_path: Path, afterword: Command) -> Command:
    """A pilot on made tasks against an address."""

    def started(url: str, tasks: int, *options: str, held_out: bool = True) -> object:
        file = write_tasks(tmp_path / "tasks.jsonl", tasks, held_out=held_out)
        budget = () if any("--max-" in option for option in options) else ("--max-tokens", "1000000")
        return afterword("pilot", file, "--model", "openai:m", "--base-url", url, *budget, *options)

    return started


def test_use_it(pilot: Command) -> None:
    plan = model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))
    with provider(plan=plan) as served:
        ran = pilot(served.url, 20, "--json")
    told = ran.told
    assert (ran.code, told["answer"], told["ended"]) == (0, "use it", "clear")
    assert told["tasks"] == told["only_reflexion"]
    assert 5 <= told["tasks"] <= 10
    rungs = told["ladder"]
    assert [(rung["name"], rung["trials"], rung["solved"]) for rung in rungs[:2]] == [
        ("single", 1, 0),
        ("reflexion", 2, told["tasks"]),
    ]
    assert {arm["arm"]: arm["calls"] for arm in told["arms"]} == {"single": 1, "retry": 5, "reflexion": 3}
    assert told["sentence"].startswith("Use it: reflexion solved")


def test_trial_1_is_shared_and_no_call_is_made_behind_the_answer(pilot: Command) -> None:
    plan = model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))
    with provider(plan=plan) as served:
        told = pilot(served.url, 20, "--json", "--jobs", "1").told
    assert len(served.bodies) == told["tasks"] * (1 + 4 + 2)
    assert told["usage"]["calls"] == len(served.bodies)


def test_retry_is_as_good(pilot: Command) -> None:
    plan = model(lambda n, with_lesson, time: right(n) if with_lesson or time > 1 else wrong(n))
    with provider(plan=plan) as served:
        ran = pilot(served.url, 60, "--margin", "0.3")
    assert ran.code == 0
    assert "Retry is as good: reflexion solved" in ran.out
    assert "ladder  retry: up to trial 2;" in ran.out
    assert "each end is wrong in at most 5 % of pilots" in " ".join(ran.out.split())


def test_a_single_attempt_is_enough(pilot: Command) -> None:
    with provider(plan=model(lambda n, _, __: right(n))) as served:
        ran = pilot(served.url, 60, "--margin", "0.3", "--json")
    assert ran.told["answer"] == "retry is as good"
    assert "and so is a single attempt" in ran.told["sentence"]
    assert [rung["name"] for rung in ran.told["ladder"]] == ["single", "stronger model", "person"]
    assert ran.told["useful_lessons"]["value"] is None


def test_fix_the_evaluator_first(pilot: Command) -> None:
    with provider(plan=model(lambda n, _, __: table(n) if n % 2 else right(n))) as served:
        ran = pilot(served.url, 40, "--json")
    told = ran.told
    assert (ran.code, told["answer"], told["ended"]) == (0, "fix the evaluator first", "clear")
    assert told["false_positives"]["low"] > 0.1
    assert told["check_passes"] == "all"


def test_the_model_does_not_write_useful_lessons(pilot: Command) -> None:
    with provider(plan=model(lambda n, _, __: wrong(n), VAGUE)) as served:
        ran = pilot(served.url, 60, "--margin", "0.3", "--json")
    told = ran.told
    assert (ran.code, told["answer"]) == (0, "your model does not write useful lessons")
    assert told["useful_lessons"]["high"] < 0.25 or told["sound_lessons"]["high"] < 0.5


def test_not_enough_tasks_to_tell(pilot: Command) -> None:
    plan = model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))
    with provider(plan=plan) as served:
        ran = pilot(served.url, 3, "--json")
    told = ran.told
    assert (ran.code, told["answer"], told["ended"]) == (1, "not enough tasks to tell", "tasks")
    assert told["more_tasks"] >= 2
    assert "more, if they are like these" in told["sentence"]


def test_the_budget_is_never_overrun_and_a_larger_one_goes_on(pilot: Command, afterword: Command) -> None:
    plan = model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))
    with provider(plan=plan) as served:
        ran = pilot(served.url, 20, "--json", "--max-cost-usd", "0.013", "--price", "1,10")
        told = ran.told
        assert (ran.code, told["answer"], told["ended"]) == (1, "not enough tasks to tell", "budget")
        assert told["usage"]["cost_usd"] <= 0.013
        assert told["usage"]["calls"] == len(served.bodies)
        command = re.search(r"afterword (resume \S+)", ran.err)
        assert command is not None
        before = len(served.bodies)
        again = afterword(*command[1].split(), "--total-cost-usd", "5", "--base-url", served.url, "--json")
    assert (again.code, again.told["answer"]) == (0, "use it")
    assert again.told["tasks"] > told["tasks"]
    assert again.told["usage"]["calls"] == len(served.bodies) > before


def test_a_pilot_that_is_over_is_told_again_and_nothing_is_asked(pilot: Command, afterword: Command) -> None:
    with provider(plan=model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))) as served:
        first = pilot(served.url, 20, "--json")
        run = re.search(r"run +(\S+),", first.err)
        assert run is not None
        asked = len(served.bodies)
        again = afterword("resume", run[1], "--base-url", served.url, "--json")
    assert again.told["sentence"] == first.told["sentence"]
    assert len(served.bodies) == asked


def test_the_same_seed_draws_the_same_tasks(pilot: Command) -> None:
    orders = []
    for seed in ("1", "1", "2"):
        with provider(plan=model(lambda n, _, __: wrong(n))) as served:
            ran = pilot(served.url, 12, "--seed", seed, "--limit", "4")
        orders.append(re.findall(r"^ *\d+  (f\d+) ", ran.out, re.MULTILINE))
    assert len(orders[0]) == 4
    assert orders[0] == orders[1] != orders[2]


def test_faults_end_it_and_are_not_counted_as_failures(pilot: Command) -> None:
    with provider(error(401, "no such key")) as served:
        ran = pilot(served.url, 20, "--json")
    assert (ran.code, ran.told["ended"], ran.told["tasks"]) == (3, "faults", 0)
    assert "3 tasks in a row faulted" in ran.err
    assert len(served.bodies) <= 12


def test_without_held_out_checks_it_says_what_is_not_known(pilot: Command) -> None:
    plan = model(lambda n, with_lesson, _: right(n) if with_lesson else wrong(n))
    with provider(plan=plan) as served:
        ran = pilot(served.url, 20, held_out=False)
    assert "no held-out check judged what it passed" in ran.out
    assert "a person looks at samples" in ran.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "a pilot needs a budget: add --max-cost-usd X or --max-tokens N"),
        (("--max-cost-usd", "1"), "price"),
        (("--max-tokens", "0"), "the tokens budget must be above 0"),
        (("--max-tokens", "9", "--limit", "0"), "--limit takes a number from 1, found 0"),
        (("--max-tokens", "9", "--margin", "1.5"), "--margin takes a number between 0 and 1, found 1.5"),
        (("--max-tokens", "9", "--alpha", "0.7"), "--alpha takes a number between 0 and 0.5, found 0.7"),
        (("--max-tokens", "9", "--mode", "cot"), "--mode is no option of the family programming"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, afterword: Command, options: tuple[str, ...], complaint: str) -> None:
    tasks = write_tasks(tmp_path / "tasks.jsonl", 3)
    ran = afterword("pilot", tasks, "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", *options)
    assert ran.code in (2, 3)
    assert complaint in ran.complaint
    assert ran.out == ""

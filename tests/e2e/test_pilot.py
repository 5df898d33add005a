"""`afterword pilot`: each of its five answers, its budget, and that it goes on where it was interrupted."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import fenced
from tests.models.server import Http, Plan, Served, completion, error, provider

LESSON = 'I answered "none" to the question about {name}. Next time I will answer {name} with its own number instead.'
VAGUE = "I will try again and be more careful."
WRONG = "none"
Says = Callable[[int, bool, int], str]
"""From a question's number, whether a lesson is shown, and how often it was asked that way, to the answer."""


def right(n: int) -> str:
    return str(n + 10)


def loose(n: int) -> str:
    """The official match passes it, the strict one that is held out does not."""
    return f"{right(n)[0]}.{right(n)[1:]}"


def with_lesson_only(n: int, lesson: bool, time: int) -> str:
    return right(n) if lesson else WRONG


def model(says: Says, lesson: str = LESSON) -> Plan:
    """A model that answers questions, and writes the same lesson about each."""
    asked: Counter[tuple[int, bool]] = Counter()

    def choose(served: Served) -> Http:
        messages = served.bodies[-1]["messages"]
        assert isinstance(messages, list)
        text = "\n".join(str(message["content"]) for message in messages)
        n = int(re.findall(r"\bf(\d+)\b", text)[-1])
        if "You answer a question" not in text:
            return completion(lesson.format(name=f"f{n}"))
        shown = "# Lessons from your failed attempts" in text
        asked[n, shown] += 1
        return completion(f"Thought: I know it.\nAction: Finish[{says(n, shown, asked[n, shown])}]")

    return choose


class Pilot(Protocol):
    def __call__(self, url: str, tasks: int, *options: str) -> Ran: ...


@pytest.fixture
def pilot(tmp_path: Path, afterword: Command) -> Pilot:
    """A pilot on made questions against an address."""

    def started(url: str, tasks: int, *options: str) -> Ran:
        file = tmp_path / "questions.jsonl"
        rows = [
            json.dumps({"id": f"f{n}", "question": f"What is f{n}?", "answer": right(n)}) for n in range(1, tasks + 1)
        ]
        file.write_text("\n".join(rows), encoding="utf-8")
        budget = () if "--max-cost-usd" in options else ("--max-tokens", "1000000")
        served = ("--model", "openai:m", "--base-url", url, "--examples", "0")
        return afterword("pilot", file, "--family", "qa", *served, *budget, *options)

    return started


def number(told: dict[str, object], *path: str) -> float:
    """A number within the JSON object."""
    value: object = told
    for name in path:
        assert isinstance(value, dict)
        value = value[name]
    assert isinstance(value, (int, float))
    return value


def rows(told: dict[str, object], name: str) -> list[dict[str, object]]:
    value = told[name]
    assert isinstance(value, list)
    return value


def test_use_it(pilot: Pilot) -> None:
    with provider(plan=model(with_lesson_only)) as served:
        ran = pilot(served.url, 20, "--json")
    told = ran.told
    tasks = number(told, "tasks")
    assert (ran.code, told["answer"], told["ended"]) == (0, "use it", "clear")
    assert 5 <= tasks == number(told, "only_reflexion") <= 10
    assert [(rung["name"], rung["trials"], rung["solved"]) for rung in rows(told, "ladder")[:2]] == [
        ("single", 1, 0),
        ("reflexion", 2, tasks),
    ]
    assert {arm["arm"]: arm["calls"] for arm in rows(told, "arms")} == {"single": 1, "retry": 5, "reflexion": 3}
    assert str(told["sentence"]).startswith("Use it: reflexion solved")


def test_trial_1_is_shared_and_no_call_is_made_behind_the_answer(pilot: Pilot) -> None:
    with provider(plan=model(with_lesson_only)) as served:
        told = pilot(served.url, 20, "--json", "--jobs", "1").told
    assert len(served.bodies) == number(told, "tasks") * (1 + 4 + 2)
    assert number(told, "usage", "calls") == len(served.bodies)


def test_retry_is_as_good(pilot: Pilot) -> None:
    plan = model(lambda n, lesson, time: right(n) if lesson or time > 1 else WRONG)
    with provider(plan=plan) as served:
        ran = pilot(served.url, 60, "--margin", "0.3")
    said = " ".join(ran.out.split())
    assert ran.code == 0
    assert "Retry is as good: reflexion solved" in said
    assert "retry: up to trial 2;" in said
    assert "each end is wrong in at most 5 % of pilots" in said


def test_a_single_attempt_is_enough(pilot: Pilot) -> None:
    with provider(plan=model(lambda n, _, __: right(n))) as served:
        told = pilot(served.url, 70, "--margin", "0.3", "--json").told
    assert told["answer"] == "retry is as good"
    assert "and so is a single attempt" in str(told["sentence"])
    assert [rung["name"] for rung in rows(told, "ladder")] == ["single", "stronger model", "person"]
    assert told["check_passes"] == "some"


def test_fix_the_evaluator_first(pilot: Pilot) -> None:
    with provider(plan=model(lambda n, _, __: loose(n) if n % 2 else right(n))) as served:
        ran = pilot(served.url, 40, "--json")
    told = ran.told
    assert (ran.code, told["answer"], told["ended"]) == (0, "fix the evaluator first", "clear")
    assert number(told, "false_positives", "low") > 0.1
    assert told["check_passes"] == "all"


def test_the_model_does_not_write_useful_lessons(pilot: Pilot) -> None:
    with provider(plan=model(lambda n, _, __: WRONG, VAGUE)) as served:
        ran = pilot(served.url, 60, "--margin", "0.3", "--json")
    told = ran.told
    assert (ran.code, told["answer"]) == (0, "your model does not write useful lessons")
    assert number(told, "useful_lessons", "high") < 0.25 or number(told, "sound_lessons", "high") < 0.5


def test_not_enough_tasks_to_tell(pilot: Pilot) -> None:
    with provider(plan=model(with_lesson_only)) as served:
        ran = pilot(served.url, 3, "--json")
    told = ran.told
    assert (ran.code, told["answer"], told["ended"]) == (1, "not enough tasks to tell", "tasks")
    assert number(told, "more_tasks") >= 2
    assert number(told, "more_usage", "calls") == number(told, "more_tasks") * 7
    assert "So many would take about" in ran.err
    assert "more, if they are like these" in str(told["sentence"])


def test_the_budget_is_never_overrun_and_a_larger_one_goes_on(pilot: Pilot, afterword: Command) -> None:
    with provider(plan=model(with_lesson_only)) as served:
        ran = pilot(served.url, 20, "--json", "--max-cost-usd", "0.005", "--price", "1,10")
        told = ran.told
        assert (ran.code, told["answer"], told["ended"]) == (1, "not enough tasks to tell", "budget")
        assert number(told, "usage", "cost_usd") <= 0.005
        before = len(served.bodies)
        assert number(told, "usage", "calls") == before
        assert "the cost budget of the pilot is used up" in ran.err
        command = re.search(r"afterword (resume \S+)", ran.err)
        assert command is not None
        again = afterword(*command[1].split(), "--total-cost-usd", "5", "--base-url", served.url, "--json")
    assert (again.code, again.told["answer"]) == (0, "use it")
    assert number(again.told, "tasks") > number(told, "tasks")
    assert number(again.told, "usage", "calls") == len(served.bodies) > before


def test_a_pilot_that_is_over_is_told_again_and_nothing_is_asked(pilot: Pilot, afterword: Command) -> None:
    with provider(plan=model(with_lesson_only)) as served:
        first = pilot(served.url, 20, "--json")
        run = re.search(r"run +(\S+),", first.err)
        assert run is not None
        asked = len(served.bodies)
        again = afterword("resume", run[1], "--base-url", served.url, "--json")
    assert again.told["sentence"] == first.told["sentence"]
    assert len(served.bodies) == asked


def test_the_same_seed_draws_the_same_tasks(pilot: Pilot) -> None:
    orders = []
    for seed in ("1", "1", "2"):
        with provider(plan=model(lambda n, _, __: right(n))) as served:
            ran = pilot(served.url, 12, "--seed", seed, "--limit", "4")
        orders.append(re.findall(r"^ *\d+  (f\d+) ", ran.out, re.MULTILINE))
    assert len(orders[0]) == 4
    assert orders[0] == orders[1] != orders[2]


def test_faults_end_it_and_are_not_counted_as_failures(pilot: Pilot) -> None:
    with provider(error(400, "no such field")) as served:
        ran = pilot(served.url, 20, "--json")
    assert (ran.code, ran.told["ended"], ran.told["tasks"]) == (3, "faults", 0)
    assert "3 tasks in a row faulted" in ran.err
    assert len(served.bodies) <= 12


def test_a_refused_key_ends_it_at_once(pilot: Pilot) -> None:
    with provider(error(401, "no such key")) as served:
        ran = pilot(served.url, 20, "--json")
    assert (ran.code, ran.told["ended"], ran.told["tasks"]) == (3, "faults", 0)
    assert "refuses the key" in ran.err
    assert len(served.bodies) <= 6


def test_programs_without_held_out_checks_say_what_is_not_known(tmp_path: Path, afterword: Command) -> None:
    tasks, script = tmp_path / "tasks.jsonl", tmp_path / "script.jsonl"
    names = ("double", "triple")
    cases = {name: [{"args": [n], "expected": factor * n} for n in (1, 2)] for factor, name in enumerate(names, 2)}
    tasks.write_text(
        "\n".join(
            json.dumps({"id": name, "instructions": name, "entry_point": name, "visible_cases": cases[name]})
            for name in names
        ),
        encoding="utf-8",
    )
    replies = [
        {"role": "actor", "task": name, "text": fenced(f"def {name}(n):\n    return {factor} * n\n")}
        for factor, name in enumerate(names, 2)
    ]
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    exam = tmp_path / "exam.json"
    exam.write_text(json.dumps({"reflectors": {f"scripted:{script}": {"named": {"count": 2, "total": 16}}}}))
    ran = afterword("pilot", tasks, "--model", f"scripted:{script}", "--max-tokens", "100000", "--exam", exam)
    said = " ".join(ran.out.split())
    assert ran.code == 1
    assert "in an exam they named 2 of 16 planted bugs: 12 % (interval 1 to 44)" in said
    assert "so far reflexion solved 2 of 2 tasks, retry 2 and a single attempt 2" in said
    assert "no held-out check judged what it passed" in said
    assert "a person looks at samples" in said


def test_worlds_can_be_piloted_too(monkeypatch: pytest.MonkeyPatch, afterword: Command) -> None:
    example = Path(__file__).parents[2] / "examples" / "vault"
    monkeypatch.chdir(example)
    world = ("vault:Vault", "--family", "decision", "--tasks", "tasks.jsonl")
    with provider(completion("Thought: Why not.\nAction: dance")) as served:
        model_at = ("--model", "openai:m", "--base-url", served.url, "--max-tokens", "900000", "--calls", "7")
        ran = afterword("pilot", *world, *model_at, "--json")
    sys.modules.pop("vault", None)
    sys.path[:] = [place for place in sys.path if place != str(example)]
    told = ran.told
    assert (ran.code, told["tasks"], told["faults"], told["ended"]) == (1, 2, 0, "tasks")
    assert all(number(arm, "calls") <= 7 for arm in rows(told, "arms"))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "a pilot needs a budget: add --max-cost-usd X or --max-tokens N"),
        (("--max-cost-usd", "1"), "say --max-tokens instead of --max-cost-usd"),
        (("--max-tokens", "0"), "the tokens budget must be above 0"),
        (("--max-cost-usd", "inf"), "the cost_usd budget must be above 0 and finite, found inf"),
        (("--max-tokens", "9", "--tokens", "1"), "an allowance of 1 token does not carry one reply"),
        (("--max-tokens", "9", "--seed", "9" * 20), "expected a seed that a journal can keep"),
        (("--max-tokens", "9", "--limit", "0"), "--limit takes a number from 1, found 0"),
        (("--max-tokens", "9", "--margin", "1.5"), "--margin takes a number between 0 and 1, found 1.5"),
        (("--max-tokens", "9", "--alpha", "0.7"), "--alpha takes a number between 0 and 0.5, found 0.7"),
        (("--max-tokens", "9", "--own-tests"), "--own-tests is no option of the family qa"),
        (("--max-tokens", "9", "--no-journal", "--fsync"), "leave out --journal and --fsync"),
        (("--max-tokens", "9", "--exam", "exam.json"), "an exam is one of programs and tells nothing of other lessons"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, afterword: Command, options: tuple[str, ...], complaint: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": 1, "question": "What?", "answer": "1"}\n', encoding="utf-8")
    served = ("--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1")
    ran = afterword("pilot", file, "--family", "qa", *served, *options)
    assert ran.code in (2, 3)
    assert complaint in ran.complaint
    assert ran.out == ""

"""`afterword audit --causal`: the trial after a lesson made again, against a server that answers by what it is told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.models.server import Http, Served, completion, provider

QUESTIONS = {
    "fr": ("What is the seat of the French government?", "Paris"),
    "it": ("What is the seat of the Italian government?", "Rome"),
    "es": ("What is the seat of the Spanish government?", "Madrid"),
}


def answer(served: Served) -> Http:
    """The reflector's lesson names what helps with its own question alone; the actor follows it."""
    messages = served.bodies[-1]["messages"]
    assert isinstance(messages, list)
    asked = messages[-1]["content"]
    task = next(name for name, (question, _) in QUESTIONS.items() if question in asked)
    if "write a lesson" in messages[0]["content"]:
        return completion(f"I answered `Lyon`, a guess. I will look for the seat itself, key {task}-key.")
    right = f"{task}-key" in asked
    return completion(f"Thought: I think.\nAnswer: {QUESTIONS[task][1] if right else 'Lyon'}")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    rows = [{"id": name, "question": question, "answer": right} for name, (question, right) in QUESTIONS.items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def first_run(afterword: Command, questions: Path, url: str, *more: str | Path) -> str:
    at = ("--model", "openai:served", "--base-url", url, "--api-key", "none", "--strategy", "reflexion")
    ran = afterword("run", "--family", "qa", questions, "--mode", "cot", *at, *more)
    assert ran.code == 0, ran.err
    runs = afterword("runs", "--json", *more)
    name = json.loads(runs.out.splitlines()[0])["run"]
    assert isinstance(name, str)
    return name


def causal(afterword: Command, run: str, *more: str | Path) -> Ran:
    return afterword("audit", run, "--causal", "--api-key", "none", *more)


def test_a_lesson_that_helps_is_told_from_a_placebo(afterword: Command, questions: Path) -> None:
    with provider(plan=answer) as served:
        run = first_run(afterword, questions, served.url)
        before = len(served.bodies)
        ran = causal(afterword, run)
        assert ran.code == 0, ran.err
        assert len(served.bodies) == before + 9
        lines = [" ".join(line.split()) for line in ran.out.splitlines()]
        assert "fr, lesson of trial 1: with ✓, without ✗, placebo ✗" in lines
        assert "passed with the lesson 100 % 44 to 100 %" in lines
        assert "passed without it 0 % 0 to 56 %" in lines
        assert any(line.startswith("with it less another's: +100 points") for line in lines)
        assert any("score higher in 3, same in 0, lower in 0" in line for line in lines)

        told = causal(afterword, run, "--json", "--sample", "2", "--seed", "5").told
        made = told["made"]
        assert isinstance(made, list)
        assert len(made) == 2
        assert all(one["passed"] == {"with": True, "without": False, "placebo": False} for one in made)

        trials = afterword("runs").out
        assert f"afterword audit {run} --causal --sample 20 --seed 0" in trials
        assert "3 tasks x 3 arms: 6 gave up, 3 unverified" in trials


def test_an_audit_with_a_fault_is_gone_on_with(afterword: Command, questions: Path) -> None:
    broken = False

    def sometimes(served: Served) -> Http:
        messages = served.bodies[-1]["messages"]
        assert isinstance(messages, list)
        out_of_order = broken and "Spanish" in messages[-1]["content"]
        return Http(401, b'{"error": {"message": "no such key"}}') if out_of_order else answer(served)

    with provider(plan=sometimes) as served:
        run = first_run(afterword, questions, served.url)
        broken = True
        ran = causal(afterword, run)
        assert ran.code == 0, ran.err
        assert "2 lessons tried again, 1 fault counted nowhere" in ran.out
        broken, before = False, len(served.bodies)
        ran = causal(afterword, run)
        assert "3 lessons tried again\n" in ran.out
        assert len(served.bodies) == before + 3  # what was paid for is not asked again


def test_a_changed_task_is_refused(afterword: Command, questions: Path) -> None:
    with provider(plan=answer) as served:
        run = first_run(afterword, questions, served.url)
        questions.write_text(questions.read_text().replace("Rome", "Milan"))
        ran = causal(afterword, run)
        assert ran.code == 2
        assert "started with another task:it" in ran.complaint


def test_a_run_that_gave_no_placebo_or_is_a_file_is_refused(
    afterword: Command, questions: Path, tmp_path: Path
) -> None:
    with provider(plan=answer) as served:
        one = tmp_path / "one.jsonl"
        one.write_text(questions.read_text().splitlines()[0])
        run = first_run(afterword, one, served.url)
        assert "expected two tasks with a lesson" in causal(afterword, run).complaint
        assert "takes a number from 1" in causal(afterword, run, "--sample", "0").complaint
    file = tmp_path / "outcomes.jsonl"
    file.write_text('{"task": "t", "trials": []}')
    assert "name a run of the journal" in causal(afterword, str(file)).complaint
    assert "do one after the other" in causal(afterword, str(file), "--label").complaint


def test_family_and_model_of_a_journals_run_are_told(afterword: Command, questions: Path) -> None:
    with provider(plan=answer) as served:
        run = first_run(afterword, questions, served.url)
    lessons = afterword("audit", run, "--json").told["lessons"]
    assert isinstance(lessons, list)
    assert {(one["family"], one["model"], one["effect"]) for one in lessons} == {("qa", "openai:served", "gained")}


def test_without_a_name_the_latest_run_with_lessons_is_taken(afterword: Command, questions: Path) -> None:
    assert "there is no journal here" in afterword("audit").complaint
    with provider(plan=answer) as served:
        run = first_run(afterword, questions, served.url)
        assert causal(afterword, run).code == 0  # a run of its own, and a later one
        asked = ("--model", "openai:served", "--base-url", served.url, "--api-key", "none", "--mode", "cot")
        afterword("run", "--family", "qa", questions, *asked, "--strategy", "retry", "--max-trials", "1")
    ran = afterword("audit")
    assert (ran.code, ran.err) == (0, f"run {run}, the latest with lessons\n")
    assert ran.out.startswith("qa, openai:served: 3 lessons of 3 tasks")
    drafted = afterword("lessons", "distil", "--out", questions.with_name("rules.json"))
    assert (drafted.code, drafted.err) == (0, ran.err)


def test_who_classes_a_lesson_sees_what_its_reflector_saw(
    afterword: Command, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(plan=answer) as served:
        run = first_run(afterword, questions, served.url)
    monkeypatch.setattr("sys.stdin", io.StringIO("r\nq\n"))
    ran = afterword("audit", run, "--label", "--labels", questions.with_name("labels.jsonl"))
    assert ran.code == 0, ran.err
    first = ran.out.partition("lesson: ")[0]
    assert QUESTIONS["fr"][0] in first
    assert "I think." in first
    assert '| The answer "Lyon" is wrong.' in first
    assert "Paris" not in first


def test_a_journal_without_lessons_is_told(afterword: Command, questions: Path) -> None:
    with provider(plan=answer) as served:
        asked = ("--model", "openai:served", "--base-url", served.url, "--api-key", "none", "--mode", "cot")
        afterword("run", "--family", "qa", questions, *asked, "--strategy", "retry", "--max-trials", "1")
    assert "no run of the journal has lessons" in afterword("audit").complaint

"""The question family on the command line: the example, files of one's own, a live encyclopedia, bad usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.models.server import Http, Served, provider

EXAMPLE = Path(__file__).parents[2] / "examples" / "rivers"
REACT = (
    *("run", EXAMPLE / "questions.jsonl", "--family", "qa", "--mode", "react", "--no-journal", "--json"),
    *("--articles", EXAMPLE / "articles.jsonl", "--strategy", "reflexion"),
    *("--model", f"scripted:{EXAMPLE / 'replies.jsonl'}"),
)


def outcomes(out: str) -> dict[str, dict[str, object]]:
    return {told["task"]: told for told in map(json.loads, out.splitlines())}


def written(file: Path, *rows: object) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_the_example_learns_from_a_lesson_and_catches_a_false_positive(afterword: Command) -> None:
    ran = afterword(*REACT)
    told = outcomes(ran.out)
    assert ran.code == 1
    assert {name: one["status"] for name, one in told.items()} == {"rhine-tributary": "accepted", "longer": "rejected"}
    assert told["rhine-tributary"]["best_trial"] == 2
    assert told["longer"]["acceptance"] == {"passed": False, "checks_passed": 0, "checks_total": 1, "trust": "exact"}


def test_with_the_strict_match_as_verdict_the_loop_goes_on(afterword: Command) -> None:
    ran = afterword(*REACT, "--match", "strict")
    assert ran.code == 0
    assert [(one["status"], one["best_trial"]) for one in outcomes(ran.out).values()] == [("unverified", 2)] * 2


def test_a_question_with_its_context_is_answered_in_one_call(afterword: Command, tmp_path: Path) -> None:
    row = {"id": 1, "question": "Where?", "answer": "Paris", "context": ["It stands in Paris."]}
    replies = written(tmp_path / "replies.jsonl", {"text": "Thought: It says so.\nAction: finish[paris]."})
    questions = written(tmp_path / "questions.jsonl", row)
    ran = afterword("run", "--family", "qa", questions, "--model", f"scripted:{replies}", "--no-journal")
    assert ran.code == 0
    assert "task  1: cot-context, exact match, strict match held out" in ran.out
    assert "accepted" in ran.out
    assert "verdict: exact · 1 call" in ran.out


def test_a_run_is_kept_with_its_lessons_and_answers(afterword: Command, tmp_path: Path) -> None:
    journal = ("--journal", tmp_path / "journal.db")
    kept = [argument for argument in REACT if argument != "--no-journal"]
    assert afterword(*kept, *journal).code == 1
    run = afterword("runs", *journal, "--json").told["run"]
    shown = afterword("show", run, "rhine-tributary", *journal).out
    assert 'lesson: I answered "Black Sea"' in shown
    assert "+North Sea" in shown


def test_a_live_encyclopedia_is_asked_and_its_fault_is_no_wrong_answer(afterword: Command, tmp_path: Path) -> None:
    replies = written(
        tmp_path / "replies.jsonl", {"text": "Action: Search[Rhine]"}, {"text": "Action: Finish[North Sea]"}
    )
    questions = written(tmp_path / "questions.jsonl", {"id": 1, "question": "Which sea?", "answer": "North Sea"})
    pages = [{"title": "Rhine", "extract": "It ends in the North Sea."}]

    def ran(answer: Http) -> tuple[int, dict[str, object], Served]:
        with provider(answer) as served:
            articles = ("--mode", "react", "--articles", f"{served.url}/api.php", "--max-trials", "1")
            run = ("run", "--family", "qa", questions, "--model", f"scripted:{replies}", "--no-journal", "--json")
            got = afterword(*run, *articles)
            return got.code, got.told, served

    code, told, served = ran(Http(body=json.dumps({"query": {"pages": pages}}).encode()))
    assert (code, told["status"], len(served.paths)) == (0, "accepted", 1)
    code, told, _ = ran(Http(403))
    assert (code, told["status"]) == (3, "faulted")
    fault = told["fault"]
    assert isinstance(fault, dict)
    assert fault["kind"] == "ArticlesUnreachable"


BAD_LINES = {
    "no JSON": ("{", "questions.jsonl:2: expected one JSON object a line"),
    "no answer": ('{"id": "b", "question": "q"}', "questions.jsonl:2: expected 'answer', a text, or 'answers'"),
    "the same id": ('{"id": "a", "question": "q", "answer": "x"}', "questions.jsonl:2: the id 'a' is that of line 1"),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_file_is_one_line_with_its_number_before_anything_is_asked(
    line: str, message: str, afterword: Command, tmp_path: Path
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "a", "question": "q", "answer": "x"}\n' + line)
    ran = afterword("run", "--family", "qa", questions, "--model", "scripted:none.jsonl", "--no-journal")
    assert ran.code == 2
    assert message in ran.complaint


def test_wrong_options_are_one_line(afterword: Command) -> None:
    questions = EXAMPLE / "questions.jsonl"
    for options, message in (
        (("--mode", "tot"), "--mode takes cot, cot-context, react"),
        (("--mode", "react"), "give --articles FILE.jsonl or --articles wikipedia"),
        (("--examples", "9"), "0 to 6 worked examples"),
        (("--split", "valid_seen"), "--split is no option of the family qa"),
    ):
        ran = afterword("run", "--family", "qa", questions, *options, "--no-journal")
        assert ran.code == 2
        assert message in ran.complaint


def test_the_benchmark_runs_by_its_name(afterword: Command, tmp_path: Path, data_dir: Path) -> None:
    replies = written(
        tmp_path / "replies.jsonl",
        {"role": "actor", "text": "Finish[GmbH]"},
        {"role": "actor", "text": "Finish[Gesellschaft mit beschränkter Haftung]"},
        {
            "role": "reflector",
            "text": "I answered `GmbH`, the short form. I will write the words in full.",
        },
    )
    ran = afterword(
        *("run", "hotpotqa", "--mode", "cot-context", "--limit", "1", "--strategy", "reflexion", "--examples", "2"),
        *("--data", data_dir, "--model", f"scripted:{replies}", "--no-journal", "--json"),
    )
    assert ran.code == 0
    assert (ran.told["status"], ran.told["best_trial"]) == ("accepted", 2)


@pytest.mark.parametrize("option", ["--judge-model", "--judge-temperature", "--test-writer-model"])
def test_options_of_a_model_that_nothing_asks_are_refused(afterword: Command, tmp_path: Path, option: str) -> None:
    ran = afterword("run", "--family", "qa", tmp_path / "q.jsonl", option, "0")
    assert ran.code == 2
    assert f"no model judges answers or writes tests; leave out {option}" in ran.complaint

"""Question files of users and HotPotQA's own: what is read, and one line for whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.families.qa import Mode, Paragraph, Question, load_hotpotqa, read_questions


def written(folder: Path, *rows: object) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_a_plain_question_is_read(tmp_path: Path) -> None:
    row = {"id": 7, "question": " Who? ", "answer": 1988, "note": "passed over"}
    assert list(read_questions(written(tmp_path, row))) == [Question("7", "Who?", ("1988",))]


def test_answers_and_context_take_several_forms(tmp_path: Path) -> None:
    context = [
        "A text.",
        {"title": "T", "text": "Of T."},
        {"title": "S", "sentences": ["One.", " Two."]},
        ["P", ["Pair."]],
    ]
    (question,) = read_questions(
        written(tmp_path, {"id": "a", "question": "q", "answers": ["x", "y"], "context": context})
    )
    assert question.answers == ("x", "y")
    assert question.context == (
        Paragraph("", ("A text.",)),
        Paragraph("T", ("Of T.",)),
        Paragraph("S", ("One.", "Two.")),
        Paragraph("P", ("Pair.",)),
    )


def test_a_task_shows_paragraphs_in_the_mode_with_context_only_and_never_an_answer(tmp_path: Path) -> None:
    question = Question("a", "Who?", ("CANARY",), (Paragraph("T", ("One.", "Two.")),))
    assert question.task(Mode.COT_CONTEXT).inputs == {"paragraphs": [{"title": "T", "text": "One. Two."}]}
    for mode in Mode:
        task = question.task(mode)
        assert "CANARY" not in repr(task)
        assert mode is Mode.COT_CONTEXT or not task.inputs


def test_a_question_without_context_cannot_be_asked_with_it() -> None:
    with pytest.raises(InputError, match="has no context"):
        Question("a", "Who?", ("x",)).task(Mode.COT_CONTEXT)


GOOD = {"id": "a", "question": "q", "answer": "x"}
BROKEN: dict[str, tuple[object, str]] = {
    "control characters": ({"id": "a\0", "question": "?", "answer": "y"}, "one short line of text, found 'a\\x00'"),
    "half a character": ({"id": "a\ud800", "question": "?", "answer": "y"}, "one short line of text"),
    "a long id": ({"id": "a" * 1_000, "question": "?", "answer": "y"}, "one short line of text"),
    "no JSON": ("{", "one JSON object a line"),
    "a list": ([1], "expected a JSON object, found list"),
    "no id": ({"question": "q", "answer": "x"}, "as 'id', found None"),
    "an id that is a truth value": ({**GOOD, "id": True}, "as 'id', found True"),
    "the same id": (GOOD, "is that of line 1 too"),
    "no question": ({"id": "b", "answer": "x"}, "as 'question', found only answer, id"),
    "an empty question": ({**GOOD, "id": "b", "question": " "}, "as 'question', found ' '"),
    "no answer": ({"id": "b", "question": "q"}, "expected 'answer', a text, or 'answers'"),
    "a misspelt answer": ({"id": "b", "question": "q", "anwser": "x"}, "found anwser, id, question"),
    "an empty answer": ({**GOOD, "id": "b", "answer": ""}, "not empty as answer, found ''"),
    "no text": ({**GOOD, "id": "b", "answer": None}, "not empty as answer, found None"),
    "no answers": ({"id": "b", "question": "q", "answers": []}, "at least one text as 'answers'"),
    "both": ({**GOOD, "id": "b", "answers": ["x"]}, "keep one of them"),
    "a context of text": ({**GOOD, "id": "b", "context": "text"}, "a list of paragraphs as 'context', found str"),
    "a paragraph of numbers": ({**GOOD, "id": "b", "context": [5]}, "paragraph 1 of 'context', found 5"),
    "an empty paragraph": ({**GOOD, "id": "b", "context": [{"title": "T"}]}, "as 'text', found only title"),
    "gold that is not there": (
        {**GOOD, "id": "b", "context": [{"title": "T", "text": "x"}], "gold_titles": ["U"]},
        "gold_titles names 'U'",
    ),
    "gold that is no list": ({**GOOD, "id": "b", "gold_titles": "T"}, "a list of titles as 'gold_titles'"),
}


@pytest.mark.parametrize(("row", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_told_in_one_line_with_its_number(row: object, message: str, tmp_path: Path) -> None:
    questions = read_questions(written(tmp_path, GOOD, "", row))
    assert next(questions).id == "a"
    with pytest.raises(InputError) as caught:
        list(questions)
    assert message in str(caught.value)
    assert "questions.jsonl:3: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_empty_and_binary_files_are_told(tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe{}")
    for file, message in (
        (tmp_path / "none.jsonl", "No such file"),
        (written(tmp_path, " "), "an empty file"),
        (binary, "UTF-8"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            list(read_questions(file))


def test_the_benchmark_is_read_with_its_gold_paragraphs(data_dir: Path) -> None:
    questions = list(load_hotpotqa("hotpotqa", data_dir))
    train = list(load_hotpotqa("hotpotqa_train", data_dir / "hotpotqa"))
    assert (len(questions), len(train)) == (100, 100)
    assert not {one.id for one in questions} & {one.id for one in train}
    assert all(len(question.context) == 2 for question in questions)
    first = questions[0]
    assert first.id == "5a7613c15542994ccc9186bf"
    assert first.answers == ("Gesellschaft mit beschränkter Haftung",)
    assert [paragraph.title for paragraph in first.context] == ["VIVA Media", "Gesellschaft mit beschränkter Haftung"]


def test_a_part_of_the_benchmark_is_chosen_by_limit_and_ids(data_dir: Path) -> None:
    wanted = ["5adf2fa35542993344016c11", "5a7613c15542994ccc9186bf"]
    assert [one.id for one in load_hotpotqa("hotpotqa", data_dir, ids=wanted)] == wanted
    assert len(list(load_hotpotqa("hotpotqa", data_dir, limit=3))) == 3


def test_a_part_a_question_or_a_folder_that_is_not_there_is_told(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'hotpotqa-train'"):
        load_hotpotqa("hotpotqa-trian", data_dir)
    with pytest.raises(InputError, match="no question 'nope'"):
        load_hotpotqa("hotpotqa", data_dir, ids=["nope"])
    with pytest.raises(InputError, match=r"expected hotpotqa/hotpot_distractor_100.jsonl in this data folder"):
        load_hotpotqa("hotpotqa", tmp_path)

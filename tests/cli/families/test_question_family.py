"""The question family on the command line: items from sources and options, and one line for whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from afterword.cli.families import Item, Settings, family_named, family_of
from afterword.cli.families.interface import OptionValue
from afterword.cli.roles import ModelChoice
from afterword.errors import InputError

QUESTIONS = (
    {"id": "a", "question": "Where?", "answer": "Paris", "context": [{"title": "T", "text": "It is in Paris."}]},
    {"id": "b", "question": "When?", "answers": ["1988", "in 1988"]},
)
ARTICLES = ({"title": "T", "text": "It is in Paris."}, {"title": "U", "text": "It was in 1988."})


def written(folder: Path, *rows: object, name: str = "questions.jsonl") -> str:
    file = folder / name
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(file)


def items(*sources: str, data: Path | None = None, limit: int | None = None, **options: OptionValue) -> list[Item]:
    return items_with(options, *sources, data=data, limit=limit)


def items_with(
    options: Mapping[str, OptionValue], *sources: str, data: Path | None = None, limit: int | None = None
) -> list[Item]:
    settings = Settings(models=ModelChoice(model="local"), data=data, limit=limit, options=options)
    return list(family_named("qa").items(sources, settings))


def test_a_question_with_context_is_asked_with_it_and_one_without_from_memory(tmp_path: Path) -> None:
    one, other = items(written(tmp_path, *QUESTIONS))
    assert one.told == "cot-context, exact match, strict match held out"
    assert other.told == "cot, exact match, strict match held out"
    assert one.task.inputs
    assert not other.task.inputs


def test_the_known_answers_are_in_the_fingerprint_and_not_in_the_task(tmp_path: Path) -> None:
    (before,) = items(written(tmp_path, QUESTIONS[1]))
    (same,) = items(written(tmp_path, QUESTIONS[1]))
    (after,) = items(written(tmp_path, {**QUESTIONS[1], "answers": ["1988"]}))
    assert before.task == after.task
    assert before.fingerprint == same.fingerprint != after.fingerprint
    assert "1988" not in repr(before.task)


def test_articles_are_told_and_part_of_the_fingerprint(tmp_path: Path) -> None:
    questions, store = written(tmp_path, QUESTIONS[1]), written(tmp_path, *ARTICLES, name="a.jsonl")
    (one,) = items(questions, mode="react", articles=store)
    written(tmp_path, ARTICLES[1], name="a.jsonl")
    (other,) = items(questions, mode="react", articles=store)
    assert one.told == "react, exact match, strict match held out; closed store of 2 articles"
    assert other.told.endswith("closed store of 1 article")
    assert one.fingerprint != other.fingerprint
    (live,) = items(questions, mode="react", articles="wikipedia")
    assert live.told.endswith("live articles of https://en.wikipedia.org/w/api.php")


def test_the_strict_match_can_be_the_verdict_of_the_loop(tmp_path: Path) -> None:
    (item,) = items(written(tmp_path, QUESTIONS[1]), match="strict")
    assert item.told == "cot, strict match"


def test_a_limit_counts_over_all_sources_and_reads_no_further(tmp_path: Path) -> None:
    first = written(tmp_path, *QUESTIONS)
    broken = written(tmp_path, {**QUESTIONS[0], "id": "c"}, {"id": 1}, name="more.jsonl")
    assert [item.task.id for item in items(first, broken, limit=3)] == ["a", "b", "c"]


WRONG: dict[str, tuple[dict[str, OptionValue], str]] = {
    "an unknown mode": ({"mode": "tot"}, "--mode takes cot, cot-context, react, found 'tot'"),
    "an unknown match": ({"match": "fuzzy"}, "--match takes official, f1, strict, found 'fuzzy'"),
    "context that is missing": ({"mode": "cot-context"}, "'b' has no context"),
    "no articles": ({"mode": "react"}, "give --articles FILE.jsonl or --articles wikipedia"),
    "articles without react": ({"articles": "x.jsonl"}, "--articles is for --mode react"),
    "steps without react": ({"mode": "cot", "max_steps": 3}, "--max-steps is for --mode react"),
    "no steps": ({"mode": "react", "articles": "wikipedia", "max_steps": 0}, "--max-steps takes a number from 1"),
    "too many examples": ({"examples": 7}, "there are 0 to 6 worked examples for this mode, found 7"),
    "a store that is not there": ({"mode": "react", "articles": "none.jsonl"}, "none.jsonl: cannot be read"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_refused_in_one_line(options: dict[str, OptionValue], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        items_with(options, written(tmp_path, *QUESTIONS))
    assert message in str(caught.value)


def test_a_wrong_source_is_refused(tmp_path: Path) -> None:
    for source, message in (
        (str(tmp_path), "found a folder"),
        (str(tmp_path / "none.jsonl"), "No such file"),
        ("hotpotqa-dev", "unknown benchmark 'hotpotqa-dev'"),
    ):
        with pytest.raises(InputError, match=message):
            items(source, data=tmp_path)


def test_the_benchmark_belongs_to_the_family_and_brings_its_own_articles(data_dir: Path) -> None:
    assert family_of(["hotpotqa"], None).name == family_of(["hotpotqa-train"], None).name == "qa"
    (item,) = items("hotpotqa", data=data_dir, limit=1, mode="react")
    assert item.told.endswith("closed store of 1,993 articles")
    (item,) = items("hotpotqa", data=data_dir, limit=1)
    assert item.told.startswith("cot-context")


def test_a_second_call_gives_the_same_items_again(tmp_path: Path) -> None:
    source = written(tmp_path, *QUESTIONS)
    one, other = [[(item.task, item.told, item.fingerprint) for item in items(source)] for _ in range(2)]
    assert one == other

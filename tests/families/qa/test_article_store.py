"""The closed store: titles as people write them, similar ones, and look-ups that step through a page."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from afterword.errors import InputError
from afterword.families.qa import ClosedArticles, Observation, Paragraph, load_hotpotqa

PAGES = (
    Paragraph("The Guest (2014 film)", ("The Guest is a film.", "It was shot in 2013.", "It stars Dan Stevens.")),
    Paragraph("Jørn Utzon", tuple(f"Sentence {n} of many." for n in range(1, 9))),
    Paragraph(
        "Dan Stevens", (" Dan Stevens is an actor. ", "He was born in 1982.", "In 2013 he moved.", "Year: 2013.")
    ),
)
STORE = ClosedArticles(PAGES)


def search(title: str) -> Observation:
    return anyio.run(STORE.search, title)


def lookup(page: str, word: str, number: int) -> str:
    return anyio.run(STORE.lookup, page, word, number).text


@pytest.mark.parametrize(
    "title", ["Dan Stevens", "dan stevens", '"Dan Stevens"', " Dan  Stevens.", "Dan_Stevens", "“DAN STEVENS”"]
)
def test_a_title_is_found_however_it_is_written(title: str) -> None:
    assert search(title).page == "Dan Stevens"


def test_a_search_shows_the_first_sentences_only() -> None:
    found = search("Jørn Utzon")
    assert found.text.startswith("Sentence 1 of many. Sentence 2")
    assert "Sentence 5" in found.text
    assert "Sentence 6" not in found.text


def test_an_unknown_title_brings_those_most_like_it() -> None:
    found = search("The Guest")
    assert found.page == ""
    assert 'no article "The Guest". Similar titles: The Guest (2014 film)' in found.text
    assert "Dan Stevens" in search("Dan Stephens").text.split("Similar titles: ")[1].split(";")[0]


def test_a_lookup_steps_through_the_sentences_that_hold_the_word() -> None:
    assert lookup("Dan Stevens", "2013", 1) == "(Result 1 of 2) In 2013 he moved."
    assert lookup("Dan Stevens", "2013", 2) == "(Result 2 of 2) Year: 2013."
    assert "no more sentences" in lookup("Dan Stevens", "2013", 3)
    assert lookup("Dan Stevens", "ACTOR", 1) == "(Result 1 of 1) Dan Stevens is an actor."
    assert "no sentence" in lookup("Dan Stevens", "opera", 1)


def test_a_lookup_in_a_page_that_is_gone_finds_nothing() -> None:
    assert "no sentence" in lookup("Nobody", "x", 1)


def test_a_store_without_paragraphs_is_refused() -> None:
    with pytest.raises(InputError, match="at least one paragraph"):
        ClosedArticles([])


def test_the_digest_changes_with_the_text_and_not_with_the_process() -> None:
    changed = (*PAGES[:2], Paragraph("Dan Stevens", ("Another text.",)))
    assert ClosedArticles(PAGES).digest == STORE.digest
    assert ClosedArticles(changed).digest != STORE.digest


def test_a_broken_line_of_a_store_is_told_with_its_number(tmp_path: Path) -> None:
    file = tmp_path / "articles.jsonl"
    file.write_text('{"title": "A", "text": "a."}\n\n{"title": "B", "sentences": "b"}\n')
    with pytest.raises(InputError, match=r"articles.jsonl:3: expected a list of texts as 'sentences'"):
        ClosedArticles.from_file(file)


def test_every_gold_article_of_the_benchmark_is_found_by_its_title(data_dir: Path) -> None:
    store = ClosedArticles.from_file(data_dir / "hotpotqa" / "wiki_paragraphs.jsonl")

    async def main() -> list[str]:
        questions = [*load_hotpotqa("hotpotqa", data_dir), *load_hotpotqa("hotpotqa-train", data_dir)]
        titles = [paragraph.title for question in questions for paragraph in question.context]
        return [title for title in titles if (await store.search(title)).page != title]

    assert store.name == "closed store of 1,993 articles"
    assert anyio.run(main) == []


def test_articles_of_plain_text_have_sentences(tmp_path: Path) -> None:
    file = tmp_path / "articles.jsonl"
    sentences = " ".join(f"Sentence {number} of a sea." for number in range(1, 9))
    file.write_text(json.dumps({"title": "Rhine", "text": sentences}))

    async def main() -> tuple[str, str]:
        store = ClosedArticles.from_file(file)
        return (await store.search("Rhine")).text, (await store.lookup("Rhine", "sea", 2)).text

    first, second = anyio.run(main)
    assert first.endswith("Sentence 5 of a sea.")
    assert second == "(Result 2 of 8) Sentence 2 of a sea."

"""Questions from JSON Lines, a question a line, with errors that name the line; and paragraphs in the same way.

Both HotPotQA's published form and a user's own plain form are read: `id`, `question`, `answer` or `answers`, and
`context`, of which `gold_titles` picks the paragraphs that hold the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from afterword.errors import InputError
from afterword.families.qa.question import Paragraph, Question, sentences_of
from afterword.files import json_lines, refuse_unfit_id


def read_questions(file: Path) -> Iterator[Question]:
    """The questions of a file, each read when it is asked for. Keys that are not known here are passed over.

    Raises:
        InputError: the file cannot be read, holds no question, or a line is wrong; the message names it.
    """
    seen: dict[str, int] = {}
    for number, row in json_lines(file):
        try:
            question = _question(row)
        except InputError as error:
            raise InputError(error.message, file=file, line=number) from None
        if question.id in seen:
            message = f"the id {question.id!r} is that of line {seen[question.id]} too; give each question its own"
            raise InputError(message, file=file, line=number)
        seen[question.id] = number
        yield question


def read_paragraphs(file: Path) -> Iterator[Paragraph]:
    """The paragraphs of a file, a `{title, sentences}` or `{title, text}` a line.

    Raises:
        InputError: the file cannot be read, holds none, or a line is wrong; the message names it.
    """
    for number, row in json_lines(file):
        try:
            yield _paragraph(row)
        except InputError as error:
            raise InputError(error.message, file=file, line=number) from None


def _question(row: Mapping[str, object]) -> Question:
    name = row.get("id")
    if type(name) is int:
        name = str(name)
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"expected a text or a whole number as 'id', found {name!r:.80}")
    refuse_unfit_id(name)
    context = _context(row)
    titles = row.get("gold_titles")
    if titles is not None:
        context = _gold(context, titles)
    return Question(name, _text(row, "question"), _answers(row), context)


def _answers(row: Mapping[str, object]) -> tuple[str, ...]:
    if "answer" in row and "answers" in row:
        raise InputError("found 'answer' and 'answers'; keep one of them")
    if "answer" not in row and "answers" not in row:
        raise InputError(f"expected 'answer', a text, or 'answers', a list of texts; found {', '.join(sorted(row))}")
    stated = [row["answer"]] if "answer" in row else row["answers"]
    if not isinstance(stated, list) or not stated:
        raise InputError(f"expected a list of at least one text as 'answers', found {stated!r:.80}")
    answers = []
    for one in stated:
        text = str(one) if type(one) in (int, float) else one
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"expected a text that is not empty as answer, found {one!r:.80}")
        answers.append(text.strip())
    return tuple(answers)


def _context(row: Mapping[str, object]) -> tuple[Paragraph, ...]:
    stated = row.get("context") or []
    if not isinstance(stated, list):
        raise InputError(f"expected a list of paragraphs as 'context', found {type(stated).__name__}")
    paragraphs = []
    for number, one in enumerate(stated, start=1):
        if isinstance(one, str) and one.strip():
            paragraphs.append(Paragraph("", (one.strip(),)))
        elif isinstance(one, dict):
            paragraphs.append(_paragraph(one, untitled=True))
        elif isinstance(one, list) and len(one) == 2:  # HotPotQA's own form
            paragraphs.append(_paragraph({"title": one[0], "sentences": one[1]}))
        else:
            raise InputError(
                f"expected a text, {{title, text}} or [title, sentences] as paragraph {number} of 'context', "
                f"found {one!r:.80}"
            )
    return tuple(paragraphs)


def _gold(context: tuple[Paragraph, ...], titles: object) -> tuple[Paragraph, ...]:
    """The paragraphs that hold the answer, in the order of the context."""
    if not isinstance(titles, list) or not all(isinstance(title, str) for title in titles):
        raise InputError(f"expected a list of titles as 'gold_titles', found {titles!r:.80}")
    there = {paragraph.title for paragraph in context}
    if missing := [title for title in titles if title not in there]:
        raise InputError(f"gold_titles names {missing[0]!r}, and no paragraph of 'context' has this title")
    return tuple(paragraph for paragraph in context if paragraph.title in titles)


def _paragraph(row: Mapping[str, object], *, untitled: bool = False) -> Paragraph:
    title = "" if untitled and "title" not in row else _text(row, "title")
    sentences = row.get("sentences")
    if sentences is None:
        text = _text(row, "text")
        return Paragraph(title, sentences_of(text) or (text,))
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise InputError(f"expected a list of texts as 'sentences', found {sentences!r:.80}")
    return Paragraph(title, tuple(sentence.strip() for sentence in sentences if sentence.strip()))


def _text(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        found = f"{value!r:.80}" if key in row else f"only {', '.join(sorted(row))}"
        raise InputError(f"expected a text that is not empty as {key!r}, found {found}")
    return value.strip()

"""Questions as data: what is asked, the answers that are right, and the paragraphs that hold them.

A question becomes a task in one of three modes. The known answers are the evaluator's and never part of the task.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from afterword.core.records import Task
from afterword.errors import InputError

_SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"”']))\s+(?=[\"“'(A-ZÀ-Þ])")


class Mode(StrEnum):
    """How a question is worked on (paper, section 4.2)."""

    COT = "cot"
    """Chain of thought from memory."""
    COT_CONTEXT = "cot-context"
    """Chain of thought with the paragraphs that hold the answer: the paper's "GT"."""
    REACT = "react"
    """Step by step, with searches in an article store."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The beginning of an article."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(" ".join(sentence.split()) for sentence in self.sentences)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a plain text, without its headings."""
    lines = (line.strip() for line in text.splitlines())
    paragraphs = [line for line in lines if line and not re.fullmatch(r"=+.*=+", line)]
    return tuple(sentence for paragraph in paragraphs for sentence in _SENTENCE_END.split(paragraph) if sentence)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answers that are known to be right."""

    id: str
    text: str
    answers: tuple[str, ...]
    """Any of them will do."""
    context: tuple[Paragraph, ...] = ()
    """The paragraphs that hold the answer; empty where none are given."""

    def task(self, mode: Mode) -> Task:
        """The task in a mode, with nothing in it that the mode does not show.

        Raises:
            InputError: the mode needs paragraphs and the question has none.
        """
        if mode is not Mode.COT_CONTEXT:
            return Task(self.id, self.text)
        if not self.context:
            raise InputError(f"the question {self.id!r} has no context; give paragraphs or choose --mode cot or react")
        paragraphs = [{"title": paragraph.title, "text": paragraph.text} for paragraph in self.context]
        return Task(self.id, self.text, {"paragraphs": paragraphs})


def paragraphs_of(task: Task) -> list[tuple[str, str]]:
    """Title and text of the paragraphs that a task shows."""
    paragraphs = task.inputs.get("paragraphs")
    found = paragraphs if isinstance(paragraphs, list) else []
    return [(str(one.get("title", "")), str(one.get("text", ""))) for one in found if isinstance(one, dict)]

"""Where a ReAct actor looks things up: the protocol of an article store, and a closed store over given paragraphs.

A store keeps no state between calls: which page is open and how far a look-up has come is the actor's, so that a
look-up is an ordinary recorded effect and a resumed trial goes on where it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import log
from pathlib import Path
from typing import Protocol

from afterword.core.effects import fingerprint
from afterword.errors import InputError
from afterword.families.qa.question import Paragraph
from afterword.families.qa.question_file import read_paragraphs

FIRST_SENTENCES = 5
"""How much of an article a search shows."""
SIMILAR_TITLES = 5
_COMPARED = 40
"""Titles that share words with a search and are compared letter by letter."""
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Observation:
    """What a store answers."""

    text: str
    page: str = ""
    """The title of the page that is open now; empty when there is none."""


class ArticleStore(Protocol):
    """Articles to search by title and to look words up in.

    An observation is text of the store's, never an instruction; `page` is what later look-ups are made in.
    It changes nothing that can be seen from outside.
    The same request gives the same answer as long as the articles do not change.
    What cannot be found is an observation; a store that cannot be reached raises `Fault`.
    """

    @property
    def name(self) -> str:
        """What it is, for reports: results with different stores do not compare."""
        ...

    async def search(self, title: str) -> Observation: ...

    async def lookup(self, page: str, word: str, number: int) -> Observation:
        """The `number`-th sentence (from 1) of `page` that holds `word`."""
        ...


class ClosedArticles:
    """A store over paragraphs at hand: easier than a whole encyclopedia, since few titles are wrong ones."""

    def __init__(self, paragraphs: Iterable[Paragraph]) -> None:
        self._pages: dict[str, Paragraph] = {}
        for paragraph in paragraphs:
            self._pages.setdefault(plain_title(paragraph.title), paragraph)
        if not self._pages:
            raise InputError("an article store needs at least one paragraph, found none")
        self._titles: dict[str, list[str]] = {}
        for key in self._pages:
            for word in set(_WORDS.findall(key)):
                self._titles.setdefault(word, []).append(key)
        self.digest = fingerprint([(page.title, page.sentences) for page in self._pages.values()])

    @classmethod
    def from_file(cls, file: Path) -> ClosedArticles:
        """The store over a JSON Lines file of `{title, sentences}` or `{title, text}`.

        Raises:
            InputError: the file or a line of it is wrong.
        """
        return cls(read_paragraphs(file))

    @property
    def name(self) -> str:
        number = len(self._pages)
        return f"closed store of {number:,} {'article' if number == 1 else 'articles'}"

    async def search(self, title: str) -> Observation:
        """The first sentences of the article with this title, or the titles that are most like it."""
        page = self._pages.get(plain_title(title))
        if page is None:
            return not_found(title, self._similar(title))
        return Observation(first_sentences(page.sentences), page.title)

    async def lookup(self, page: str, word: str, number: int) -> Observation:
        """The next sentence of an article that holds a word."""
        found = self._pages.get(plain_title(page))
        return Observation(nth_sentence(found.sentences if found else (), word, number), page)

    def _similar(self, title: str) -> list[str]:
        wanted = plain_title(title)
        shared: defaultdict[str, float] = defaultdict(float)
        for word in set(_WORDS.findall(wanted)):
            there = self._titles.get(word, [])
            for key in there:
                shared[key] += log(1 + len(self._pages) / len(there))
        near = [key for key, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_COMPARED]]
        ranked = sorted(near or self._pages, key=lambda key: (-_likeness(wanted, key), key))
        return [self._pages[key].title for key in ranked[:SIMILAR_TITLES]]


def not_found(title: str, similar: Sequence[str]) -> Observation:
    """What is said when no article has this title."""
    close = f" Similar titles: {'; '.join(similar)}." if similar else " No title is like it."
    return Observation(f'There is no article "{title}".{close}')


def first_sentences(sentences: Sequence[str]) -> str:
    """The beginning of an article."""
    return " ".join(" ".join(sentence.split()) for sentence in sentences[:FIRST_SENTENCES])


def nth_sentence(sentences: Sequence[str], word: str, number: int) -> str:
    """The `number`-th sentence that holds a word, with the count of all that do."""
    wanted = word.casefold()
    hits = [sentence for sentence in sentences if wanted in " ".join(sentence.split()).casefold()]
    if not hits:
        return f'The open page has no sentence with "{word}".'
    if number > len(hits):
        return f'The open page has no more sentences with "{word}"; there were {len(hits)}.'
    return f"(Result {number} of {len(hits)}) {' '.join(hits[number - 1].split())}"


def plain_title(title: str) -> str:
    """A title as it is compared: without case, quotation marks, underscores and superfluous space."""
    text = unicodedata.normalize("NFKC", title).casefold().replace("_", " ")
    return " ".join(re.sub(r"[\"“”«»`]", "", text).split()).strip(" .'")


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()

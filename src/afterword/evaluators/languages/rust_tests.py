"""Rust tests as a crate of their own: each check marked, so that it reports itself when it has passed.

Apart from how the solution is linked (`rust_link`): this is about the tests alone, and is done once for all trials.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from afterword.errors import BadTests, NoTests
from afterword.evaluators.languages.protocol import TestFile
from afterword.evaluators.languages.rust_text import ITEM_WORDS, Item, Token, changed, close_of, items_of, tokens_of

HARNESS = "afterword_harness"
_ASSERT = re.compile(r"(?:debug_)?assert\w*\Z")
_BLOCK_WORDS = frozenset({"for", "while", "loop", "if", "match", "unsafe", "{"})
_OTHER_RUNNERS = re.compile(r"(?:\w+::)+test\b|rstest|test_case|test_matrix|quickcheck|bench")
_MAX_STATEMENT = 300


def read_tests(text: str, entry_point: str, signature: str | None, file: Path | None) -> TestFile:
    """The checks of a test file: asserts in `fn main`, functions marked `#[test]`.

    Raises:
        BadTests: it uses what is not supported; the message names it.
        NoTests: it defines no check.
    """
    reader = _Reader(text, file)
    code = reader.marked()
    if not reader.check_ids:
        raise NoTests("the tests define no check; add a #[test] function, or asserts in fn main", file=file)
    if len(set(reader.check_ids)) < len(reader.check_ids):
        raise BadTests("two tests have the same name or stand on one line; part them", file=file)
    return TestFile(
        text, entry_point, signature, tuple(reader.check_ids), code, reader.statements, tuple(reader.shared_state)
    )


class _Reader:
    """One pass over a test file; collects the checks, and the changes that mark them."""

    def __init__(self, text: str, file: Path | None) -> None:
        self._text = text
        self._file = file
        self._tokens = tokens_of(text)
        self._changes: list[tuple[int, int, str]] = []
        self._functions: list[tuple[str, str]] = []
        self._main: Item | None = None
        self.check_ids: list[str] = []
        self.statements: dict[str, str] = {}
        self.shared_state: list[str] = []

    def marked(self) -> str:
        """The tests with their checks marked and a `main` that runs them, and the ids in the order of the marks."""
        self._read_items(items_of(self._tokens), ())
        sections = []
        if self._main is not None:
            self._read_main(self._main)
            sections.append(f"    {HARNESS}::section({HARNESS}_main);")
        for check_id, code in self._functions:
            sections.append(f"    {HARNESS}::check({len(self.check_ids)}, || {code});")
            self.check_ids.append(check_id)
        self._take_program_paths()
        lines = ["fn main() {", f"    {HARNESS}::begin();", *sections, f"    {HARNESS}::end()", "}"]
        return changed(self._text, self._changes) + "\n" + "\n".join(lines) + "\n"

    def _read_items(self, items: Iterable[Item], path: tuple[str, ...]) -> None:
        for item in items:
            tested = self._read_attributes(item)
            if item.word == "mod" and item.body is not None:
                self._open(item)
                inside = items_of(self._tokens, item.body + 1, close_of(self._tokens, item.body))
                self._read_items(inside, (*path, item.name))
            elif item.word == "fn" and tested is not None:
                self._open(item)
                name = "::".join((*path, item.name))
                self._functions.append((name, tested.format(name=name)))
            elif item.word == "fn" and item.name == "main" and not path:
                self._main = item
            elif item.word == "static" and self._tokens[item.start + 1].text == "mut":
                self.shared_state.append(f"static mut {item.name}")
            elif item.word == "extern" and self._texts(item.start, item.last)[:3] == ["extern", "crate", "solution"]:
                self._replace(item.first, item.last, "")

    def _read_attributes(self, item: Item) -> str | None:
        """How a test function is called, or None for other items; its attributes are taken out of the text."""
        called = None
        panics = ""
        for attribute in item.attributes:
            if attribute == "test":
                called = f"{HARNESS}::outcome({{name}}())"
            elif attribute.startswith("should_panic"):
                expected = re.search(r'"(?:[^"\\]|\\.)*"', attribute)
                panics = f"Some({expected.group()})" if expected else "None"
            elif attribute.startswith("ignore"):
                self._fail("skipped tests (#[ignore]) are not supported; remove the test or the attribute", item)
            elif _OTHER_RUNNERS.match(attribute):
                self._fail(f"the attribute #[{attribute}] is not supported; write a plain #[test] function", item)
        if called is None and not (item.word == "mod" and any(a.startswith("cfg(test") for a in item.attributes)):
            return None
        if item.word == "fn" and "async" in self._texts(item.start, item.start + 3):
            self._fail(f"the asynchronous test {item.name!r} is not supported; block on the future inside", item)
        if item.first < item.start:
            kept = [f"#[{a}]" for a in item.attributes if a.startswith(("allow", "rustfmt"))]
            first, last = self._tokens[item.first].start, self._tokens[item.start].start
            lines = "\n" * self._text.count("\n", first, last)  # so that messages name the lines of the file
            self._changes.append((first, last, "".join(kept) + lines))
        if called is not None and panics:
            return f"{HARNESS}::must_panic({{{{ let expected: Option<&str> = {panics}; expected }}}}, || {called})"
        return called

    def _read_main(self, main: Item) -> None:
        """Each assert of `main`, or loop or block that holds some, is a check; without any the whole is one."""
        tokens = self._tokens
        if main.body is None or "->" in self._texts(main.start, main.body):
            self._fail("fn main has to return nothing; write #[test] functions for tests that return a Result", main)
        end = close_of(tokens, main.body)
        name = next(i for i in range(main.start, main.body) if tokens[i].text == "main")
        self._replace(name, name, f"{HARNESS}_main")
        first_check = len(self.check_ids)
        for first, last in _statements(tokens, main.body + 1, end):
            if tokens[first].text == "let":
                if tokens[first + 1].text == "mut":
                    self.shared_state.append(f"let mut {tokens[first + 2].text} in fn main")
            elif tokens[first].text not in ITEM_WORDS and self._asserts(first, last):
                self._mark(first, last)
        if len(self.check_ids) == first_check and end > main.body + 1:
            self._mark(main.body + 1, end - 1, "main")

    def _asserts(self, first: int, last: int) -> bool:
        tokens = self._tokens
        return any(_ASSERT.match(tokens[i].text) and tokens[i + 1].text == "!" for i in range(first, last))

    def _mark(self, first: int, last: int, check_id: str = "") -> None:
        start, end = self._tokens[first].start, self._tokens[last].end
        statement = " ".join(self._text[start:end].split())
        check_id = check_id or f"main:L{self._text.count(chr(10), 0, start) + 1}"
        self._changes.append((start, start, f"{HARNESS}::check({len(self.check_ids)}, || {{ "))
        self._changes.append((end, end, " });"))
        self.check_ids.append(check_id)
        if check_id != "main":
            cut = statement if len(statement) <= _MAX_STATEMENT else f"{statement[:_MAX_STATEMENT]} […]"
            self.statements[check_id] = cut

    def _take_program_paths(self) -> None:
        """`solution::f` names the module that `rust_link` writes, from wherever in the tests."""
        tokens = self._tokens
        for at, token in enumerate(tokens[:-1]):
            before = tokens[at - 1].text if at else ""
            is_path = tokens[at + 1].text == "::" or (before == "use" and tokens[at + 1].text in (";", "as"))
            if token.text == "solution" and is_path and before not in (".", "crate"):
                start = token.start
                if before == "::" and (at < 2 or tokens[at - 2].kind != "name"):
                    start = tokens[at - 1].start
                elif before == "::":
                    continue
                self._changes.append((start, token.end, "crate::solution"))

    def _open(self, item: Item) -> None:
        if not item.public:
            place = self._tokens[item.start].start
            self._changes.append((place, place, "pub "))

    def _replace(self, first: int, last: int, text: str) -> None:
        self._changes.append((self._tokens[first].start, self._tokens[last].end, text))

    def _texts(self, first: int, last: int) -> list[str]:
        return [token.text for token in self._tokens[first : last + 1]]

    def _fail(self, message: str, item: Item) -> NoReturn:
        line = self._text.count("\n", 0, self._tokens[item.start].start) + 1
        raise BadTests(message, file=self._file, line=line)


def _statements(tokens: list[Token], first: int, end: int) -> Iterator[tuple[int, int]]:
    """The statements of a body, as indices of their first and last token."""
    at = first
    while at < end:
        last = _end_of_statement(tokens, at, end)
        yield at, last
        at = last + 1


def _end_of_statement(tokens: list[Token], first: int, end: int) -> int:
    depth = tokens[first].depth
    head = tokens[first].text if tokens[first].kind != "lifetime" else tokens[min(first + 2, end)].text
    is_block = head in _BLOCK_WORDS or (head in ITEM_WORDS and head not in ("const", "static", "use"))
    at = first
    while at < end:
        token = tokens[at]
        if token.depth == depth and token.text == ";":
            return at
        if token.depth == depth and token.text in ("(", "[", "{"):
            at = close_of(tokens, at)
            following = tokens[at + 1].text if at + 1 < end else ""
            closes_macro = tokens[first + 1].text == "!" and token.text == "{"
            if token.text == "{" and (is_block or closes_macro) and following not in ("else", ".", "?", ";"):
                return min(at, end - 1)
        at += 1
    return end - 1

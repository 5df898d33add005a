"""Rust source as tokens: enough to find items, statements and brackets, without understanding a type.

Apart from what uses it, which makes test programs. It never runs long: one pass, each character looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<line_comment>//[^\n]*)
      | (?P<block_comment>/\*)
      | (?P<raw>\b(?:br|cr|r)(?P<hashes>\#*)")
      | (?P<text>(?:\b[bc])?"(?:[^"\\]|\\.)*(?:"|\\?\Z))
      | (?P<char>(?:\bb)?'(?:[^'\\\n]|\\(?:u\{[0-9a-fA-F_]{1,8}\}|x[0-9a-fA-F]{2}|[^\n]))')
      | (?P<lifetime>'(?:r\#)?[^\W\d]\w*)
      | (?P<name>(?:r\#)?[^\W\d]\w*)
      | (?P<number>\d[\w]*(?:\.\d[\w]*)?)
      | (?P<mark>::|->|=>|.)""",
    re.VERBOSE | re.DOTALL,
)
_PREAMBLE = re.compile(r"\ufeff?(?:#!(?!\s*\[)[^\n]*)?")
"""A byte order mark, and a line for a shell."""
_COMMENT_EDGE = re.compile(r"/\*|\*/")
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())
ITEM_WORDS = frozenset(
    {"fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "use", "impl", "extern", "macro_rules"}
)
NAMING_WORDS = ("fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod")
"""Words before the name of an item that another crate can use."""
QUALIFIERS = frozenset({"const", "async", "unsafe", "extern", "safe", "default", "auto"})


@dataclass(frozen=True, slots=True)
class Token:
    """A name, number, literal, lifetime or mark; comments and space are left out."""

    text: str
    start: int
    depth: int
    """Brackets that are open around it; a bracket itself is outside of what it encloses."""
    kind: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(source: str) -> list[Token]:
    """The tokens of a program; what no program can hold is taken as marks."""
    found: list[Token] = []
    preamble = _PREAMBLE.match(source)
    depth, position = 0, preamble.end() if preamble else 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:  # cannot happen: any character is a mark
            break
        kind, end = str(match.lastgroup if match.lastgroup != "hashes" else "raw"), match.end()
        if kind == "block_comment":
            end = _comment_end(source, position)
        elif kind == "raw":
            close = source.find('"' + match["hashes"], end)
            end = len(source) if close < 0 else close + 1 + len(match["hashes"])
        if kind not in ("space", "line_comment", "block_comment"):
            text = source[position:end]
            depth -= text in CLOSING
            found.append(Token(text, position, max(depth, 0), kind))
            depth = max(depth, 0) + (text in OPENING)
        position = end
    return found


def _comment_end(source: str, start: int) -> int:
    depth, position = 0, start
    while edge := _COMMENT_EDGE.search(source, position):
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
        if depth == 0:
            return position
    return len(source)


def close_of(tokens: Sequence[Token], at: int) -> int:
    """The index of the bracket that closes the one at `at`; the last index where none does."""
    depth = tokens[at].depth
    return next((i for i in range(at + 1, len(tokens)) if tokens[i].depth == depth and tokens[i].text in CLOSING),
                len(tokens) - 1)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a module, from its first attribute to its end, as indices of tokens."""

    word: str
    """`fn`, `struct`, `mod`, …, or `macro` for a call of one."""
    name: str
    first: int
    start: int
    """The first token after its attributes."""
    body: int | None
    """The opening brace of its body, where it has one."""
    last: int
    attributes: tuple[str, ...]
    public: bool


def items_of(tokens: Sequence[Token], first: int = 0, last: int | None = None) -> Iterator[Item]:
    """The items among some tokens, which are those of a file or of a module's body."""
    end = len(tokens) if last is None else last
    at = first
    while at < end:
        begin = at
        attributes: list[str] = []
        while at + 1 < end and tokens[at].text == "#":
            bracket = at + 1 + (tokens[at + 1].text == "!")
            if bracket >= end or tokens[bracket].text != "[":
                break
            close = close_of(tokens, bracket)
            attribute = "".join(token.text for token in tokens[bracket + 1 : close])
            at = close + 1
            if bracket == begin + 2:  # of the module, not of an item
                begin = at
                attributes = []
            else:
                attributes.append(attribute)
        if at >= end:
            return
        item = _item(tokens, begin, at, end, tuple(attributes))
        yield item
        at = item.last + 1


def _item(tokens: Sequence[Token], begin: int, start: int, end: int, attributes: tuple[str, ...]) -> Item:
    depth = tokens[start].depth
    at = start
    public = tokens[at].text == "pub"
    if public:
        at += 1
        if at < end and tokens[at].text == "(":
            at = close_of(tokens, at) + 1
    word, name = _word_and_name(tokens, at, end)
    body = None
    while at < end:
        text = tokens[at].text
        if tokens[at].depth == depth and text == ";":
            break
        if tokens[at].depth == depth and text == "{" and word != "use":
            body, at = at, close_of(tokens, at)
            if word not in ("const", "static", "type"):
                break
        elif tokens[at].depth == depth and text in OPENING:
            at = close_of(tokens, at)
        at += 1
    return Item(word, name, begin, start, body, min(at, end - 1), attributes, public)


def _word_and_name(tokens: Sequence[Token], at: int, end: int) -> tuple[str, str]:
    while at < end:
        text = tokens[at].text
        if text == "const" and at + 1 < end and tokens[at + 1].text in ("fn", "unsafe", "async", "extern"):
            at += 1
        elif text == "extern" and at + 1 < end and tokens[at + 1].text == "crate":
            return "extern", ""
        elif text in QUALIFIERS - {"const"} or tokens[at].kind == "text":
            at += 1
        elif text in ITEM_WORDS:
            following = tokens[at + 1] if at + 1 < end else None
            if text == "static" and following is not None and following.text == "mut":
                following = tokens[at + 2] if at + 2 < end else None
            named = text in NAMING_WORDS and following is not None and following.kind == "name"
            return text, following.text if named and following is not None else ""
        else:
            return "macro", ""
    return "macro", ""


def public_names(source: str) -> frozenset[str]:
    """The names of a program's top-level items."""
    return frozenset(item.name for item in items_of(tokens_of(source)) if item.name)


def with_public_items(source: str) -> str:
    """The same program with its top-level items and the methods of its types open to another crate.

    A model writes `fn f` where the tests are in the same file; here they are not.
    """
    tokens = tokens_of(source)
    opened: list[Item] = []
    for item in items_of(tokens):
        if item.word in NAMING_WORDS and item.name:
            opened.append(item)
        if item.word == "impl" and item.body is not None:
            head = [token.text for token in tokens[item.start : item.body] if token.depth == tokens[item.start].depth]
            if "for" not in head:
                methods = items_of(tokens, item.body + 1, close_of(tokens, item.body))
                opened += [method for method in methods if method.name]
    return changed(source, [change for item in opened if (change := _opening(tokens, item)) is not None])


def _opening(tokens: Sequence[Token], item: Item) -> tuple[int, int, str] | None:
    """The change that makes an item public; None where it is."""
    first = tokens[item.start]
    if not item.public:
        return first.start, first.start, "pub "
    if tokens[item.start + 1].text != "(":
        return None
    return first.end, tokens[close_of(tokens, item.start + 1)].end, ""  # pub(crate) and the like


def changed(source: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The text with parts replaced: (start, end, new text), none inside of another; in order where places are equal."""
    parts, position = [], 0
    for start, end, text in sorted(changes, key=lambda change: (change[0], change[1])):
        parts += [source[position:start], text]
        position = end
    return "".join([*parts, source[position:]])

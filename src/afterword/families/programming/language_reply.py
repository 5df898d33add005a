"""The program in a model's reply, in a language other than Python, byte for byte where it stands whole in a block.

Apart from the extraction of Python programs, which looks deep into odd forms of replies: here tags, fences and the name
of the entry point tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from afterword.core.thinking import strip_end_of_turn, strip_thinking
from afterword.evaluators.languages import Language
from afterword.families.programming import wrappers
from afterword.families.programming.extraction import MAX_REPLY_CHARS
from afterword.families.programming.fences import NEUTRAL, Block, find_blocks

_FIRST_LINE = re.compile(
    r"(?:use|pub|fn|#!?\[|//|/\*|struct|enum|impl|const|static|mod|type|trait|async|unsafe|extern|macro_rules!"
    r"|function|class|let|var|export|import|module\.|['\"]use strict)(?!\w)"
)


def extract_program(reply: str, language: Language, entry_point: str, signature: str | None) -> str | None:
    """The program that a reply gives for `entry_point`, or None when it holds no code.

    Where several blocks define the entry point the last one counts. With `signature` a bare body gets its head,
    and a program gets the imports that only the signature has.
    """
    if len(reply) > MAX_REPLY_CHARS:
        return None
    text = strip_thinking(strip_end_of_turn(reply.removeprefix("\ufeff").replace("\r\n", "\n")))
    blocks = [block for block in find_blocks(text) if block.text.strip()]
    for tier in _tiers(text, blocks, language):
        if found := [code for code in tier if language.defines(code, entry_point)]:
            return language.complete(found[-1], signature) if signature else found[-1]
    tagged = [block.text for block in blocks if _is_tagged(block, language)]
    rest = tagged or [block.text for block in blocks if not block.language]
    if not rest:
        return None
    return language.complete(rest[-1], signature) if signature else rest[-1]


def _tiers(text: str, blocks: list[Block], language: Language) -> Iterator[list[str]]:
    yield [block.text for block in blocks if block.closed and _is_tagged(block, language)]
    yield [block.text for block in blocks if _is_tagged(block, language)]
    yield [block.text for block in blocks if not block.language or block.language in NEUTRAL]
    for string in wrappers.strings_in_json(text):
        inner = find_blocks(string)
        yield [block.text for block in inner] or [string]
    if not blocks:
        yield [_bare(text)]


def _is_tagged(block: Block, language: Language) -> bool:
    return block.language in language.fences or block.language.endswith(language.suffix)


def _bare(text: str) -> str:
    """A reply without fences, without the prose around its code."""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _FIRST_LINE.match(line)), 0)
    last = next((at for at in range(len(lines) - 1, first, -1) if re.search(r"[};]\s*\Z", lines[at])), len(lines) - 1)
    return "\n".join(lines[first : last + 1]) + "\n"

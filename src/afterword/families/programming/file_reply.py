"""The text of one file in a model's reply, in whatever language the file is.

Apart from the extraction of Python programs, which knows what a program looks like: here only fences and tags tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from afterword.core.thinking import strip_end_of_turn, strip_thinking
from afterword.families.programming.extraction import MAX_REPLY_CHARS, extract_code
from afterword.families.programming.fences import Block, find_blocks

_SHORT = {
    "javascript": {"js", "node", "mjs"},
    "typescript": {"ts"},
    "bash": {"sh", "shell", "zsh"},
    "rust": {"rs"},
    "cpp": {"c++", "cc"},
    "go": {"golang"},
    "ruby": {"rb"},
    "yaml": {"yml"},
    "perl": {"pl"},
}  # fmt: skip
_OUTPUTS = frozenset({"text", "txt", "console", "output", "diff", "patch"})
_SENTENCE = re.compile(r"^[A-Z][^\n]*[.:]$", re.MULTILINE)


def extract_file(reply: str, file: str, language: str, entry_point: str) -> str | None:
    """The text of a file that a reply gives, or None when it holds none.

    The last closed block in the file's language counts, else the last one without a language.
    """
    if language == "python":
        return extract_code(reply, entry_point, None)
    if len(reply) > MAX_REPLY_CHARS:
        return None
    text = strip_thinking(strip_end_of_turn(reply.removeprefix("\ufeff").replace("\r\n", "\n")))
    all_blocks = find_blocks(text)
    blocks = [block for block in all_blocks if block.closed and block.text.strip()]
    tags = {language, *_SHORT.get(language, ()), PurePosixPath(file).suffix.lower().lstrip(".")} - {""}
    tiers: tuple[Callable[[Block], bool], ...] = (
        lambda block: block.language in tags or _names(block.language, file),
        lambda block: block.language == "",
        lambda block: block.language not in _OUTPUTS,
    )
    for tier in tiers:
        if found := [block.text for block in blocks if tier(block)]:
            return found[-1]
    bare = text.strip() and not all_blocks and not _SENTENCE.search(text)
    return text if bare else None


def _names(tag: str, file: str) -> bool:
    return bool(tag) and (tag == file.lower() or tag.endswith(f":{file.lower()}"))

"""The fenced blocks of a reply, byte for byte.

Markdown alone cannot say where a Python block ends: a docstring may hold fences of its own. So in a block that
may be Python a closing fence counts only outside strings and comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterword.families.programming.python_text import find_outside_strings

PYTHON = frozenset(
    {"", "python", "python3", "python2", "py", "py3", "ipython", "ipython3", "pycon", "python-repl", "sage"}
)
NEUTRAL = frozenset(
    {"text", "txt", "plaintext", "plain", "code", "console", "output", "none", "pseudocode", "tool_code"}
)
DIFF = frozenset({"diff", "patch", "udiff"})
JSON = frozenset({"json", "jsonc", "json5", "jsonl"})

MAX_BLOCKS = 256
"""More blocks than any honest reply has; bounds the work on a hostile one."""

_OPEN = re.compile(
    r"""^(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)$
       |^[^\n`]*[^\n`\w](?P<mark2>`{3,})(?P<info2>[ \t]*[\w+-]*)[ \t]*$""",
    re.MULTILINE | re.VERBOSE,
)
_SPAN = re.compile(r"(?<!`)(?P<mark>`+)(?!`)(?P<body>[^`\n]+)(?P=mark)(?!`)")
_LANGUAGE = re.compile(r"[^\s:{},;=(]+")
_QUOTED = re.compile(r"(?:^[ \t]*>(?!>>)[^\n]*(?:\n|\Z))+", re.MULTILINE)
_FILE_NAME = re.compile(r"[\w./-]+\.pyi?\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its text, its language in lower case, and whether a fence closes it."""

    text: str
    language: str
    closed: bool


def find_blocks(reply: str) -> list[Block]:
    """The fenced blocks in their order; the last one may be open."""
    text = _unquote(reply)
    blocks: list[Block] = []
    position = 0
    while len(blocks) < MAX_BLOCKS and (opening := _OPEN.search(text, position)):
        mark = opening["mark"] or opening["mark2"]
        info = opening["info"] if opening["mark"] else opening["info2"]
        language, first_line = _read_info(info)
        start = min(opening.end() + 1, len(text))
        depth = len(opening["lead"] or "") + 3
        end, position = _find_close(text, start, mark, language, depth)
        closed = end is not None
        body = text[start : end if end is not None else len(text)]
        body = first_line + _outdent(body, opening["lead"] or "")
        if not language:
            language, body = _read_label(body)
        blocks.append(Block(body.removeprefix("\ufeff"), language, closed))
    return blocks


def inline_spans(reply: str) -> list[str]:
    """The code spans that stand within a line, without their backticks and language."""
    spans = [match["body"] for match in _SPAN.finditer(reply)]
    return [re.sub(r"\A(?:python3?|py)[ \t]+", "", span).strip() for span in spans]


def _unquote(reply: str) -> str:
    """Takes the `>` off quoted passages that hold a fence."""

    def bare(match: re.Match[str]) -> str:
        passage = match.group()
        if "```" not in passage and "~~~" not in passage:
            return passage
        return re.sub(r"^[ \t]*>[ \t]?", "", passage, flags=re.MULTILINE)

    return _QUOTED.sub(bare, reply) if ">" in reply else reply


def _read_info(info: str) -> tuple[str, str]:
    """The language of an info string, and the program text that was put on the fence's own line."""
    info = info.strip()
    match = _LANGUAGE.search(info)
    word = match.group().lower().strip(".") if match else ""
    rest = info[match.end() :].strip() if match else ""
    if word in {"def", "import", "from", "class", "async", "@"} and rest:
        return "python", info + "\n"
    if re.match(r"(?:def|import|from|class|async|@)\b", rest):
        return word, rest + "\n"
    return ("python" if _FILE_NAME.match(word) else word), ""


def _read_label(body: str) -> tuple[str, str]:
    """A bare fence with the language alone on the first line inside."""
    first, newline, rest = body.partition("\n")
    label = first.strip().lower()
    return ("python", rest) if newline and label in PYTHON - {""} else ("", body)


def _find_close(text: str, start: int, mark: str, language: str, depth: int) -> tuple[int | None, int]:
    """Where the block's text ends and where the search for the next one goes on.

    A closing line is indented by `depth` at most; deeper ones belong to the text, as in Markdown.
    """
    line = re.compile(rf"^[ \t]{{0,{depth}}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    if language in PYTHON or language in NEUTRAL:
        run = re.compile(rf"{re.escape(mark[0])}{{{len(mark)},}}")
        if found := find_outside_strings(text, run, start):
            line_start = text.rfind("\n", 0, found.start()) + 1
            alone = line_start >= start and not text[line_start : found.start()].strip()
            line_end = text.find("\n", found.end())
            return (line_start if alone else found.start()), (line_end if line_end >= 0 else len(text))
    if found := line.search(text, start):
        return found.start(), found.end()
    return None, len(text)


def _outdent(body: str, lead: str) -> str:
    """Takes the fence's indentation off each line, as far as the lines have it."""
    width = len(lead.expandtabs(4))
    if not width:
        return body
    lines = body.split("\n")
    first = next((line for line in lines if line.strip()), "")
    blank = re.sub(r"\S", " ", lead)
    if first.startswith(blank):
        return "\n".join(
            line.removeprefix(blank) if line.startswith(blank) else _strip_up_to(line, width) for line in lines
        )
    return body if not first.startswith((" ", "\t")) else "\n".join(_strip_up_to(line, width) for line in lines)


def _strip_up_to(line: str, width: int) -> str:
    taken = 0
    while taken < min(width, len(line)) and line[taken] in " \t":
        taken += 1
    return line[taken:]

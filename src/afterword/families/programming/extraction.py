"""The program in a model's reply, byte for byte.

The reply is searched in tiers, from the plainest form of an answer to the most wrapped one; within a tier the last
complete program that defines the entry point wins. Whatever cannot be read as a program is reported as no code and
never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from afterword.core.thinking import strip_end_of_turn, strip_thinking
from afterword.families.programming import fences, wrappers
from afterword.families.programming.python_text import (
    blank_strings,
    defines,
    defines_inside,
    is_statement,
    is_stub,
    looks_like_program,
    mentions,
    offered_names,
)

MAX_REPLY_CHARS = 200_000
"""A longer reply is no program that anyone asked for."""


def extract_code(reply: str, entry_point: str, signature: str | None = None) -> str | None:
    """The program that a reply gives for `entry_point`, or None when it holds no code.

    With `signature` a reply that gives the body alone is completed by it, and imports and helpers that stand in the
    signature are put before a program that lacks them. A program that defines other names than
    the entry point is returned too: its verdict says what is missing.
    """
    if len(reply) > MAX_REPLY_CHARS:
        return None
    code = _extract(reply, entry_point, signature)
    return _with_prelude(code, signature, entry_point) if code is not None and signature else code


def _extract(reply: str, entry_point: str, signature: str | None) -> str | None:
    text = strip_end_of_turn(reply.removeprefix("\ufeff").replace("\r\n", "\n"))
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if found := _choose([_unwrap(string, entry_point) for string in wrappers.strings_in_json(text)], entry_point):
        return found
    text = strip_thinking(text)
    if not text.strip():
        return None
    blocks = fences.find_blocks(text)
    for tier in _tiers(text, blocks, entry_point):
        if found := _choose(tier, entry_point):
            return found
    if signature and (body := _body(text, blocks)) is not None:
        return complete(signature, body)
    return _any_program(text, blocks)


def _with_prelude(code: str, signature: str, entry_point: str) -> str:
    """Puts what a signature gives before the definition in front of a program that lacks it."""
    start = re.search(rf"^(?:@|(?:async[ \t]+)?def[ \t]+{re.escape(entry_point)}\b|class\b)", signature, re.MULTILINE)
    prelude = signature[: start.start()].strip("\n") if start else ""
    if not prelude.strip() or not defines(code, entry_point):
        return code
    missing = offered_names(prelude) - offered_names(code)
    given = set(re.findall(r"^def[ \t]+(\w+)", blank_strings(prelude), re.MULTILINE))  # the tests may call these
    if any(name in given or mentions(code, name) for name in missing):
        return f"{prelude}\n\n\n{code}"
    return code


def complete(signature: str, body: str) -> str:
    """The function that a signature and a body make; a body at the left edge is indented."""
    head = signature.rstrip()
    if not re.search(r"^(?:async\s+)?(?:def|class)\b", head, re.MULTILINE):
        head = f"def {head}"
    if not re.search(r":\s*(?:#[^\n]*)?\Z|[\"']{3}\Z", head):
        head += ":"
    lines = body.strip("\n").split("\n")
    if not lines[0].startswith((" ", "\t")):
        # A chat trims the first line: the others show whether the body was indented.
        rest = [line for line in lines[1:] if line.strip()]
        trimmed = (
            bool(rest) and all(line.startswith((" ", "\t")) for line in rest) and not lines[0].rstrip().endswith(":")
        )
        lines = (
            [f"    {lines[0]}", *lines[1:]] if trimmed else [f"    {line}" if line.strip() else line for line in lines]
        )
    end = "\n" if body.endswith("\n") or "\n" in body else ""
    return f"{head}\n" + "\n".join(lines) + end


def _tiers(text: str, blocks: list[fences.Block], entry_point: str) -> Iterator[list[str]]:
    """Candidate programs, the most trusted form of answer first; lazily, since most replies end at once."""
    yield [_unwrap(string, entry_point) for string in wrappers.strings_in_json(text)]
    closed = [block.text for block in blocks if block.closed and _may_be_python(block)]
    yield _with_parts(closed, entry_point)
    yield _with_parts([_without_prose(block, entry_point) for block in blocks if _may_be_python(block)], entry_point)
    yield [
        _unwrap(string, entry_point)
        for block in blocks
        if block.language in fences.JSON or not block.language
        for string in wrappers.strings_in_json(block.text)
    ]
    yield [code for block in blocks if (code := _unwrap_block(block)) is not None]
    yield [_unwrap(body, entry_point) for body in wrappers.from_markup(text)]
    yield wrappers.from_quotes(text)
    if any(not _may_be_python(block) and defines_inside(block.text, entry_point) for block in blocks):
        pass  # what stands in a diff or in another language is not to be read as bare Python
    elif wrappers.is_session(text):
        yield [wrappers.from_session(text) or ""]
    elif wrappers.is_diff(text, tagged=False):
        yield [wrappers.new_side(text) or ""]
    else:
        yield _unfenced(text, _definition(entry_point))
        yield _unfenced(text, rf"{re.escape(entry_point)}[ \t]*(?::[^=\n]+)?=(?!=)")
        yield _unfenced(text, rf"(?:from[ \t]+\S+[ \t]+)?import[ \t]+[^\n]*\b{re.escape(entry_point)}\b")
    yield [_unwrap(string, entry_point) for string in wrappers.strings_in_embedded_json(text)]
    yield fences.inline_spans(text)


def _definition(entry_point: str) -> str:
    return rf"(?:async[ \t]+def|def|class)[ \t]+{re.escape(entry_point)}[ \t]*[\[(:]"


def _without_prose(block: fences.Block, entry_point: str) -> str:
    """The text of a block; one whose closing fence was forgotten ends where prose begins."""
    edge = [line for line in block.text.split("\n") if line.strip() and not line.startswith((" ", "\t"))]
    if block.closed or not edge or is_statement(edge[-1]):
        return block.text
    return next(iter(_unfenced(block.text, _definition(entry_point))), block.text)


def _choose(candidates: list[str], entry_point: str) -> str | None:
    """The last candidate that defines the entry point; a stub or a nested definition only for want of better."""
    real = [code for code in candidates if code.strip()]
    at_top = [code for code in real if defines(code, entry_point)]
    full = [code for code in at_top if not is_stub(code, entry_point)]
    for ranked in (full, at_top, [code for code in real if defines_inside(code, entry_point)]):
        if ranked:
            return _flush_left(ranked[-1], entry_point)
    return None


def _flush_left(code: str, entry_point: str) -> str:
    """Takes off an indentation that all lines share, where the definition itself has it."""
    lines = [line for line in code.split("\n") if line.strip()]
    found = re.search(rf"^([ \t]+)(?:async[ \t]+def|def|class)[ \t]+{re.escape(entry_point)}\b", code, re.MULTILINE)
    if found is None or not all(line.startswith(found.group(1)) for line in lines):
        return code
    return "\n".join(line.removeprefix(found.group(1)) for line in code.split("\n"))


def _may_be_python(block: fences.Block) -> bool:
    if block.language not in fences.PYTHON | fences.NEUTRAL:
        return False
    return not wrappers.is_session(block.text) and not wrappers.is_diff(block.text, tagged=False)


def _unwrap_block(block: fences.Block) -> str | None:
    """The program in a block that is a session or a diff."""
    if block.language in fences.DIFF:
        return wrappers.new_side(block.text) if wrappers.is_diff(block.text, tagged=True) else block.text
    if block.language not in fences.PYTHON | fences.NEUTRAL:
        return None
    if wrappers.is_session(block.text):
        return wrappers.from_session(block.text)
    if wrappers.is_diff(block.text, tagged=False):
        return wrappers.new_side(block.text)
    return None


def _unwrap(text: str, entry_point: str) -> str:
    """A wrapped text that holds fenced blocks of its own gives the block that defines the entry point."""
    if "```" not in text and "~~~" not in text:
        return text
    blocks = [block.text for block in fences.find_blocks(text) if _may_be_python(block)]
    return _choose(_with_parts(blocks, entry_point), entry_point) or text


def _with_parts(texts: list[str], entry_point: str) -> list[str]:
    """Each program together with the other blocks that define what it uses and lacks."""
    return [
        _add_parts(text, [other for other in texts if not mentions(other, entry_point)], entry_point)
        if defines(text, entry_point)
        else text
        for text in texts
    ]


def _add_parts(program: str, others: list[str], entry_point: str) -> str:
    parts: list[str] = []
    whole = program
    for other in reversed(others):
        missing = offered_names(other) - offered_names(whole) - {entry_point}
        if any(mentions(whole, name) for name in missing) and looks_like_program(other):
            parts.insert(0, other)
            whole = other + whole
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts) + program if parts else program


def _unfenced(text: str, definition: str) -> list[str]:
    """The program in a reply without fences, around the last line that defines the entry point."""
    lines = text.split("\n")
    code = blank_strings(text).split("\n")
    pattern = re.compile(definition)
    at = [number for number, line in enumerate(code) if pattern.match(line)]
    if at:
        first, last = _grow(lines, code, at[-1])
        return ["\n".join(lines[first : last + 1]) + ("\n" if last + 1 < len(lines) else "")]
    return _indented(lines, code, pattern)


def _grow(lines: list[str], code: list[str], at: int) -> tuple[int, int]:
    """The range of lines around `at` that reads as one program."""
    last = at
    for number in range(at + 1, len(lines)):
        if lines[number].strip():
            if not _continues(lines[number], code[number]):
                break
            if not lines[number].startswith("#"):
                last = number
    first = at
    for number in range(at - 1, -1, -1):
        if lines[number].strip():
            if not _continues(lines[number], code[number]):
                break
            first = number
    while first < at and (lines[first].startswith((" ", "\t")) or re.match(r"#+ |[\])}]", lines[first])):
        # A program does not begin inside a block; a heading is not its comment unless code follows directly.
        if lines[first].startswith("#") and lines[first + 1].strip() and not lines[first].startswith("##"):
            break
        first += 1
    while first < at and not lines[first].strip():
        first += 1
    return first, last


def _continues(line: str, code: str) -> bool:
    """Whether a line can belong to a program that is under way."""
    if line.startswith((" ", "\t")) or not code.strip():
        return True  # inside a block, or within a string that spans lines
    return "```" not in line and is_statement(line)


def _indented(lines: list[str], code: list[str], pattern: re.Pattern[str]) -> list[str]:
    """A program that stands indented as a whole, as Markdown has it for code without fences."""
    for at in range(len(code) - 1, -1, -1):
        stripped = code[at].lstrip(" \t")
        lead = code[at][: len(code[at]) - len(stripped)]
        if not lead or not pattern.match(stripped):
            continue
        first = last = at
        while first > 0 and (not lines[first - 1].strip() or lines[first - 1].startswith(lead)):
            first -= 1
        if first > 0 and lines[first - 1].rstrip().endswith(":") and is_statement(lines[first - 1]):
            return []  # nested in a class or a branch, not indented as a whole
        while last + 1 < len(lines) and (not lines[last + 1].strip() or lines[last + 1].startswith(lead)):
            last += 1
        whole = "\n".join(line.removeprefix(lead) for line in lines[first : last + 1]).strip("\n") + "\n"
        return _unfenced(whole, pattern.pattern)
    return []


def _body(text: str, blocks: list[fences.Block]) -> str | None:
    """A reply that is a function's body and nothing else; in a fence or bare."""
    candidates = [block.text for block in blocks if _may_be_python(block)] or ([] if blocks else [text])
    for candidate in reversed(candidates):
        lines = [line for line in candidate.split("\n") if line.strip()]
        edge = [line for line in lines if not line.startswith((" ", "\t"))]
        if not lines or re.search(r"^(?:def|class|async def)\b", candidate, re.MULTILINE):
            continue
        code = blank_strings(candidate)
        does_something = re.search(r"(?<!\w)(?:return|yield|raise|pass|await)\b|[^=]=[^=]", code) is not None
        if does_something and all(is_statement(line) for line in edge) and (edge or blocks or _is_code(lines)):
            return candidate
    return None


def _is_code(lines: list[str]) -> bool:
    return all(is_statement(line.strip()) for line in lines)


def _any_program(text: str, blocks: list[fences.Block]) -> str | None:
    """A program that lacks the entry point, so that the verdict can say so."""
    for block in reversed(blocks):
        if _may_be_python(block) and block.closed and looks_like_program(block.text):
            return block.text
    if not blocks:
        for code in _unfenced(text, r"(?:async[ \t]+def|def|class)[ \t]+[A-Za-z_]\w*[ \t]*[\[(:]"):
            if looks_like_program(code):
                return code
    return None

"""Programs in other clothes: JSON, HTML, a unified diff, an interactive session.

Each function takes the wrapper off or says that there is none; none of them runs or parses the program.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

_HTML = re.compile(r"<(?P<tag>pre|code)\b[^>\n]{0,200}>", re.IGNORECASE)
_ANSWER_TAG = re.compile(
    r"^[ \t]*<(?P<tag>solution|answer|python|program|final_answer|output|implementation)>",
    re.IGNORECASE | re.MULTILINE,
)
_SQUARE_TAG = re.compile(r"^[ \t]*\[(?P<tag>PYTHON|CODE|ANSWER|SOLUTION)\]", re.MULTILINE)
_QUOTE_FENCE = re.compile(r"^(?P<tag>'{3}|\"{3})(?:python3?|py)(?=\n)", re.MULTILINE)
_INNER_OPEN = re.compile(r"\A\s*<code\b[^>\n]{0,200}>", re.IGNORECASE)
_INNER_CLOSE = re.compile(r"</code>\s*\Z", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_HIGHLIGHT = re.compile(r"<span (?:class|style)=", re.IGNORECASE)
_SPAN_TAG = re.compile(r"</?span\b[^>\n]*>", re.IGNORECASE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_DIFF_HEADER = ("diff --git ", "index ", "--- ", "+++ ", "new file mode", "similarity ", "rename ", "*** ", "@@")
_PROMPT = re.compile(r"(?P<prompt>>>>|\.\.\.|In \[\d+\]:|   \.\.\.:)(?: |$)")
_KEPT = re.compile(
    r"(?:async\s+def|def|class|import|from|@)\b|@|[A-Za-z_]\w*\s*(?::[^=]+)?=(?!=)|(?:if|try|for|while|with)\b.*:"
)
_TRIPLE_JSON = re.compile(r'"(?:code|solution|program|python|answer)"\s*:\s*"""\n?(?P<body>[\s\S]*?)"""')

_CODE_KEYS = frozenset({"code", "solution", "program", "python", "implementation", "answer"})
_MAX_OBJECTS = 16
_MAX_DEPTH = 8


def strings_in_json(text: str) -> list[str]:
    """Every string of the JSON value that `text` is, lists of lines joined; empty when it is none."""
    text = text.strip()
    if text[:1] not in ("{", "[", '"'):
        return []
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return [match["body"] for match in _TRIPLE_JSON.finditer(text)]
    return list(_strings(value, 0))


def strings_in_embedded_json(text: str) -> list[str]:
    """The same for objects that stand within prose."""
    found: list[str] = []
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_MAX_OBJECTS):
        match = re.compile(r"\{\s*\"").search(text, position)
        if match is None:
            break
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.start() + 1
            continue
        found.extend(_strings(value, 0))
    return found


def _strings(value: object, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "["):
            # The arguments of a tool call are JSON in a JSON string.
            try:
                inner: object = json.loads(value, strict=False)
            except (ValueError, RecursionError):
                return
            yield from _strings(inner, depth + 1)
    elif isinstance(value, dict):
        # The last one that fits is taken: what is called code outranks an explanation that quotes some.
        for _, item in sorted(value.items(), key=lambda pair: str(pair[0]).lower() in _CODE_KEYS):
            yield from _strings(item, depth + 1)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            separate = all(item.endswith("\n") for item in value[:-1])
            yield ("" if separate and len(value) > 1 else "\n").join(value)
        for item in value:
            yield from _strings(item, depth + 1)


def from_markup(text: str) -> list[str]:
    """The programs in `<pre>`, `<code>` and answer tags, entities decoded where the text is escaped."""
    found = []
    for body in _enclosed(text, _HTML, "</{}>"):
        inner = _INNER_OPEN.match(body)
        found.append(_decode(_INNER_CLOSE.sub("", body[inner.end() :]) if inner else body))
    found.extend(body.removeprefix("\n") for body in _enclosed(text, _ANSWER_TAG, "</{}>"))
    found.extend(body.removeprefix("\n") for body in _enclosed(text, _SQUARE_TAG, "[/{}]"))
    return found


def _enclosed(text: str, opening: re.Pattern[str], closing: str) -> Iterator[str]:
    """The texts between an opening tag and the next closing tag of its name."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    position = 0
    while found := opening.search(text, position):
        end = lower.find(closing.format(found["tag"].lower()), found.end())
        if end < 0:
            return
        yield text[found.end() : end]
        position = end


def from_quotes(text: str) -> list[str]:
    """The programs between triple quotes that stand for a fence, and a program written on one line with `\\n`."""
    found = [body.removeprefix("\n") + "\n" for body in _enclosed(text, _QUOTE_FENCE, "\n{}")]
    line = text.strip()
    if "\n" not in line and re.search(r":\\n(?: |\\t)", line):
        plain = {"n": "\n", "t": "\t"}
        found.append(re.sub(r"\\(.)", lambda escape: plain.get(escape[1], escape[1]), line))
    return found


def _decode(body: str) -> str:
    body = body.removeprefix("\n")
    plain = _SPAN_TAG.sub("", body) if _HIGHLIGHT.search(body) else body
    # A bare `<` or `&` proves that nothing was escaped: then entities belong to the program.
    bare = "<" in plain or "&" in _ENTITY.sub("", plain)
    return body if bare else html.unescape(plain)


def is_diff(text: str, *, tagged: bool) -> bool:
    """Whether a block is a unified diff (`tagged`: its fence says so)."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return False
    if lines[0].startswith(("--- ", "diff --git ", "@@ ", "index ")) and (_HUNK.search(text) or tagged):
        return True
    marked = [line for line in lines if line[0] in "+-"]
    shaped = all(line[0] in "+- @\\" or line.startswith(_DIFF_HEADER) for line in lines)
    return bool(marked) and (shaped if tagged else len(marked) == len(lines) and len(lines) > 1)


def new_side(diff: str) -> str | None:
    """The new side of a diff with one hunk; None where it does not show the whole program."""
    if len(_HUNK.findall(diff)) > 1:
        return None
    kept = []
    started = not _HUNK.search(diff)
    for line in diff.removesuffix("\n").split("\n"):
        if _HUNK.match(line):
            started = True
        elif not started or line.startswith(("--- ", "+++ ", "diff --git ", "@@", "\\ No newline")):
            continue
        elif line.startswith(("+", " ")):
            kept.append(line[1:])
        elif not line:
            kept.append("")
        elif not line.startswith("-"):
            return None
    return "\n".join(kept).rstrip("\n") + "\n" if kept else None


def is_session(text: str) -> bool:
    """Whether a text is a copy of an interactive session."""
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return bool(re.match(r">>>(?: |$)|In \[\d+\]:", first))


def from_session(text: str) -> str | None:
    """The definitions typed in a session, without prompts, calls and output; None when there are none."""
    indent = re.match(r"\s*?([ \t]*)(?:>>>|In \[)", text)
    lead = indent.group(1) if indent else ""
    statements: list[list[str]] = []
    typing = False
    for raw in text.split("\n"):
        line = raw.removeprefix(lead)
        match = _PROMPT.match(line)
        if match is None:
            typing = False
        elif match["prompt"] in (">>>",) or match["prompt"].startswith("In"):
            statements.append([line[match.end() :]])
            typing = True
        elif typing:
            statements[-1].append(line[match.end() :])
    kept = [lines for lines in statements if _KEPT.match(lines[0])]
    for lines in kept:
        while len(lines) > 1 and not lines[-1].strip():
            lines.pop()
    return "".join("\n".join(lines) + "\n" for lines in kept) or None

"""What can be said about Python text without parsing it.

Replies are hostile input: CPython's own parser can be made to exhaust the stack or the memory, so extraction never
calls it. A linear scan tells code from strings and comments, and small patterns do the rest.
"""

from __future__ import annotations

import keyword
import re

_TOKEN = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
    |(?P<triple>\"{3}(?:\\[\s\S]|[^\\])*?\"{3}|'{3}(?:\\[\s\S]|[^\\])*?'{3})
    |(?P<open>\"{3}|'{3})
    |(?P<string>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')
    |(?P<torn>"(?:\\[\s\S]|[^"\\\n])*|'(?:\\[\s\S]|[^'\\\n])*)
    """,
    re.VERBOSE,
)
_TOKEN_START = re.compile(r"[\"'#]")
_VISIBLE = re.compile(r"[^\n]")
_STATEMENT = re.compile(
    r"""
    (?:import|from|def|class|async|if|elif|else|for|while|with|try|except|finally|match|case
       |return|raise|yield|assert|del|global|nonlocal|pass|break|continue|await)\b
    |@[A-Za-z_]
    |[\])}]
    |(?:\"{3}|'{3}|[rbf]\"{3}|\#)
    |[A-Za-z_][\w.]*(?:\[[^\]\n]*\])*\s*(?::[^=\n]+)?(?:=(?!=)|[-+*/%&|^@]=|//=|\*\*=|>>=|<<=)
    |[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+\s*=(?!=)
    |[A-Za-z_][\w.]*\(
    """,
    re.VERBOSE,
)
_COMPOUND = re.compile(r"(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case)\b")
_HEADER = re.compile(r"(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b")
_TWO_WORDS = re.compile(r"(?<![\w.])([A-Za-z_]\w*)[ \t]+(?=([A-Za-z_]\w*))")
_SOFT = frozenset({"match", "case", "type", "print", "exec"})
_TOP_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+([^\W\d]\w*)", re.MULTILINE)
_TOP_CONSTANT = re.compile(r"^([A-Z_][A-Z0-9_]*)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_IMPORT = re.compile(r"^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+([^\n#]+)", re.MULTILINE)


def blank_strings(source: str) -> str:
    """`source` with strings and comments blanked out: same length, same lines, code only."""
    parts = []
    position = 0
    for token in _TOKEN.finditer(source):
        if token.lastgroup == "torn":
            continue  # an apostrophe in prose; matched as a whole so that the scan stays linear
        parts.append(source[position : token.start()])
        position = token.end() if token.lastgroup != "open" else len(source)
        parts.append(_VISIBLE.sub(" ", source[token.start() : position]))
        if token.lastgroup == "open":
            break
    parts.append(source[position:])
    return "".join(parts)


def find_outside_strings(source: str, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
    """The first match of `pattern` from `start` on that stands in code, not in a string or comment."""
    position = start
    found = pattern.search(source, position)
    while found:
        quote = _TOKEN_START.search(source, position, found.start())
        token = _TOKEN.match(source, quote.start()) if quote else None
        if token is None:
            return found
        if token.lastgroup == "open":
            return None
        position = token.end()
        if token.lastgroup == "torn" and found.start() < position:
            return found  # no string after all
        if found.start() < position:
            found = pattern.search(source, position)
    return None


def defines(source: str, name: str) -> bool:
    """Whether the text binds `name` at the left edge: a function, a class, an assignment or an import."""
    code = blank_strings(source)
    word = re.escape(name)
    function = rf"(?:async[ \t]+)?def[ \t]+{word}[ \t]*[\[(]"
    bound = rf"^(?:{function}|class[ \t]+{word}[ \t]*[\[(:]|{word}[ \t]*(?::[^=\n]+)?=(?!=))"
    return bool(re.search(bound, code, re.MULTILINE)) or name in imported_names(code)


def defines_inside(source: str, name: str) -> bool:
    """Whether the text defines `name` at any depth: in a class, under `if` or `try`."""
    word = re.escape(name)
    return bool(
        re.search(rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{word}[ \t]*[\[(:]", blank_strings(source), re.M)
    )


def is_stub(source: str, name: str) -> bool:
    """Whether `name` is defined with nothing but `...` or `pass` for a body."""
    found = re.search(
        rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}[ \t]*\([^\n]*:[ \t]*$(?P<body>(?:\n[ \t]+[^\n]*|\n)*)"
        rf"|^(?:async[ \t]+)?def[ \t]+{re.escape(name)}[ \t]*\([^\n]*:[ \t]*(?P<line>\.\.\.|pass)[ \t]*$",
        blank_strings(source),
        re.MULTILINE,
    )
    return found is not None and (found.group("line") is not None or found.group("body").strip() in {"", "...", "pass"})


def imported_names(code: str) -> set[str]:
    """The names that import statements at the left edge bind (`code` has its strings blanked)."""
    names: set[str] = set()
    for match in _IMPORT.finditer(code):
        for part in match.group(1).strip("() \t").split(","):
            words = part.split()
            if words:
                names.add(words[-1] if len(words) == 3 and words[1] == "as" else words[0].split(".")[0])
    return names


def offered_names(source: str) -> set[str]:
    """What another block could need of this one: its functions, classes, constants and imports."""
    code = blank_strings(source)
    return {*_TOP_DEFINITION.findall(code), *_TOP_CONSTANT.findall(code), *imported_names(code)}


def mentions(source: str, name: str) -> bool:
    """Whether the code uses `name` as a name of its own."""
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", blank_strings(source)))


def is_statement(line: str) -> bool:
    """Whether a line at the left edge reads as Python rather than as prose.

    Python never has two names side by side unless one is a keyword; prose hardly ever avoids it.
    """
    if not _STATEMENT.match(line):
        return False
    code = blank_strings(line).rstrip()
    if not code:
        return True
    if code[-1] in "!?" or re.search(r"[A-Za-z_)\]]\.\Z", code):
        return False
    if code.endswith(":") and not _COMPOUND.match(code) and code[0] not in ")]}":
        return False
    if _HEADER.match(code) and ":" not in code and code.count("(") == code.count(")"):
        return False
    return not any(_is_prose_pair(pair) for pair in _TWO_WORDS.finditer(code))


def _is_prose_pair(pair: re.Match[str]) -> bool:
    first, second = pair.group(1), pair.group(2)
    if keyword.iskeyword(first) or keyword.iskeyword(second):
        return False
    return not (first in _SOFT and pair.start() == 0)


def looks_like_program(source: str) -> bool:
    """Whether a block holds a program of some kind: it defines, imports or assigns at the left edge."""
    code = blank_strings(source)
    return any(
        _TOP_DEFINITION.match(line) or re.match(r"(?:@|import\b|from\b|[A-Za-z_]\w*[ \t]*=(?!=))", line)
        for line in code.split("\n")
        if is_statement(line)
    )

"""How text is bounded and marked where it enters a prompt.

Feedback, programs and observations can be of any length and can hold anything, so whoever quotes them cuts them
visibly and marks them as data. It stands in `core` since actors, evaluators and reflectors all quote.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"`{3,}")


def cut(text: str, limit: int) -> str:
    """`text` with at most about `limit` characters of it, a visible mark standing for what was cut.

    Two thirds are kept of the beginning and one third of the end: the first failure and the last traceback
    line say most.
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    mark = f"[… {len(text) - head - tail:,} characters cut …]"
    end = text[-tail:] if tail else ""
    return f"{text[:head]}{mark}{end}" if "\n" not in text else f"{text[:head]}\n{mark}\n{end}"


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, and a visible mark of how many were cut."""
    return text if len(text) <= limit else f"{text[:limit]}[… {len(text) - limit:,} characters cut …]"


def quote_untrusted(text: str) -> str:
    """`text` with a bar before each line, so that nothing inside can pass for the prompt around it."""
    return "\n".join(f"| {line}" for line in re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text))


def fence(code: str, language: str = "") -> str:
    """`code` in a fenced block whose fence is longer than any inside."""
    longest = max((len(run) for run in _RUN.findall(code)), default=2)
    mark = "`" * max(3, longest + 1)
    end = "" if code.endswith("\n") else "\n"
    return f"{mark}{language}\n{code}{end}{mark}"

"""Patterns for paths inside a folder, as `protect` in `task.toml` has them.

Separate since the standard library of our oldest Python has no `**` for paths that are not on this disk.
"""

from __future__ import annotations

import re
from functools import cache


def matches(path: str, pattern: str) -> bool:
    """Whether a path, relative and with `/`, is meant by a pattern.

    `*` and `?` stay inside of one name, `**` crosses folders, a folder means all that is in it, and a pattern
    without `/` means that name at any depth.
    """
    return _compiled(pattern).fullmatch(path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    stripped = pattern.removeprefix("./").strip("/")
    if "/" not in pattern.removeprefix("./").rstrip("/"):
        stripped = f"**/{stripped}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", stripped)
    regular = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(regular.get(part) or re.escape(part) for part in parts) + "(?:/.*)?", re.DOTALL)

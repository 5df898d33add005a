"""Text from outside without what a screen or a page would obey.

A model or a program may write escape sequences, bidirectional marks or characters that no file can hold; whatever is
shown to a person goes through here first, on a terminal as in a report.
"""

from __future__ import annotations

import unicodedata

_KEPT = {"\n", "\t"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def plain(text: str) -> str:
    """The text without control, format and unassigned characters; line ends and tabs stay."""
    return "".join(
        c if c in _KEPT or unicodedata.category(c) not in _HIDDEN else "\N{REPLACEMENT CHARACTER}" for c in text
    )

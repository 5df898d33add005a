"""Keeps keys and passwords out of the journal.

A key is known by its value: those in the environment and those that the caller names. Wherever one shows up in
a text that is to be kept, a mark stands in its place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

MARK = "[secret]"
_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/@\s\"'\\]+@")
_SHORTEST = 8
"""A shorter value is a word like `none`, which would be struck out of every text."""


class Secrets:
    """The values that must not be kept."""

    def __init__(self, values: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> None:
        found = {value.strip() for name, value in (environment or {}).items() if _NAMES.search(name)}
        found |= {value.strip() for value in values}
        kept = {value for value in found if len(value) >= _SHORTEST}
        forms = kept | {
            json.dumps(value, ensure_ascii=ascii_only)[1:-1] for value in kept for ascii_only in (True, False)
        }
        self._values = sorted(forms, key=len, reverse=True)

    def struck_out(self, text: str) -> str:
        """The text without them."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MARK)
        return text

    def struck_out_addresses(self, text: str) -> str:
        """The text without them and without user and password in addresses."""
        return self.struck_out(_USERINFO.sub(f"{MARK}@", text))


def secrets_of_environment(values: Iterable[str] = ()) -> Secrets:
    """The keys that are set in the environment, and these."""
    return Secrets(values, os.environ)

"""Keys and passwords are kept out of the journal by their values, which are known from the environment and the caller.

Wherever one shows up in a text that is to be kept, a mark stands in its place. What counts as one stands here alone: a
rule that is too strict mangles innocent prompts, one that is too lax lets a key through.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

MARK = "[secret]"

_ALWAYS = frozenset(
    {"PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS", "PAT"}
    | {"APIKEY"}
)
"""Words in a variable's name that say enough, wherever they stand."""
_FOLDERS = (["PWD"], ["OLDPWD"])
"""Variables of every shell."""
_OF_TEXTS = frozenset(("BOS", "EOS", "EOT", "PAD", "UNK", "SEP", "CLS", "MASK", "START", "STOP", "END", "SPECIAL"))
"""What stands before TOKEN where it is one of a text."""
_OF_DOORS = frozenset(
    {"API", "ACCESS", "AUTH", "PRIVATE", "SIGNING", "SIGNATURE", "ENCRYPTION", "MASTER", "ADMIN", "SERVICE", "ACCOUNT"}
    | {"CLIENT", "APP", "LICENSE", "DEPLOY", "SESSION", "WEBHOOK", "SHARED", "STORAGE"}
)
"""What stands before KEY where it opens something: even a word is a secret there."""
_USERINFO = re.compile(r"(?<=://)[^/@\s\"'\\]+@")
_PASSWORD = re.compile(r"://[^/@\s:]*:([^/@\s]+)@")
_SINGLE_WORDS = re.compile(r"([a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13})(?:[ _.-]([a-z]{1,14}|[A-Z]{1,14}))?")
"""One word or two: nobody is handed such a key, and a text may hold it for reasons of its own."""
_MARKUP = re.compile(r"[<|\[/]*[A-Za-z_ ]+[>|\]/]*")
"""`<|endoftext|>`, `</s>`, `[PAD]`."""
_LONG, _SHORT, _PIECE = 8, 6, 16
"""A shorter value is a word like `none`, which would be struck out of every text; one of at least six counts where it
mixes letters with something else; and a part of a longer secret where it could be one by itself."""


class Secrets:
    """The values that must not be kept.

    Of the environment these are the values of variables that are named like secrets, and the passwords in addresses.
    An ordinary word or two is none where only the ending KEY speaks for it (`SORT_KEY=created_at`), and the path of a
    file is none.
    """

    def __init__(self, values: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> None:
        found = {value.strip() for value in values}
        for name, value in (environment or {}).items():
            found.update(_secrets_of(name, value.strip()))
        forms = {form for value in found for part in _parts(value) for form in _forms(part)}
        self._values = sorted(forms, key=len, reverse=True)
        # A short or ordinary one is a secret by itself and not within a longer word.
        self._apart = {
            value: re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])") for value in forms if _stands_apart(value)
        }

    def struck_out(self, text: str) -> str:
        """The text without them."""
        for value in self._values:
            if value in text:
                apart = self._apart.get(value)
                text = text.replace(value, MARK) if apart is None else apart.sub(MARK, text)
        return text

    def struck_out_addresses(self, text: str) -> str:
        """The text without them and without user and password in addresses."""
        return self.struck_out(_USERINFO.sub(f"{MARK}@", text))


def secrets_of_environment(values: Iterable[str] = ()) -> Secrets:
    """The keys that are set in the environment, and these."""
    return Secrets(values, os.environ)


def _secrets_of(name: str, value: str) -> Iterator[str]:
    """What is secret of a variable."""
    yield from (unquoted for found in _PASSWORD.findall(value) for unquoted in {found, unquote(found)})
    words = re.findall(r"[A-Z0-9]+", name.upper())
    if words and words not in _FOLDERS and not _is_file(value) and _is_secret(words, value):
        yield value


def _is_secret(words: Sequence[str], value: str) -> bool:
    """By the words of a variable's name, and by its value where those leave it open."""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if _ALWAYS.intersection(words) or last.endswith(("PASSWORD", "SECRET")):
        return True
    if last.endswith(("TOKEN", "TOKENS")) or "TOKEN" in words:
        return not value.isdecimal() and not (before in _OF_TEXTS and _MARKUP.fullmatch(value))
    if last.endswith(("KEY", "KEYS")) or "KEY" in words:
        return before in _OF_DOORS or _SINGLE_WORDS.fullmatch(value) is None
    return False


def _is_file(value: str) -> bool:
    """Whether it names a file and is no secret itself."""
    if not value.startswith(("/", "~/", "./")) or "\n" in value:
        return False
    try:
        return Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long for a name, or of no user
        return False


def _parts(value: str) -> Iterator[str]:
    """The secret, and what of it could be one by itself: the lines of a private key, the keys of a list."""
    if len(value) >= _LONG or (len(value) >= _SHORT and not value.isalpha() and not value.isdecimal()):
        yield value
        yield from (part for part in re.split(r"[\s,;]+", value) if len(part) >= _PIECE and part != value)


def _forms(value: str) -> Iterator[str]:
    """How a secret stands in a text: as it is, in JSON, in an address."""
    yield value
    yield quote(value, safe="")
    for ascii_only in (True, False):
        yield json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def _stands_apart(value: str) -> bool:
    return len(value) < _LONG or _SINGLE_WORDS.fullmatch(value) is not None

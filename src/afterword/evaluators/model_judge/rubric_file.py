"""`judge.md`: a rubric in words, as a file."""

from __future__ import annotations

from pathlib import Path

from afterword.errors import InputError
from afterword.files import read_bounded

MAX_CHARS = 20_000
_MAX_MB = 1


def read_rubric_text(file: Path) -> str:
    """The rubric of a file.

    Raises:
        InputError: it is missing, empty, too long or not UTF-8.
    """
    try:
        text = read_bounded(file, _MAX_MB).decode("utf-8-sig").replace("\r\n", "\n").strip()
    except OSError as error:
        raise InputError(f"the rubric cannot be read ({error.strerror}); check the path", file=file) from None
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 text, found other bytes; save it as UTF-8", file=file) from None
    if not text:
        raise InputError("the rubric is empty; write what an attempt has to fulfil to pass", file=file)
    if len(text) > MAX_CHARS:
        raise InputError(f"a rubric has at most {MAX_CHARS:,} characters, found {len(text):,}; shorten it", file=file)
    return text

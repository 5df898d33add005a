"""The three streams of a command: all of them there, and able to take any text."""

from __future__ import annotations

import codecs
import io
import os
import sys

_SPELT = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{CHECK MARK}": "+",
        "\N{BALLOT X}": "x",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{NOT EQUAL TO}": "!=",
        "\N{RIGHTWARDS ARROW}": "->",
        "\N{NO-BREAK SPACE}": " ",
    }
)


def settle_streams() -> None:
    """To be called once, before anything is opened: a file must not take the place of a stream that is closed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - for as long as the process is
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    codecs.register_error("afterword", _spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="afterword")


def _spelt(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs that an old locale does not know, as others that say the same; escapes for all else."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    told = error.object[error.start : error.end].translate(_SPELT)
    return told.encode("ascii", "backslashreplace").decode(), error.end

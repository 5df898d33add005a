"""Files of a user, read up to a bound: a device or a wrong path must not fill the memory.

Apart from those who read them, which are families, models and the command line.
"""

from __future__ import annotations

from pathlib import Path

from afterword.errors import InputError

MEGABYTE = 1 << 20


def read_bounded(path: Path, max_mb: int) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: it is larger than `max_mb`.
        OSError: it cannot be read.
    """
    limit = max_mb * MEGABYTE
    with path.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"the file is too large; expected at most {max_mb} MB, is it the right one?", file=path)
    return data

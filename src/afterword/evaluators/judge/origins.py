"""Where an error of the program came from, as the tests' process keeps it on its local stand-in.

Apart from `remotes.py`, which makes the errors, since what only asks who raised one needs nothing else.
"""

from __future__ import annotations


class RemoteOrigin:
    """Where an error of the program came from: its text and its last lines."""

    def __init__(self, text: str, lines: object) -> None:
        self.text = text
        self.lines = [
            (line[0], line[1], line[2])
            for line in (lines if type(lines) is list else [])
            if type(line) is list and [type(part) for part in line] == [int, str, str]
        ][-3:]


def origin_of(error: BaseException) -> RemoteOrigin | None:
    """Where an error came from, if the program raised it."""
    found = getattr(error, "__dict__", {}).get("_aw_origin")
    return found if isinstance(found, RemoteOrigin) else None

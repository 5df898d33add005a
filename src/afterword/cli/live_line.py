"""The line at the end of a terminal that says what is under way. It is apart from the screens, which all have one.

Where output goes to a file or a pipe there is none: what is under way there is over before it is read.
"""

from __future__ import annotations

from rich.console import Console
from rich.status import Status
from rich.text import Text

from afterword.cli.text import plain


class LiveLine:
    """A spinner with a text, cut at the width of the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None

    def show(self, doing: str) -> None:
        """Says what is under way."""
        if not self._console.is_terminal:
            return
        line = Text(plain(doing), no_wrap=True, overflow="ellipsis")
        if self._status is None:
            self._status = self._console.status(line)
            self._status.start()
        else:
            self._status.update(line)

    def rest(self) -> None:
        """Takes the line away, until something is under way again."""
        if self._status is not None:
            self._status.stop()
            self._status = None

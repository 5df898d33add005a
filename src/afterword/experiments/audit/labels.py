"""What a person says of lessons, kept in a file of its own: a line for each, of which the last counts.

It is only ever added to, so labelling can stop and go on at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from afterword.errors import InputError
from afterword.files import read_bounded

Label = Literal["right", "wrong prescription", "misdiagnosis", "vague", "hallucinated"]
LABELS: tuple[Label, ...] = get_args(Label)
MEANINGS: Mapping[Label, str] = {
    "right": "the cause is the true one and the change would mend it",
    "wrong prescription": "the cause is the true one and the change would not mend it",
    "misdiagnosis": "it names a cause that is not the true one",
    "vague": "it names no cause, or one that any failure could have",
    "hallucinated": "it speaks of something that was not there",
}
MAX_FILE_MB = 64


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A file of labels by the keys of lessons."""

    path: Path

    def read(self) -> dict[str, Label]:
        """All labels so far; none if there is no file yet.

        Raises:
            InputError: a line is no label.
        """
        try:
            text = read_bounded(self.path, MAX_FILE_MB).decode("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read as a file of labels: {error}", file=self.path) from None
        labels: dict[str, Label] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                key, label = self._row(line, number)
                labels[key] = label
        return labels

    def _row(self, line: str, number: int) -> tuple[str, Label]:
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            row = None
        label = row.get("label") if isinstance(row, dict) else None
        key = row.get("key") if isinstance(row, dict) else None
        if label not in LABELS or not isinstance(key, str):
            raise InputError(
                f"expected an object with key and label, one of {', '.join(LABELS)}; found {line[:60]!r}",
                file=self.path,
                line=number,
            )
        return key, label

    def add(self, key: str, task: str, trial: int, text: str, label: Label) -> None:
        """Writes a label behind the others.

        Raises:
            InputError: the file cannot be written.
        """
        row = {"key": key, "task": task, "trial": trial, "label": label, "lesson": text}
        try:
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise InputError(
                f"labels cannot be kept here: {error.strerror}; give another --labels", file=self.path
            ) from None

"""Finding and reading published runs: folders `runs_*` of JSON Lines, beside the benchmarks they are about.

The form is that of the paper's logs as they were normalised; a run of one's own in that form is read alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from afterword.errors import InputError
from afterword.files import read_bounded

Kind = Literal["programs", "own_tests", "questions", "games"]
Row = Mapping[str, object]

MAX_FILE_MB = 256
_TOTALS = "accuracy_by_trial"
_ENVS, _PER_TRIAL = "_envs", "_per_trial"


@dataclass(frozen=True, slots=True)
class Log:
    """One published run."""

    run: str
    kind: Kind
    file: Path

    def rows(self) -> list[Row]:
        """Its items, in their order.

        Raises:
            InputError: a line is broken.
        """
        return list(read_rows(self.file))

    def totals(self) -> list[Row]:
        """What a run of games says of each trial; empty for the other kinds."""
        if self.kind != "games":
            return []
        return list(read_rows(self.file.with_name(self.file.name.replace(_ENVS, _PER_TRIAL))))


def find_logs(folder: Path, only: Sequence[str] = ()) -> list[Log]:
    """The runs below a folder, programs first; `only` names some of them.

    Raises:
        InputError: there is no such folder, no run in it, or none of a name.
    """
    if not folder.is_dir():
        raise InputError("expected a folder with published runs (runs_*/*.jsonl), found none", file=folder)
    root = folder if any(folder.glob("runs_*")) else folder / "reflexion_logs"
    files = sorted(root.glob("runs_*/*.jsonl"))
    chosen = [file for file in files if not only or file.stem.removesuffix(_ENVS) in only]
    logs = [log for file in chosen if (log := _log(file)) is not None]
    if not files or not (logs or only):
        raise InputError("expected runs_*/*.jsonl in this folder, found no run; give the folder of the logs", file=root)
    unknown = sorted(set(only) - {log.run for log in logs})
    if unknown:
        known = dict.fromkeys(file.stem.removesuffix(_ENVS) for file in files if not _is_other(file.stem))
        raise InputError(f"there is no run {unknown[0]!r}; there are {', '.join(known)}", file=root)
    return sorted(logs, key=lambda log: (_ORDER[log.kind], _is_rust(log), log.file))


_ORDER: Mapping[Kind, int] = {"programs": 0, "own_tests": 1, "questions": 2, "games": 3}


def _log(file: Path) -> Log | None:
    name = file.stem
    if _is_other(name):
        return None
    if name.endswith(_ENVS):
        return Log(name.removesuffix(_ENVS), "games", file)
    first = next(read_rows(file), None)
    if first is None:
        raise InputError("expected one JSON object a line, found an empty file", file=file)
    if "question_id" in first:
        return Log(name, "questions", file)
    if "tests" in first:
        return Log(name, "own_tests", file)
    if "solution" in first:
        return Log(name, "programs", file)
    raise InputError(f"a run of programs, tests, questions or games is expected, found {sorted(first)}", file=file)


def _is_other(name: str) -> bool:
    """Whether a file is what a run of games has besides."""
    return name == _TOTALS or name.endswith(_PER_TRIAL)


def _is_rust(log: Log) -> bool:
    return log.kind == "programs" and next(read_rows(log.file))["language"] == "rust"


def read_rows(file: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file.

    Raises:
        InputError: it cannot be read, or a line is not an object.
    """
    try:
        lines = read_bounded(file, MAX_FILE_MB).decode("utf-8").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; check the path", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8 text, found byte {error.start} of another encoding", file=file) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"expected one JSON object a line, found {error}", file=file, line=number) from None
        if not isinstance(row, dict):
            raise InputError(f"expected a JSON object, found {type(row).__name__}", file=file, line=number)
        yield row


def text(row: Row, name: str, file: Path) -> str:
    """A text that an item has to have.

    Raises:
        InputError: it is missing or no text.
    """
    value = row.get(name)
    if not isinstance(value, str):
        raise InputError(f"expected text in {name!r} of every item, found {value!r}", file=file)
    return value


def count(row: Row, name: str, file: Path) -> int:
    """A number that an item has to have.

    Raises:
        InputError: it is missing or no whole number.
    """
    value = row.get(name)
    if type(value) is not int:
        raise InputError(f"expected a whole number in {name!r} of every item, found {value!r}", file=file)
    return value

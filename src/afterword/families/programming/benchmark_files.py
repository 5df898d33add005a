"""Reading the published files of a benchmark from a data folder, compressed or not."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afterword.errors import InputError
from afterword.families.programming.task import ProgrammingTask

Wants = Callable[[str], bool]
"""Whether a task is asked for, by its id; what is not is never made."""


@dataclass(frozen=True, slots=True)
class BenchmarkTask:
    """A task of a benchmark, with programs whose verdict is known."""

    programming: ProgrammingTask
    canonical: str
    """The reference program: the checks have to pass it."""
    buggy: str | None = None
    """A program that the checks have to fail, where the benchmark has one."""

    @property
    def id(self) -> str:
        return self.programming.task.id


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark, loaded task by task."""

    name: str
    load: Callable[[Path, Wants], Iterator[BenchmarkTask]]
    """The wanted tasks from a data folder, in their published order."""
    example_id: str
    """How its ids look."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Tasks that are left out, with the reason."""


def read_rows(data_dir: Path, folder: str, name: str) -> Iterator[Mapping[str, object]]:
    """The rows of `name`, which stands in the data folder or in its part `folder`, as `.jsonl` or `.jsonl.gz`.

    Raises:
        InputError: there is no such file, or a line of it is broken.
    """
    path = _find(data_dir, folder, name)
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise InputError(
                            f"expected an object a line, found {type(row).__name__}", file=path, line=number
                        )
                    yield row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"the file is broken ({error}); fetch it again", file=path, line=number or None) from None


def _find(data_dir: Path, folder: str, name: str) -> Path:
    if not data_dir.is_dir():
        raise InputError("there is no such data folder; give it with --data DIR or AFTERWORD_DATA", file=data_dir)
    for parent in (data_dir / folder, data_dir):
        for suffix in (".jsonl.gz", ".jsonl"):
            path = parent / f"{name}{suffix}"
            if path.is_file():
                return path
    raise InputError(f"expected {folder}/{name}.jsonl or .jsonl.gz in this data folder; put it there", file=data_dir)


def text_of(row: Mapping[str, object], key: str) -> str:
    """A text that a row has to have.

    Raises:
        InputError: it is missing or no text.
    """
    value = row.get(key)
    if not isinstance(value, str):
        raise InputError(f"the row {row.get('task_id')!r} has no text {key!r}; this is another form of the benchmark")
    return value


def texts_of(row: Mapping[str, object], key: str) -> list[str]:
    """A list of texts that a row has to have.

    Raises:
        InputError: it is missing or something else.
    """
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(
            f"the row {row.get('task_id')!r} has no list of texts {key!r}; this is another form of the benchmark"
        )
    return value

"""Scripts on disk: replies as JSON Lines, each for one role or for any, and for one task or for any.

Apart from `scripted`, which needs no parser, since pydantic is slow to import.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from afterword.core.messages import Reply
from afterword.core.records import Usage
from afterword.errors import InputError
from afterword.files import read_bounded
from afterword.models.scripted import ScriptedModel

MAX_FILE_MB = 512


class _UsageRow(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    role: str | None = None
    task: str | None = None
    finish: Literal["stop", "length"] = "stop"
    usage: _UsageRow | None = None


class Script:
    """The replies of a file. Where it names tasks, each of them is answered by its own rows and those for any task."""

    def __init__(self, file: Path) -> None:
        self._name = f"scripted:{file}"
        self._rows: dict[str | None, list[tuple[int, _Row]]] = {}
        for place, row in enumerate(_read_rows(file)):
            self._rows.setdefault(row.task, []).append((place, row))

    @property
    def is_by_task(self) -> bool:
        """Whether what a task is answered does not depend on what others ask meanwhile."""
        return any(task is not None for task in self._rows)

    def model(self, *, role: str | None = None, task: str | None = None, skip: int = 0) -> ScriptedModel:
        """A model that gives the replies for a role and a task, without the first ones that were given before.

        Raises:
            InputError: the script is by task, and has no reply for this one.
        """
        if task is not None and task not in self._rows and None not in self._rows:
            raise InputError(f"{self._name} has no reply for the task {task!r}; add a line with its id in 'task'")
        if task is None:
            rows = sorted(chain.from_iterable(self._rows.values()), key=itemgetter(0))
        else:
            rows = sorted([*self._rows.get(task, ()), *self._rows.get(None, ())], key=itemgetter(0))
        replies = [_reply(row, self._name) for _, row in rows if role is None or row.role in (None, role)]
        return ScriptedModel(replies[skip:], name=self._name, role=role)


def load_script(file: Path, *, role: str | None = None) -> ScriptedModel:
    """The replies of a JSON Lines file that are for this role, or for any.

    Raises:
        InputError: the file cannot be read, or a line is not `{"text": ..., "role"?, "task"?, "finish"?, "usage"?}`.
    """
    return Script(file).model(role=role)


def _read_rows(file: Path) -> Sequence[_Row]:
    rows = []
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_Row.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f'expected {{"text": ..., "role"?, "task"?, "finish"?, "usage"?}}; {first_problem(error)}',
                file=file,
                line=number,
            ) from None
    if not rows:
        raise InputError("expected at least one reply, found an empty file", file=file)
    return rows


def first_problem(error: ValidationError) -> str:
    """Where and what the first complaint is, in one line."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the line"
    return f"{where}: {first['msg']}"


def read_lines(file: Path) -> Sequence[str]:
    """The lines of a UTF-8 text file, without their line breaks.

    Raises:
        InputError: it is missing, cannot be read or is not UTF-8.
    """
    try:
        return read_bounded(file, MAX_FILE_MB).decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8 text, found another byte at offset {error.start}", file=file) from None


def _reply(row: _Row, name: str) -> Reply:
    usage = Usage(calls=1) if row.usage is None else Usage(calls=1, **row.usage.model_dump())
    return Reply(row.text, row.finish, usage, name)

"""Scripts on disk: replies as JSON Lines, each for one role or for any.

Apart from `scripted`, which needs no parser, since pydantic is slow to import.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    finish: Literal["stop", "length"] = "stop"
    usage: _UsageRow | None = None


def load_script(file: Path, *, role: str | None = None) -> ScriptedModel:
    """The replies of a JSON Lines file that are for this role, or for any.

    Raises:
        InputError: the file cannot be read, or a line is not `{"text": ..., "role"?, "finish"?, "usage"?}`.
    """
    replies = [
        _reply(row, f"scripted:{file}")
        for row in _read_rows(file)
        if role is None or row.role is None or row.role == role
    ]
    return ScriptedModel(replies, name=f"scripted:{file}", role=role)


def _read_rows(file: Path) -> Sequence[_Row]:
    rows = []
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_Row.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f'expected {{"text": ..., "role"?, "finish"?, "usage"?}}; {first_problem(error)}',
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

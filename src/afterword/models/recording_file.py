"""Reads recordings from disk.

Apart from `recorded`, which needs no parser, since pydantic is slow to import.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from afterword.core.messages import ChatRequest, Price, Reply
from afterword.errors import InputError
from afterword.models.options import Lookup
from afterword.models.recorded import RecordedCall, RecordedModel, request_fingerprint
from afterword.models.recording import FORMAT
from afterword.models.script_file import first_problem, read_lines


class RecordingHeader(BaseModel):
    """Where a recording comes from; more fields than these may say more about the model."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["header"]
    format: int
    written: str
    afterword: str
    model: str
    role: str | None = None
    price: Price | None = None


class _CallRow(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["call"]
    model: str
    role: str | None
    fingerprint: str
    request: ChatRequest
    reply: Reply


_ROW: TypeAdapter[RecordingHeader | _CallRow] = TypeAdapter(
    Annotated[RecordingHeader | _CallRow, Field(discriminator="kind")]
)


def load_recording(file: Path, *, role: str | None = None, lookup: Lookup = "strict") -> RecordedModel:
    """The recorded calls of a role (all of them without one), ready to be replayed.

    Raises:
        InputError: the file cannot be read, is of another format, or was changed by hand.
    """
    headers, calls = _read(file)
    mine = [row for row in calls if role is None or row.role is None or row.role == role]
    prices = [header.price for header in headers if role is None or header.role is None or header.role == role]
    return RecordedModel(
        [RecordedCall(row.request, row.reply) for row in mine],
        lookup=lookup,
        name=f"recorded:{file}",
        price=prices[0] if prices else None,
    )


def read_headers(file: Path) -> tuple[RecordingHeader, ...]:
    """Which models a recording is of, when and with what it was made.

    Raises:
        InputError: the file cannot be read, is of another format, or was changed by hand.
    """
    return tuple(_read(file)[0])


def _read(file: Path) -> tuple[list[RecordingHeader], list[_CallRow]]:
    headers: list[RecordingHeader] = []
    calls: list[_CallRow] = []
    lines = read_lines(file)
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last line break was cut by a kill
        try:
            row = _ROW.validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"expected a line of a recording; {first_problem(error)}", file=file, line=number
            ) from None
        if isinstance(row, RecordingHeader):
            if row.format != FORMAT:
                raise InputError(
                    f"expected recording format {FORMAT}, found {row.format}; record again", file=file, line=number
                )
            headers.append(row)
        elif row.fingerprint != request_fingerprint(row.request):
            raise InputError(
                "the request does not have the fingerprint beside it, so it was changed; record again",
                file=file,
                line=number,
            )
        else:
            calls.append(row)
    if not headers:
        raise InputError("expected a recording, which begins with a header line, found none", file=file)
    return headers, calls

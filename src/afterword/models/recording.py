"""Keeps every call of a model in a file, so that a run can be shown and repeated without the model.

A line is on the disk before its reply is handed on; what is in the file is what was used. `recorded` reads it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from afterword._version import __version__
from afterword.core.messages import ChatRequest, Price, Reply
from afterword.core.protocols import Model
from afterword.errors import InputError
from afterword.models.recorded import recordable, request_fingerprint

FORMAT = 1
_HEADER_START = b'{"kind":"header"'


@runtime_checkable
class Described(Protocol):
    """A model that has more to say about itself than its name, e.g. the hash of its weights."""

    @property
    def description(self) -> Mapping[str, object]: ...


class RecordingFile:
    """A recording that is being written. An existing one is continued; another kind of file is refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._described: set[str] = set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=path) from None
        try:
            self._drop_torn_line()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _drop_torn_line(self) -> None:
        """Drops a last line that a kill cut short: its reply was never used."""
        with open(self._descriptor, "rb", closefd=False) as stream:
            start = stream.read(len(_HEADER_START))
            if start and not _HEADER_START.startswith(start):
                raise InputError("expected a recording to continue or a new file, found something else", file=self.path)
            stream.seek(0)
            whole = 0
            for line in stream:
                if line.endswith(b"\n"):
                    whole += len(line)
        os.ftruncate(self._descriptor, whole)

    def describe(self, model: Model, role: str | None) -> None:
        """Writes the header of a model: once for each model and role."""
        header: dict[str, object] = {
            "kind": "header",
            "format": FORMAT,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "afterword": __version__,
            "model": model.name,
            "role": role,
            "price": None if model.price is None else asdict(model.price),
        }
        if isinstance(model, Described):
            header |= model.description
        key = json.dumps([model.name, role])
        if key not in self._described:
            self._append(header)
            self._described.add(key)

    def call(self, model: Model, role: str | None, request: ChatRequest, reply: Reply) -> None:
        """Writes a call; it is on the disk when this returns."""
        self._append(
            {
                "kind": "call",
                "model": model.name,
                "role": role,
                "fingerprint": request_fingerprint(request),
                "request": asdict(recordable(request)),
                "reply": asdict(reply),
            }
        )

    def _append(self, row: Mapping[str, object]) -> None:
        left = json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise InputError(f"the recording cannot be written: {error.strerror or error}", file=self.path) from error

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Recording:
    """A model whose calls are kept."""

    def __init__(self, model: Model, file: RecordingFile, *, role: str | None = None) -> None:
        self._model = model
        self._file = file
        self._role = role
        file.describe(model, role)

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """The price of the model within."""
        return self._model.price

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the model within, and writes what it answered before handing it on."""
        reply = await self._model.complete(request)
        self._file.call(self._model, self._role, request, reply)
        return reply

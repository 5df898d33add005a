"""The keys of `task.toml` and their types.

A module of its own since it loads pydantic, which is done only where a task file is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class CommandTable(BaseModel):
    """`[check]`, or `[held_out_check]`, which takes from the first what it does not state."""

    model_config = _STRICT

    command: str
    file: str | None = None
    """The file that holds the program, inside `folder`."""
    result: str | None = None
    folder: str | None = None
    overlay: str | None = None
    """Files laid over the folder, for the held-out check."""
    protect: list[str] | None = None
    ids: list[str] | None = None
    timeout_s: float | None = None


class TaskFile(BaseModel):
    """What `task.toml` states."""

    model_config = _STRICT

    id: str
    instructions: str
    entry_point: str = ""
    """May be left out where a command judges a file."""
    signature: str | None = None
    language: str = "python"
    python: Path | None = None
    timeout_s: float = 5.0
    memory_mb: int = 1024
    split: float | None = None
    """The share to hold out; for one file of checks."""
    seed: int = 0
    """Chooses which checks are held out."""
    held_out: Literal["ask"] | None = None
    check: CommandTable | None = None
    held_out_check: CommandTable | None = None

"""The keys of `task.toml` and their types.

A module of its own since it loads pydantic, which is done only where a task file is read.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class TaskFile(BaseModel):
    """What `task.toml` states."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    id: str
    instructions: str
    entry_point: str
    signature: str | None = None
    language: str = "python"
    python: Path | None = None
    timeout_s: float = 5.0
    memory_mb: int = 1024
    split: float | None = None
    """The share to hold out; for one file of checks."""
    seed: int = 0
    """Chooses which checks are held out."""

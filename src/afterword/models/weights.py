"""The weights of the embedded model: which file, where it lies, and whether it is the publisher's own.

The hash decides, not where the bytes came from. It is taken once and remembered beside the file, together with
the size and the time stamp that it holds for, so that a start is quick.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from afterword.errors import InputError

FILE_NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
REPOSITORY = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
SIZE = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_BLOCK = 4 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights that is known by its hash."""

    file_name: str
    size: int
    sha256: str


EMBEDDED = Weights(FILE_NAME, SIZE, SHA256)


def models_folder() -> Path:
    """Where models are kept: `$AFTERWORD_HOME/models`, else below the user's data folder. It may not exist yet."""
    home = os.environ.get("AFTERWORD_HOME", "").strip()
    base = Path(home).expanduser() if home else platformdirs.user_data_path("afterword")
    return base / "models"


def sha256_of(file: Path, *, progress: Callable[[int], None] | None = None) -> str:
    """The hash of a file; `progress` is told the bytes read so far."""
    digest = hashlib.sha256()
    done = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(done)
    return digest.hexdigest()


def known_sha256(file: Path) -> str | None:
    """The remembered hash, if the file is still the one that it was taken of."""
    try:
        noted = json.loads(_note_path(file).read_text(encoding="utf-8"))
        stat = file.stat()
    except (OSError, ValueError):
        return None
    if not isinstance(noted, dict) or [noted.get("size"), noted.get("mtime_ns")] != [stat.st_size, stat.st_mtime_ns]:
        return None
    sha256 = noted.get("sha256")
    return sha256 if isinstance(sha256, str) else None


def remember_sha256(file: Path, sha256: str) -> None:
    """Notes the hash beside the file; in a folder that cannot be written it is taken again next time."""
    stat = file.stat()
    note = {"sha256": sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    if os.access(file.parent, os.W_OK):
        _note_path(file).write_text(json.dumps(note) + "\n", encoding="utf-8")


def hash_of(file: Path, weights: Weights) -> str:
    """The hash of a file that should hold these weights: remembered, or taken now and remembered if it is right."""
    found = known_sha256(file)
    if found is None:
        found = sha256_of(file)
        if found == weights.sha256:
            remember_sha256(file, found)
    return found


def installed_embedded(weights: Weights = EMBEDDED, folder: Path | None = None) -> Path:
    """The embedded model, verified: by the remembered hash, or by taking it now.

    Raises:
        InputError: it is not installed, or the file is another one.
    """
    file = (folder or models_folder()) / weights.file_name
    if not file.is_file():
        raise InputError(f"the local model is not installed at {file}; run: afterword model install")
    found = hash_of(file, weights)
    if found != weights.sha256:
        raise InputError(
            f"the local model has sha256 {found[:12]}…, expected {weights.sha256[:12]}…; "
            f"delete {file} and run: afterword model install"
        )
    return file


def _note_path(file: Path) -> Path:
    return file.with_name(file.name + ".verified")

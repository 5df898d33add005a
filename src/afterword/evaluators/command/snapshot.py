"""`Snapshot`: the pristine files of a folder, read once, so that every verdict starts from the same ones.

Separate from the check, since what may be in such a folder, and how much of it, is a matter of its own.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afterword.errors import InputError

MAX_MB = 32
MAX_FILES = 5_000
LEFT_OUT = frozenset({
    ".git", ".hg", ".svn", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".DS_Store"
})  # fmt: skip
"""Names that are never copied: history, environments and caches, none of which a check should depend on."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files by their path inside the folder, with `/`."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()

    def overlaid(self, other: Snapshot) -> Snapshot:
        """These files with those of another folder laid over them."""
        kept = self.executable - set(other.files)
        return Snapshot({**self.files, **other.files}, kept | other.executable)

    @property
    def digest(self) -> str:
        """Equal for folders with the same files."""
        total = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            mode = "x" if name in self.executable else "-"
            total.update(f"{name!r} {mode} {hashlib.sha256(content).hexdigest()}\n".encode("ascii", "backslashreplace"))
        return total.hexdigest()


def read_snapshot(folder: Path) -> Snapshot:
    """The files of a folder. A link to a file inside is read as that file.

    Raises:
        InputError: it is no folder, or holds what cannot be copied: too much, a link out of it, a device.
    """
    if not folder.is_dir():
        raise InputError("expected a folder here that the command is run in; make it or name another", file=folder)
    reader = _Reader(folder)
    try:
        reader.read(folder, "")
    except OSError as error:
        raise InputError(f"this cannot be read: {error.strerror}", file=Path(error.filename or folder)) from None
    return Snapshot(reader.files, frozenset(reader.executable))


class _Reader:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._bytes_left = MAX_MB << 20
        self.files: dict[str, bytes] = {}
        self.executable: set[str] = set()

    def read(self, folder: Path, prefix: str) -> None:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name in LEFT_OUT:
                continue
            path, name = Path(entry.path), prefix + entry.name
            if not entry.name.isprintable():
                raise InputError(f"a file name with control characters, {name!r}, cannot be copied", file=folder)
            if entry.is_dir(follow_symlinks=False):
                self.read(path, f"{name}/")
            else:
                self._read_file(path, name, linked=entry.is_symlink())

    def _read_file(self, path: Path, name: str, *, linked: bool) -> None:
        if linked and not path.resolve().is_relative_to(self._root.resolve()):
            raise InputError("this link leads out of the folder; put the file itself here", file=path)
        if linked and path.is_dir():
            raise InputError("this is a link to a folder; put the folder itself here", file=path)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError("this is no plain file and cannot be copied; remove it", file=path)
        if len(self.files) >= MAX_FILES:
            raise InputError(f"more than {MAX_FILES:,} files; choose a smaller folder", file=self._root)
        if status.st_size > self._bytes_left:
            raise InputError(f"more than {MAX_MB} MB in all, up to this file; choose a smaller folder", file=path)
        with path.open("rb") as file:
            self.files[name] = file.read(self._bytes_left)
        self._bytes_left -= len(self.files[name])
        if status.st_mode & stat.S_IXUSR:
            self.executable.add(name)

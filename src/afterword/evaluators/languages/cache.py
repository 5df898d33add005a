"""What build steps made, kept by what they were made of, so that the same source is compiled once.

Below the user's cache folder, bounded, and safe to lose. It holds compilers' output and never a verdict: each
verdict runs its program anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

from afterword.evaluators.languages.protocol import Made, Step, Toolchain

_FORMAT = b"afterword build 1\n"
MAX_MB = 256
"""Above this the entries that were used least recently are removed."""


def cache_folder() -> Path:
    """`$AFTERWORD_HOME/builds`, else below the user's cache folder. It may not exist yet."""
    home = os.environ.get("AFTERWORD_HOME", "").strip()
    base = Path(home).expanduser() if home else platformdirs.user_cache_path("afterword")
    return base / "builds"


class BuildCache:
    """A folder with one file for each step. A damaged or missing entry is a step to be made again."""

    def __init__(self, folder: Path, *, max_mb: int = MAX_MB) -> None:
        self._folder = folder
        self._max_bytes = max_mb << 20
        self._written = 0
        self.hits = 0

    def key(self, toolchain: Toolchain, step: Step) -> str:
        """Equal for steps that make the same."""
        parts = [str(toolchain.program), toolchain.version, *step.argv, "\0", *step.collect]
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape"))
        for name, content in sorted(step.files.items()):
            digest.update(f"\0{name}\0{len(content)}\0".encode())
            digest.update(content)
        return digest.hexdigest()

    def find(self, key: str) -> Made | None:
        """What a step came to before, or None."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        made = _unpack(data)
        self.hits += made is not None
        return made

    def keep(self, key: str, made: Made) -> None:
        """Keeps what a step came to; a full or read-only disk only means that it is made again."""
        data = _pack(made)
        if len(data) > self._max_bytes // 4:
            return
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._written += len(data)
            if self._written > self._max_bytes // 8 or self._written == len(data):
                self._written = len(data)
                self._shrink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.build"

    def _shrink(self) -> None:
        entries = []
        for path in self._folder.glob("*/*.build"):
            with suppress(OSError):  # another process removes too
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._max_bytes * 3 // 4 and total <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            total -= size


def _pack(made: Made) -> bytes:
    sizes = [[name, len(content)] for name, content in made.files.items()]
    head = json.dumps({"exit_code": made.exit_code, "output": made.output, "files": sizes}).encode()
    body = head + b"\n" + b"".join(made.files.values())
    return _FORMAT + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _unpack(data: bytes) -> Made | None:
    if not data.startswith(_FORMAT):
        return None
    digest, _, body = data[len(_FORMAT) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    head, _, content = body.partition(b"\n")
    told = json.loads(head)
    files, at = {}, 0
    for name, size in told["files"]:
        files[str(name)] = content[at : at + size]
        at += size
    return Made(int(told["exit_code"]), files, str(told["output"]))

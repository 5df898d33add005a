"""One virtual environment per peer, so that nobody's dependencies meet.

They live in a cache folder and are only made when asked for: a benchmark that is run without them leaves the
peers out and says how to get them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Peer:
    """A package that is measured beside us, and the driver that runs it."""

    name: str
    """Also the name of its folder among the environments."""
    requirements: tuple[str, ...]
    driver: str
    """The program in `benchmarks/peers` that its interpreter runs."""


def default_folder() -> Path:
    """Where the environments are kept unless the user names a folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "afterword" / "bench-venvs"


def interpreter(folder: Path, peer: Peer) -> Path | None:
    """The peer's interpreter, or None if its environment was not made or not finished."""
    python = folder / peer.name / "bin" / "python"
    return python if python.exists() and _stamp(folder, peer).exists() else None


def set_up(folder: Path, peer: Peer) -> None:
    """Makes the peer's environment, unless it is there.

    Raises:
        SystemExit: the installation failed; what the installer said is shown.
    """
    if interpreter(folder, peer) is not None:
        return
    place = folder / peer.name
    print(f"setting up {place} ({', '.join(peer.requirements)})", file=sys.stderr)
    place.mkdir(parents=True, exist_ok=True)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(place)],
        [
            str(place / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            *peer.requirements,
        ],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"setting up {peer.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")
    _stamp(folder, peer).touch()


def _stamp(folder: Path, peer: Peer) -> Path:
    """A file that is there once exactly these requirements were installed."""
    return folder / peer.name / ("installed-" + "+".join(peer.requirements))

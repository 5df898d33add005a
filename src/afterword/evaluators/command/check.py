"""`CommandCheck`: a folder, the command that judges it, and what of the folder a candidate may change.

It says what is judged and how; `verdict.py` reads the result and `evaluator.py` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from afterword.core.effects import fingerprint
from afterword.core.records import Trust
from afterword.errors import InputError
from afterword.evaluators.command.globs import matches
from afterword.evaluators.command.snapshot import Snapshot

Kind = Literal["junit", "report_log", "tap", "exit_code"]
LISTING = ".afterword-files"
"""A file of ours in the work folder: what is there when the command has ended."""

_BY_PRODUCTS = ("__pycache__", ".pytest_cache", ".hypothesis", "*.pyc")


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """How the command tells its result: a format, and the file that it writes (empty: standard output)."""

    kind: Kind
    file: str = ""

    @classmethod
    def parse(cls, text: str) -> ResultFormat:
        """`junit:FILE`, `report_log:FILE`, `tap`, `tap:FILE` or `exit_code`.

        Raises:
            InputError: it is none of these.
        """
        kind, _, file = text.strip().partition(":")
        known = next((each for each in get_args(Kind) if each == kind), None)
        needs_file, may_have_file = kind in ("junit", "report_log"), kind != "exit_code"
        if known is None or (needs_file and not file) or (file and not may_have_file):
            raise InputError(
                "expected a result such as 'junit:out.xml', 'report_log:out.jsonl', 'tap' or 'exit_code', "
                f"found {text!r}; change it"
            )
        return cls(known, plain_path(file) if file else "")

    @property
    def trust(self) -> Trust:
        return "exit_code" if self.kind == "exit_code" else "shared_process"

    def __str__(self) -> str:
        return f"{self.kind}:{self.file}" if self.file else self.kind


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """A command over a folder; the candidate is one file of it, and everything else is as the user left it."""

    snapshot: Snapshot
    """The pristine files."""
    candidate: str
    """The file that holds the program."""
    command: str
    """A line for `/bin/sh`, run in the copy."""
    result: ResultFormat
    protect: tuple[str, ...] = ()
    """What the run must leave as it is, new files included; empty: every pristine file but the candidate."""
    ids: tuple[str, ...] = ()
    """Checks that have to be reported and to pass, whatever else is."""
    python: Path | None = None
    """The interpreter whose folder comes first on PATH; None: the one that runs this."""
    file: Path | None = None
    """Where this is stated, for messages."""

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise InputError("the command is empty; say how the folder is judged", file=self.file)
        for pattern in self.protect:
            if matches(self.candidate, pattern):
                raise InputError(
                    f"protect = {pattern!r} covers {self.candidate!r}, which the program is written to; narrow it",
                    file=self.file,
                )
        if self.candidate == self.result.file:
            raise InputError(f"the result cannot be in {self.candidate!r}, which holds the program", file=self.file)
        if LISTING in self.snapshot.files:
            raise InputError(f"a file {LISTING!r} in the folder would be written over; rename it", file=self.file)

    @property
    def protected(self) -> tuple[str, ...]:
        """The pristine files that the run must not change."""
        return tuple(
            name
            for name in self.snapshot.files
            if name not in (self.candidate, self.result.file)
            and (not self.protect or any(matches(name, pattern) for pattern in self.protect))
        )

    def is_foreign(self, name: str) -> bool:
        """Whether a file that was not there before stands where nothing may be added."""
        by_product = any(matches(name, pattern) for pattern in _BY_PRODUCTS)
        known = name in self.snapshot.files or name in (self.candidate, self.result.file)
        return not known and not by_product and any(matches(name, pattern) for pattern in self.protect)

    def is_writable(self, name: str) -> bool:
        """Whether a candidate may bring this file."""
        return name == self.candidate

    def files_with(self, changes: Mapping[str, bytes]) -> dict[str, bytes]:
        """What the command gets to see: pristine files, with what a candidate may change of them; no old result."""
        brought = {name: content for name, content in changes.items() if self.is_writable(name)}
        files = {**self.snapshot.files, **brought}
        files.pop(self.result.file, None)
        return files

    def expecting(self, ids: tuple[str, ...]) -> CommandCheck:
        """The same check, for which these tests have to be reported."""
        return replace(self, ids=ids)

    @property
    def digest(self) -> str:
        """Equal for checks that judge alike."""
        parts = (self.snapshot.digest, self.candidate, self.command, str(self.result), self.protect, self.ids)
        return fingerprint(*parts, str(self.python or ""))


def plain_path(text: str) -> str:
    """A path inside a folder, with `/`.

    Raises:
        InputError: it is absolute, leads out, or names no file.
    """
    parts = text.strip().replace("\\", "/").removeprefix("./").split("/")
    if not all(parts) or ".." in parts or "." in parts or not text.isprintable() or ":" in parts[0]:
        raise InputError(f"expected the path of a file inside the folder, such as 'src/solution.py', found {text!r}")
    return "/".join(parts)

"""`[check]` and `[held_out_check]` of `task.toml`: programs that are one file of a folder and are judged by a command.

Apart from the function tests, since here the candidate is a file, in any language, and the checks are the user's own.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from afterword.core.records import Limits
from afterword.errors import InputError
from afterword.evaluators.command import CommandCheck, ResultFormat, Snapshot, read_snapshot
from afterword.evaluators.command.check import plain_path
from afterword.evaluators.command.evaluator import limits_of

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from afterword.families.programming.task_schema import CommandTable, TaskFile

TABLES = ("check", "held_out_check")
FOLDER = "project"
OVERLAY = "held_out"
TIMEOUT_S = 60.0

_KEYS = {
    "command": "a text, run by /bin/sh",
    "file": "the path of the program inside the folder",
    "result": "a text such as 'junit:out.xml', 'report_log:out.jsonl', 'tap' or 'exit_code'",
    "folder": "the path of a folder",
    "overlay": "the path of a folder",
    "protect": "a list of patterns",
    "ids": "a list of names",
    "timeout_s": "a number of seconds",
}
_LANGUAGES = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".rs": "rust", ".go": "go",
    ".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".java": "java", ".rb": "ruby", ".sh": "bash", ".sql": "sql",
    ".html": "html", ".css": "css", ".lua": "lua", ".php": "php", ".pl": "perl", ".r": "r", ".kt": "kotlin",
    ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandChecks:
    """What `task.toml` says of commands, read and checked."""

    visible: CommandCheck | None
    held_out: CommandCheck | None
    limits: Limits | None
    held_out_limits: Limits | None

    @property
    def file(self) -> str | None:
        """The file that the program is written to, where a command judges it."""
        judged = self.visible or self.held_out
        return None if judged is None else judged.candidate


def read_commands(stated: TaskFile, file: Path, line_of: Callable[[str], int | None]) -> CommandChecks:
    """The checks by command of a task file.

    Raises:
        InputError: a folder is missing, a path leads out, or held-out files would be in sight.
    """
    first, second = stated.check, stated.held_out_check
    reader = _Reader(stated, file, line_of)
    visible = None if first is None else reader.read("check", first, None)
    held_out = None if second is None else reader.read("held_out_check", second, first)
    return CommandChecks(
        visible,
        held_out,
        None if first is None else _limits(stated, first, None),
        None if second is None else _limits(stated, second, first),
    )


def _limits(stated: TaskFile, table: CommandTable, before: CommandTable | None) -> Limits:
    timeout_s = table.timeout_s or (before.timeout_s if before is not None else None) or TIMEOUT_S
    return limits_of(timeout_s, stated.memory_mb)


class _Reader:
    """Reads the tables of one file, which share its place and its messages."""

    def __init__(self, stated: TaskFile, file: Path, line_of: Callable[[str], int | None]) -> None:
        self._stated = stated
        self._file = file
        self._line_of = line_of

    def read(self, name: str, table: CommandTable, before: CommandTable | None) -> CommandCheck:
        program = table.file or (before.file if before is not None else None)
        if program is None:
            self._fail(f"{name}.file", 'the program needs a file; add a line such as: file = "src/solution.py"')
        result = table.result or (before.result if before is not None else None)
        if result is None:
            self._fail(f"{name}.result", 'how the command tells its result is missing; e.g. result = "junit:out.xml"')
        if table.timeout_s is not None and not table.timeout_s > 0:
            self._fail(f"{name}.timeout_s", f"timeout_s must be above 0 seconds, found {table.timeout_s!r}; change it")
        stated_folder = table.folder or (before.folder if before is not None else None) or FOLDER
        folder = self._folder(f"{name}.folder", stated_folder)
        protect = table.protect if table.protect is not None else (before.protect if before is not None else None)
        with_overlay = self._with_overlay(name, table, before, folder)
        try:
            return CommandCheck(
                with_overlay,
                plain_path(program),
                table.command,
                ResultFormat.parse(result),
                tuple(protect or ()),
                tuple(table.ids or ()),
                self._stated.python,
                self._file,
            )
        except InputError as error:
            self._fail(name, error.message)

    def _folder(self, key: str, stated: str) -> Path:
        folder = self._file.parent / stated
        if not folder.is_dir():
            self._fail(key, f"expected a folder {stated!r} beside task.toml, found none; make it or name another")
        if self._file.parent.resolve().is_relative_to(folder.resolve()):
            self._fail(
                key,
                f"the folder {stated!r} holds task.toml, and with it what is held out; "
                f"move the files of the program into a folder of their own, e.g. {FOLDER!r}",
            )
        return folder

    def _with_overlay(self, name: str, table: CommandTable, before: CommandTable | None, folder: Path) -> Snapshot:
        pristine = read_snapshot(folder)
        if name == "check":
            if table.overlay is not None:
                self._fail("check.overlay", "an overlay is for [held_out_check]; move the files or the key")
            return pristine
        overlay = self._file.parent / (table.overlay or OVERLAY)
        if not overlay.is_dir() and table.overlay is None:
            if before is not None and table.command == before.command:
                self._fail(name, f"it is the same check again; put held-out files into a folder {OVERLAY!r}")
            return pristine
        if not overlay.is_dir():
            self._fail(f"{name}.overlay", f"expected a folder {table.overlay!r} beside task.toml; make it")
        if overlay.resolve().is_relative_to(folder.resolve()):
            self._fail(
                f"{name}.overlay", "the held-out files lie inside the folder and would be in sight; move them out"
            )
        return pristine.overlaid(read_snapshot(overlay))

    def _fail(self, key: str, message: str) -> NoReturn:
        raise InputError(message, file=self._file, line=self._line_of(key))


def refuse_two_judges(stated: TaskFile, file: Path, visible: Path | None, held_out: Path | None) -> None:
    """Two answers to who judges would leave one of them unused.

    Raises:
        InputError: there are two.
    """
    by_command, asked = stated.held_out_check is not None, stated.held_out is not None
    if stated.check is not None and visible is not None:
        raise InputError("there is [check] in task.toml too; keep one of them", file=visible)
    if by_command and held_out is not None:
        raise InputError("there is [held_out_check] in task.toml too; keep one of them", file=held_out)
    if asked and (by_command or held_out is not None or stated.split is not None):
        raise InputError('held_out = "ask" is for a task without held-out checks; remove it or them', file=file)
    if stated.split is not None and (stated.check is not None or by_command):
        raise InputError("split is for one file of checks, and a command judges here; remove it", file=file)
    if held_out is not None and not stated.entry_point:
        raise InputError("these tests need to know what they call; write entry_point into task.toml", file=held_out)


def wrong_in_table(detail: ErrorDetails) -> str:
    """One line about a key of a table that is unknown, missing or of another type."""
    table, key = str(detail["loc"][0]), str(detail["loc"][1])
    if detail["type"] == "extra_forbidden":
        close = difflib.get_close_matches(key, _KEYS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known keys are {', '.join(_KEYS)}"
        return f"unknown key {key!r} in [{table}]; {hint}"
    if detail["type"] == "missing":
        return f"[{table}] needs the key {key!r}: {_KEYS[key]}"
    return f"{key} in [{table}] must be {_KEYS[key]}, found {detail['input']!r}; change it"


def command_inputs(checks: CommandChecks, language: str) -> dict[str, object]:
    """What the actor is told besides: the file to write, its language, and what stands in it now."""
    judged = checks.visible or checks.held_out
    if judged is None or checks.visible is None:
        return {}
    by_name = _LANGUAGES.get(PurePosixPath(judged.candidate).suffix.lower(), "")
    inputs: dict[str, object] = {"file": judged.candidate, "language": by_name or language}
    content = judged.snapshot.files.get(judged.candidate, b"").decode("utf-8", "backslashreplace")
    return {**inputs, "content": content} if content.strip() else inputs

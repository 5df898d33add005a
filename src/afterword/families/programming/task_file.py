"""`task.toml`: its keys, their types, and one plain line for whatever is wrong with it.

Apart from the folder's other files, since every message here has to name the line of a key.
"""

from __future__ import annotations

import difflib
import keyword
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from afterword.errors import InputError
from afterword.evaluators.function_tests.source import parse
from afterword.evaluators.languages import LANGUAGES as OTHER_LANGUAGES
from afterword.families.programming.command_task import TABLES, wrong_in_table
from afterword.files import read_bounded

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from afterword.families.programming.task_schema import TaskFile

LANGUAGES = ("python", *OTHER_LANGUAGES)
MIN_MEMORY_MB = 64
MAX_FILE_MB = 16
_KEYS = {
    "id": "a name",
    "instructions": "a text",
    "entry_point": "the name of the function or class",
    "signature": "a text",
    "language": "a text",
    "python": "the path of an interpreter",
    "timeout_s": "a number of seconds",
    "memory_mb": "a whole number of megabytes",
    "split": "a number between 0 and 1",
    "seed": "a whole number",
    "held_out": 'the word "ask"',
    "check": "a table: [check]",
    "held_out_check": "a table: [held_out_check]",
}
_REQUIRED_EXAMPLES = {
    "id": 'id = "my-task"',
    "instructions": 'instructions = "What the program has to do."',
    "entry_point": 'entry_point = "my_function"',
}


def read_text(path: Path, remedy: str) -> str:
    """The text of a file that has to be there and not empty.

    Raises:
        InputError: it is missing, unreadable, too large, empty or not UTF-8.
    """
    try:
        data = read_bounded(path, MAX_FILE_MB)
    except FileNotFoundError:
        raise InputError(f"the file is missing; {remedy}", file=path) from None
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror}); {remedy}", file=path) from None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("expected UTF-8 text, found other bytes; save it as UTF-8", file=path, line=line) from None
    if not text.strip():
        raise InputError(f"the file is empty; {remedy}", file=path)
    return text


def read_task_file(path: Path) -> TaskFile:
    """Reads and checks `task.toml`.

    Raises:
        InputError: with the file, the line and what to do.
    """
    text = read_text(path, "write id, instructions and entry_point into it (see: afterword new)")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        line = int(found.group(1)) if found else text.count("\n") + 1
        what = re.sub(r"\s*\(at .*\)\Z", "", str(error))
        raise InputError(f"this is not valid TOML: {what}; mend this line", file=path, line=line) from None
    except RecursionError:
        raise InputError("this is nested too deeply; write the keys one by one", file=path) from None
    return _Checked(path, text, values).task_file()


def task_file_of(values: dict[str, object], path: Path) -> TaskFile:
    """The same keys from another kind of file.

    Raises:
        InputError: what is wrong and what to do; the line is not known here.
    """
    return _Checked(path, "", values).task_file()


class _Checked:
    """The checks on one file, which share its path and text for their messages."""

    def __init__(self, path: Path, text: str, values: dict[str, object]) -> None:
        self._path = path
        self._lines = text.split("\n")
        self._values = values

    def task_file(self) -> TaskFile:
        from pydantic import ValidationError

        from afterword.families.programming.task_schema import TaskFile

        values = dict(self._values)
        if isinstance(values.get("python"), str):
            values["python"] = Path(str(values["python"])).expanduser()
        try:
            parsed = TaskFile.model_validate(values)
        except ValidationError as error:
            # An unknown key first: it is often the misspelling of one that then is missing.
            details = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
            self._explain(details[0])
        self._check_names(parsed)
        self._check_numbers(parsed)
        stated = {
            "id": parsed.id.strip(),
            "signature": self._signature(parsed),
            "python": self._interpreter(parsed.python),
        }
        return parsed.model_copy(update=stated)

    def _explain(self, detail: ErrorDetails) -> NoReturn:
        key = str(detail["loc"][0])
        if key in TABLES and len(detail["loc"]) > 1:
            key = f"{key}.{detail['loc'][1]}"
            self._fail(wrong_in_table(detail), key)
        if detail["type"] == "extra_forbidden":
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys are {', '.join(_KEYS)}"
            self._fail(f"unknown key {key!r}; {hint}", key)
        if key not in self._values:
            self._fail(f"the key {key!r} is missing; add a line such as: {_REQUIRED_EXAMPLES[key]}", None)
        self._fail(f"{key} must be {_KEYS[key]}, found {self._values[key]!r}; change it", key)

    def _check_names(self, parsed: TaskFile) -> None:
        if not parsed.id.strip() or not parsed.id.isprintable() or len(parsed.id) > 200:
            self._fail(f"id must be one short line of text, found {parsed.id!r}; change it", "id")
        if not parsed.instructions.strip():
            self._fail("instructions are empty; say what the program has to do", "instructions")
        name = parsed.entry_point
        if not name and parsed.check is not None:
            return
        if not name and "entry_point" not in self._values:
            self._fail(
                f"the key 'entry_point' is missing; add a line such as: {_REQUIRED_EXAMPLES['entry_point']}", None
            )
        if parsed.language not in LANGUAGES:
            self._fail(f"unsupported language {parsed.language!r}; supported: {', '.join(LANGUAGES)}", "language")
        other = OTHER_LANGUAGES.get(parsed.language)
        if not name.isidentifier() or (other is None and keyword.iskeyword(name)):
            title = "Python" if other is None else other.title
            self._fail(f"entry_point must be a {title} name, found {name!r}; change it", "entry_point")
        if other is not None:
            self._refuse_python_keys(parsed, other.title)
            if other.needs_signature and parsed.check is None and not (parsed.signature or "").strip():
                form = other.signature_form.format(name=name)
                self._fail(f'a {other.title} task needs its signature; add a line such as: signature = "{form}"', None)

    def _refuse_python_keys(self, parsed: TaskFile, title: str) -> None:
        if parsed.python is not None:
            self._fail(f"python is for tasks in Python, and this one is in {title}; remove the line", "python")
        if parsed.held_out is not None:
            self._fail(f'held_out = "ask" is for tasks in Python, and this one is in {title}; remove it', "held_out")

    def _check_numbers(self, parsed: TaskFile) -> None:
        if not parsed.timeout_s > 0:
            self._fail(f"timeout_s must be above 0 seconds, found {parsed.timeout_s!r}; change it", "timeout_s")
        if parsed.memory_mb < MIN_MEMORY_MB:
            self._fail(
                f"memory_mb must be at least {MIN_MEMORY_MB}, found {parsed.memory_mb!r}; change it", "memory_mb"
            )
        if parsed.split is not None and not 0 < parsed.split < 1:
            self._fail(f"split must be between 0 and 1, found {parsed.split!r}; change it, e.g. split = 0.3", "split")
        if parsed.seed < 0:
            self._fail(f"seed must not be negative, found {parsed.seed!r}; change it", "seed")

    def _signature(self, parsed: TaskFile) -> str | None:
        if parsed.signature is None or not parsed.signature.strip():
            return None
        signature = parsed.signature.strip()
        if (other := OTHER_LANGUAGES.get(parsed.language)) is not None:
            if not other.is_signature(signature, parsed.entry_point):
                form = other.signature_form.format(name=parsed.entry_point)
                self._fail(f"signature does not declare {parsed.entry_point!r}; write it as: {form}", "signature")
            return signature
        word = re.escape(parsed.entry_point)
        if re.match(rf"{word}\s*\(", signature):
            signature = f"def {signature}"
        if not re.search(rf"^(?:(?:async\s+)?def\s+{word}\s*[\[(]|class\s+{word}\b)", signature, re.MULTILINE):
            self._fail(
                f"signature does not define {parsed.entry_point!r}; write it as: def {parsed.entry_point}(...):",
                "signature",
            )
        if not signature.endswith((":", '"""', "'''")):
            signature += ":"
        last = signature.rpartition("\n")[2]
        body = f"\n{last[: len(last) - len(last.lstrip())]}    pass\n"  # also below the method of a class
        try:
            parse(signature + body, self._path)
        except InputError:
            shown = signature if len(signature) <= 200 else f"{signature[:200]}…"
            self._fail(f"signature is not valid Python: {shown!r}; mend it", "signature")
        return signature

    def _interpreter(self, python: Path | None) -> Path | None:
        if python is None:
            return None
        path = python if python.is_absolute() else self._path.parent / python
        if not path.is_file():
            self._fail(f"python names no file: {str(python)!r}; give the path of an interpreter", "python")
        if not os.access(path, os.X_OK):
            self._fail(f"python cannot be executed: {str(python)!r}; give the path of an interpreter", "python")
        return path.absolute()  # not resolved: a link in a virtual environment is what makes it one

    def _fail(self, message: str, key: str | None) -> NoReturn:
        raise InputError(message, file=self._path, line=None if key is None else self._line_of(key))

    def _line_of(self, key: str) -> int | None:
        return line_of(self._lines, key)


def line_of(lines: Sequence[str], key: str) -> int | None:
    """The line of a key, or of `table.key`; of the table where the key is not there."""
    table, _, name = key.rpartition(".")
    if not table:
        return _find(lines, key, 0)
    head = next((number for number, line in enumerate(lines, start=1) if _is_head(line, table)), None)
    head = head or _find(lines, table, 0)
    return head if head is None else _find(lines, name, head) or head


def _is_head(line: str, table: str) -> bool:
    return re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", line) is not None


def _find(lines: Sequence[str], key: str, after: int) -> int | None:
    pattern = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
    numbered = enumerate(lines[after:], start=after + 1)
    return next((number for number, line in numbered if pattern.match(line)), None)

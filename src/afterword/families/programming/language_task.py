"""Task folders whose program and tests are in another language than Python.

Apart from the Python task folders, whose checks are read without running anything of another toolchain.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.function_tests import split
from afterword.evaluators.languages import LANGUAGES, Language, LanguageSuite
from afterword.families.programming.task import ProgrammingTask, task_inputs
from afterword.files import read_bounded

if TYPE_CHECKING:
    from afterword.families.programming.task_schema import TaskFile

MAX_FILE_MB = 16


def load_language_task(path: Path, stated: TaskFile) -> ProgrammingTask:
    """Reads the checks of a task folder in the language that its `task.toml` states.

    Raises:
        InputError: something is missing or wrong; the message names file, line and remedy.
    """
    language = LANGUAGES[stated.language]
    visible_file, held_out_file = (path / f"{name}_tests{language.suffix}" for name in ("visible", "held_out"))
    _refuse_other_files(path, language)
    if not visible_file.exists():
        raise InputError(f"there are no checks; add {visible_file.name}", file=visible_file)
    visible = _read(visible_file, language, stated)
    held_out = _read(held_out_file, language, stated) if held_out_file.exists() else None
    if stated.split is not None:
        if held_out is not None:
            raise InputError(
                f"split is for one file of checks, found {held_out_file.name} too; remove split or that file",
                file=path / "task.toml",
            )
        visible, held_out = split(visible, stated.split, stated.seed)
    elif held_out is not None and _says(held_out) <= _says(visible):
        raise InputError(
            f"every check in it stands in {visible_file.name} too; write held-out checks of their own",
            file=held_out_file,
        )
    inputs = {**task_inputs(stated.entry_point, stated.signature), "language": language.name}
    return ProgrammingTask(
        Task(stated.id, stated.instructions, inputs),
        visible,
        held_out,
        Limits(wall_s=float(stated.timeout_s), memory_mb=stated.memory_mb),
    )


def _read(file: Path, language: Language, stated: TaskFile) -> LanguageSuite:
    try:
        text = read_bounded(file, MAX_FILE_MB).decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror}); write checks into it", file=file) from None
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 text, found other bytes; save it as UTF-8", file=file) from None
    if not text.strip():
        raise InputError(f"the file is empty; write checks of {stated.entry_point} into it", file=file)
    if stated.entry_point not in text:
        raise InputError(
            f"the tests never use {stated.entry_point!r}; correct entry_point in task.toml or use it in the tests",
            file=file,
        )
    return LanguageSuite.from_source(
        text, language=language, entry_point=stated.entry_point, signature=stated.signature, file=file
    )


def _refuse_other_files(path: Path, language: Language) -> None:
    """Checks that nobody would read are a mistake, in the language of the file or of the task."""
    for end in ("tests.py", "cases.jsonl", *(f"tests{other.suffix}" for other in LANGUAGES.values())):
        for name in ("visible", "held_out"):
            file = path / f"{name}_{end}"
            if file.suffix != language.suffix and file.exists():
                raise InputError(
                    f"the task's language is {language.name!r}, which this file is not for; "
                    f"write {name}_tests{language.suffix}, or change language in task.toml",
                    file=file,
                )


def _says(suite: LanguageSuite) -> frozenset[str]:
    """What the checks say, regardless of layout: the statements, or the whole where there are other checks."""
    tests = suite.tests
    if len(tests.statements) < len(tests.check_ids):
        return frozenset({" ".join(tests.text.split())})
    return frozenset(tests.statements.values())

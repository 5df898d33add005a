"""A task as a folder: `task.toml` and its checks, read and refused with one plain line where something is wrong.

Everything that can be known without running a program is checked here, before any money is spent.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite, split
from afterword.evaluators.function_tests.source import parse
from afterword.evaluators.model_judge import read_rubric_text
from afterword.families.programming.case_file import read_cases
from afterword.families.programming.command_task import command_inputs, read_commands, refuse_two_judges
from afterword.families.programming.examples_in_statement import examples_suite
from afterword.families.programming.language_task import load_language_task
from afterword.families.programming.task import JudgedByModel, JudgedByPerson, ProgrammingTask, task_inputs
from afterword.families.programming.task_file import line_of, read_task_file, read_text

if TYPE_CHECKING:
    from afterword.families.programming.task_schema import TaskFile

__all__ = ["ProgrammingTask", "load_task_folder"]

_VISIBLE = ("visible_tests.py", "visible_cases.jsonl")
_HELD_OUT = ("held_out_tests.py", "held_out_cases.jsonl")
RUBRIC = "judge.md"


def load_task_folder(path: Path) -> ProgrammingTask:
    """Reads a task folder. One without visible checks is one for which a model writes them (`visible` is None).

    Raises:
        InputError: something is missing, broken or contradictory; the message names file, line and remedy.
    """
    _refuse_no_folder(path)
    file = path / "task.toml"
    stated = read_task_file(file)
    rubric = _read_rubric(path, stated)
    if stated.language != "python" and stated.check is None:
        return load_language_task(path, stated)
    _refuse_misnamed(path)
    visible_file, held_out_file = _find(path, _VISIBLE), _find(path, _HELD_OUT)
    commands = read_commands(stated, file, partial(line_of, read_text(file, "").split("\n")))
    refuse_two_judges(stated, file, visible_file, held_out_file)
    judged = visible_file is not None or commands.visible is not None or rubric is not None
    if not judged:
        _refuse_unread(path)
    suite = None if visible_file is None else _read_suite(visible_file, stated)
    if not judged:
        suite = examples_suite(stated.instructions, stated.entry_point, stated.signature, file)
    held_out = None if held_out_file is None else _read_suite(held_out_file, stated)
    if stated.split is not None:
        _refuse_split(path, visible_file, held_out_file)
    if visible_file is not None and held_out_file is not None:
        _refuse_same(visible_file, held_out_file)
    if suite is not None and stated.split is not None:
        suite, held_out = split(suite, stated.split, stated.seed)
    inputs = {
        **task_inputs(stated.entry_point, stated.signature),
        **command_inputs(commands, stated.language),
    }
    limits = Limits(wall_s=float(stated.timeout_s), memory_mb=stated.memory_mb)
    return ProgrammingTask(
        Task(stated.id, stated.instructions, inputs),
        suite or commands.visible or rubric,
        held_out or commands.held_out or (JudgedByPerson() if stated.held_out == "ask" else None),
        commands.limits or limits,
        commands.held_out_limits or (limits if commands.visible is not None else None),
        stated.python,
    )


def _read_rubric(path: Path, stated: TaskFile) -> JudgedByModel | None:
    """The rubric that a model judges by, if the folder has one; it is the only visible judge then."""
    file = path / RUBRIC
    if not file.exists():
        return None
    other = next((name for name in _VISIBLE if (path / name).exists()), None)
    if stated.check is not None:
        other = "[check] in task.toml"
    if stated.language != "python":
        other = f"checks in {stated.language}"
    if other is not None:
        raise InputError(f"a model judges by this rubric, and there are {other} besides; keep one of them", file=file)
    return JudgedByModel(read_rubric_text(file))


def _refuse_split(path: Path, visible: Path | None, held_out: Path | None) -> None:
    if visible is None:
        wrong = "there is no file of visible checks; remove split or add one"
    elif held_out is not None:
        wrong = f"found {held_out.name} too; remove split or that file"
    else:
        return
    raise InputError(f"split is for one file of checks, {wrong}", file=path / "task.toml")


def _refuse_no_folder(path: Path) -> None:
    if path.is_dir():
        return
    if path.is_file():
        raise InputError(f"expected a task folder, found a file; give its folder {str(path.parent)!r}", file=path)
    raise InputError("there is no such task folder; make one with: afterword new FOLDER", file=path)


def _files(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except OSError as error:
        raise InputError(f"the folder cannot be listed: {error.strerror}; make it readable", file=path) from None


def _refuse_misnamed(path: Path) -> None:
    """A file of checks under a slightly wrong name would be left out without a word."""
    known = (*_VISIBLE, *_HELD_OUT)
    for file in _files(path):
        if file.suffix in (".py", ".jsonl", ".json") and file.name not in known:
            close = difflib.get_close_matches(file.name.lower(), known, n=1, cutoff=0.85)
            if close and not (path / close[0]).exists():
                raise InputError(f"a file of this name is not read; rename it to {close[0]}", file=file)


def _refuse_unread(path: Path) -> None:
    """Where a model would write the visible checks, a file of checks that nobody reads is a mistake."""
    for file in _files(path):
        if file.name not in _HELD_OUT and re.search(r"test|case|check", file.stem, re.IGNORECASE):
            for name in _VISIBLE:
                if file.suffix == Path(name).suffix:
                    raise InputError(f"a file of this name is not read; rename it to {name}", file=file)


def _find(path: Path, names: tuple[str, str]) -> Path | None:
    found = [path / name for name in names if (path / name).exists()]
    if len(found) > 1:
        raise InputError(f"found {names[0]} and {names[1]}; keep one of them", file=found[1])
    return found[0] if found else None


def _read_suite(file: Path, stated: TaskFile) -> Suite:
    return read_suite(read_text(file, f"write checks of {stated.entry_point} into it"), file, stated.entry_point)


def read_suite(text: str, file: Path, entry_point: str) -> Suite:
    """The checks of a file: test functions, or a labelled example a line where its name ends in `.jsonl`.

    Raises:
        InputError: they cannot be used.
    """
    if file.suffix == ".jsonl":
        return Suite.from_cases(read_cases(text, file), entry_point=entry_point, file=file)
    suite = Suite.from_source(text, entry_point=entry_point, file=file)
    if not re.search(rf"\b{re.escape(entry_point)}\b", text):
        raise InputError(
            f"the tests never use {entry_point!r}; correct entry_point in task.toml or import it in the tests",
            file=file,
        )
    return suite


def _refuse_same(visible: Path, held_out: Path) -> None:
    """Held-out checks that are all visible too accept whatever the loop passed."""
    if visible.suffix != held_out.suffix:
        return
    seen, hidden = _statements(visible), _statements(held_out)
    if hidden <= seen:
        raise InputError(
            f"every check in it stands in {visible.name} too; write held-out checks of their own", file=held_out
        )


def _statements(file: Path) -> frozenset[str]:
    """What a file of checks says, regardless of layout, comments and order."""
    text = file.read_text(encoding="utf-8-sig")
    if file.suffix == ".jsonl":
        rows: list[dict[str, object]] = [json.loads(line) for line in text.split("\n") if line.strip()]
        asked = ({"args": [], "kwargs": {}, **row} for row in rows)
        return frozenset(
            json.dumps({key: row.get(key) for key in ("args", "kwargs", "expected", "raises")}, sort_keys=True)
            for row in asked
        )
    body = parse(text, file).body
    return frozenset(
        ast.dump(node)
        for node in body
        if not isinstance(node, (ast.Import, ast.ImportFrom))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )

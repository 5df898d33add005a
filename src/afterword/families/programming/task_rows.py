"""Tasks as JSON Lines: a task a line, its checks beside its statement, read one by one.

Apart from the task folders, since here thousands of tasks stand in one file and each message names a line of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite, split
from afterword.families.programming.examples_in_statement import examples_suite
from afterword.families.programming.task import ProgrammingTask, task_inputs
from afterword.families.programming.task_file import task_file_of
from afterword.files import json_lines

KEYS = ("id", "instructions", "entry_point", "signature", "timeout_s", "memory_mb", "split", "seed")
CHECKS = ("visible_tests", "visible_cases", "held_out_tests", "held_out_cases")


def read_tasks(file: Path) -> Iterator[ProgrammingTask]:
    """The tasks of a JSON Lines file, each read when it is asked for.

    A line is an object with the keys of `task.toml`, and its checks: `visible_tests` and `held_out_tests` are texts
    of test files, `visible_cases` and `held_out_cases` lists of labelled examples.

    Raises:
        InputError: the file cannot be read, holds no task, or a line is wrong; the message names it.
    """
    for number, values in json_lines(file):
        try:
            yield _task(values, file)
        except InputError as error:
            raise InputError(error.message, file=file, line=number) from None


def _task(values: dict[str, object], file: Path) -> ProgrammingTask:
    for key in values:
        if key not in (*KEYS, *CHECKS):
            remedy = "questions are read with --family qa; " if key == "question" else ""
            raise InputError(f"unknown key {key!r}; {remedy}known are {', '.join((*KEYS, *CHECKS))}")
    stated = task_file_of({key: values[key] for key in KEYS if key in values}, file)
    visible = _suite(values, "visible", stated.entry_point)
    held_out = _suite(values, "held_out", stated.entry_point)
    if visible is None:
        visible = examples_suite(stated.instructions, stated.entry_point, stated.signature, file)
    elif held_out is not None and visible.digest == held_out.digest:
        raise InputError("the held-out checks are the visible ones again; write some of their own")
    if stated.split is not None:
        if visible is None or held_out is not None:
            raise InputError("split is for visible checks alone; remove it or the held-out checks")
        visible, held_out = split(visible, stated.split, stated.seed)
    task = Task(stated.id, stated.instructions, task_inputs(stated.entry_point, stated.signature))
    limits = Limits(wall_s=float(stated.timeout_s), memory_mb=stated.memory_mb)
    return ProgrammingTask(task, visible, held_out, limits)


def _suite(values: dict[str, object], which: str, entry_point: str) -> Suite | None:
    tests, cases = values.get(f"{which}_tests"), values.get(f"{which}_cases")
    if tests is not None and cases is not None:
        raise InputError(f"found {which}_tests and {which}_cases; keep one of them")
    if tests is not None:
        if not isinstance(tests, str):
            raise InputError(f"{which}_tests must be the text of a test file, found {type(tests).__name__}")
        return Suite.from_source(tests, entry_point=entry_point)
    if cases is None:
        return None
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InputError(f"{which}_cases must be a list of objects with args and expected")
    return Suite.from_cases(cases, entry_point=entry_point)

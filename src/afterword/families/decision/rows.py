"""Tasks for a world of the user's own: rows of a JSON Lines or TOML file, each with what the world is made with."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from afterword.core.effects import fingerprint
from afterword.errors import InputError
from afterword.families.decision.play import Demonstration, read_play
from afterword.families.decision.worlds.own import Make, argument_problem
from afterword.files import json_lines, read_bounded, refuse_unfit_id

MAX_FILE_MB = 64
_KEYS = frozenset({"id", "instructions", "args", "help", "examples", "max_steps"})
_EXAMPLE_KEYS = frozenset({"goal", "start", "play"})


@dataclass(frozen=True, slots=True)
class WorldTask:
    """One task in a world of the user's own."""

    id: str
    instructions: str
    args: Mapping[str, object]
    """What the class is called with, by name."""
    help: str = ""
    """The forms of an action."""
    examples: tuple[Demonstration, ...] = ()
    max_steps: int | None = None


def read_world_tasks(file: Path, make: Make, source: str) -> Iterator[WorldTask]:
    """The tasks of a file: `.toml` with `[[task]]` tables, else JSON Lines.

    Raises:
        InputError: the file cannot be read, or a row is wrong or does not fit what `make` takes.
    """
    seen: dict[str, int] = {}
    for number, row in _toml(file) if file.suffix == ".toml" else json_lines(file):
        try:
            task = _task(row)
            if problem := argument_problem(make, source, task.args):
                raise InputError(problem)
            if task.id in seen:
                raise InputError(f"the id {task.id!r} is there already, as number {seen[task.id]}")
        except InputError as error:
            raise InputError(error.message, file=file, line=number) from None
        seen[task.id] = number
        yield task
    if not seen:
        raise InputError("expected at least one task, found none", file=file)


def _task(row: Mapping[str, object]) -> WorldTask:
    if unknown := sorted(row.keys() - _KEYS):
        raise InputError(f"unknown key {unknown[0]!r}; a task has {', '.join(sorted(_KEYS))}")
    args = row.get("args", {})
    if not isinstance(args, dict):
        raise InputError(f"args are the arguments of the class by name, found {args!r:.80}")
    try:
        fingerprint(args)
    except TypeError:
        raise InputError("args hold a date or a time, which only TOML has; write it as a text") from None
    steps = row.get("max_steps")
    if steps is not None and (type(steps) is not int or steps < 1):
        raise InputError(f"max_steps is a number from 1, found {steps!r:.80}")
    examples = row.get("examples", [])
    if not isinstance(examples, list):
        raise InputError(f"examples are a list of goal, start and play, found {examples!r:.80}")
    name = _needed(row, "id")
    refuse_unfit_id(name)
    return WorldTask(
        name,
        _needed(row, "instructions"),
        args,
        _text(row.get("help", ""), "help"),
        tuple(_example(example) for example in examples),
        steps if isinstance(steps, int) else None,
    )


def _example(row: object) -> Demonstration:
    if not isinstance(row, dict) or row.keys() != _EXAMPLE_KEYS:
        raise InputError(f"an example has goal, start and play, found {row!r:.80}")
    steps = read_play(_text(row["play"], "play"))
    if not steps:
        raise InputError("the play of an example has no move; a move is a line that begins with '> '")
    return Demonstration(_text(row["goal"], "goal"), _text(row["start"], "start"), steps)


def _needed(row: Mapping[str, object], key: str) -> str:
    if key not in row:
        raise InputError(f"expected {key!r}; a task has at least id and instructions")
    value = _text(row[key], key)
    if not value.strip():
        raise InputError(f"{key} is empty")
    return value


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{key} is a text, found {value!r:.80}")
    return value


def _toml(file: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        tables = tomllib.loads(read_bounded(file, MAX_FILE_MB).decode("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", file=file) from None
    rows = tables.get("task", [])
    if tables.keys() - {"task"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("expected [[task]] tables and nothing else", file=file)
    yield from enumerate(rows, start=1)

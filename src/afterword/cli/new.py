"""`afterword new`: a task folder to start from."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from afterword.errors import InputError

_FILES = ("task.toml", "visible_tests.py", "held_out_tests.py")


def new(folder: Annotated[Path, typer.Argument(help="The folder to make.", metavar="FOLDER")]) -> None:
    """Make a task folder to start from.

    It holds a small task, its visible and its held-out tests.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("expected a new or empty folder, found something in it; choose another name", file=folder)
    templates = resources.files("afterword.cli") / "new_task"
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "task"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in _FILES:
            text = (templates / f"{file}.template").read_text(encoding="utf-8").replace("@id@", name)
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}; choose another folder", file=folder) from None
    sys.stdout.write(
        f"{folder} holds {', '.join(_FILES)}\nedit them, then run: afterword run {shlex.quote(str(folder))}\n"
    )

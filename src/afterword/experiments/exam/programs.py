"""The known-right programs that come with the package, so that an exam needs no data."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from afterword.core.records import Limits, Task
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.task import task_inputs

_NAME = re.compile(r"def (\w+)\(")


@dataclass(frozen=True, slots=True)
class KnownRight:
    """A right program with checks that notice small mistakes in it."""

    task: Task
    source: str
    suite: Suite
    limits: Limits = field(default_factory=Limits)

    @property
    def id(self) -> str:
        return self.task.id


@cache
def known_right_programs() -> tuple[KnownRight, ...]:
    """The programs of `programs.toml`."""
    text = (resources.files("afterword.experiments.exam") / "programs.toml").read_text("utf-8")
    return tuple(_program(values) for values in tomllib.loads(text)["program"])


def _program(values: dict[str, str]) -> KnownRight:
    found = _NAME.match(values["signature"])
    if found is None:
        raise ValueError(f"the program {values['id']!r} has no signature")
    name = found[1]
    return KnownRight(
        Task(f"exam/{values['id']}", values["instructions"], task_inputs(name, values["signature"])),
        values["source"].strip("\n") + "\n",
        Suite.from_source(values["tests"].strip("\n") + "\n", entry_point=name),
    )

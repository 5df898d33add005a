"""A programming task: what the actor sees, and beside it, apart, how its program is judged.

`task` alone goes into the loop's prompts; the suites go to evaluators. So no held-out text can reach an actor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.command import CommandCheck
from afterword.evaluators.function_tests import Suite
from afterword.evaluators.languages import LanguageSuite


@dataclass(frozen=True, slots=True)
class ProgrammingTask:
    """A program to be written and the checks on it."""

    task: Task
    """`inputs` hold `entry_point`, `language` and, where it is stated, `signature`."""
    visible: Suite | None
    """The checks whose feedback the loop sees; None: a model has to write them (see `own_tests`)."""
    held_out: Suite | None = None
    """The checks that accept or reject at the end; None: nothing does."""
    limits: Limits = field(default_factory=Limits)
    """What one verdict may use."""
    held_out_limits: Limits | None = None
    """What the held-out verdict may use; None: the same."""
    python: Path | None = None
    """The interpreter that runs the program; None: the one that runs this."""
    command: CommandCheck | None = None
    """The visible checks where a command judges; `visible` is None then."""
    held_out_command: CommandCheck | None = None
    """The held-out check where a command judges; `held_out` is None then."""
    held_out_asked: bool = False
    """A person is asked for the held-out verdict of a judge elsewhere."""
    native: LanguageSuite | None = None
    """The visible checks where program and tests are in another language than Python; `visible` is None then."""
    held_out_native: LanguageSuite | None = None
    """The held-out checks in that language."""
    rubric: str | None = None
    """What a model judges the program by; `visible` is None then."""

    @property
    def checks(self) -> Suite:
        """The visible checks.

        Raises:
            InputError: there are none.
        """
        if self.visible is None:
            raise InputError(f"the task {self.task.id!r} has no visible checks; add some, or let a model write them")
        return self.visible


def task_inputs(entry_point: str, signature: str | None = None) -> dict[str, object]:
    """The inputs of a Python task."""
    inputs: dict[str, object] = {"entry_point": entry_point, "language": "python"}
    if signature:
        inputs["signature"] = signature
    return inputs

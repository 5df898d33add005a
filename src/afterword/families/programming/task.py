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
class JudgedByModel:
    """A model judges the program by a rubric."""

    rubric: str


@dataclass(frozen=True, slots=True)
class JudgedByPerson:
    """A person is asked for the verdict, which is reached elsewhere."""


Visible = Suite | LanguageSuite | CommandCheck | JudgedByModel
"""What gives the feedback that the loop sees: tests in Python or in another language, a command, or a model."""
HeldOut = Suite | LanguageSuite | CommandCheck | JudgedByPerson
"""What accepts or rejects in the end."""


@dataclass(frozen=True, slots=True)
class ProgrammingTask:
    """A program to be written and what judges it."""

    task: Task
    """`inputs` hold `entry_point`, `language` and, where it is stated, `signature`."""
    visible: Visible | None
    """None: a model has to write tests (see `own_tests`)."""
    held_out: HeldOut | None = None
    """None: nothing accepts or rejects."""
    limits: Limits = field(default_factory=Limits)
    """What one verdict may use."""
    held_out_limits: Limits | None = None
    """What the held-out verdict may use; None: the same."""
    python: Path | None = None
    """The interpreter that runs the program; None: the one that runs this."""

    @property
    def checks(self) -> Suite:
        """The visible tests of a Python task.

        Raises:
            InputError: there are none.
        """
        if not isinstance(self.visible, Suite):
            raise InputError(f"the task {self.task.id!r} has no visible checks; add some, or let a model write them")
        return self.visible

    @property
    def held_out_checks(self) -> Suite | None:
        """The held-out tests of a Python task; None where there are none, or something else judges."""
        return self.held_out if isinstance(self.held_out, Suite) else None

    def limits_of(self, *, held_out: bool) -> Limits:
        """What one verdict of the visible or the held-out part may use."""
        return (self.held_out_limits if held_out else None) or self.limits


def told_judges(task: ProgrammingTask) -> tuple[str, str]:
    """Who judges, in a few words: the visible part and the held-out part."""
    match task.visible:
        case CommandCheck(command=command):
            visible = f"judged by {command.strip().splitlines()[0]!r}"
        case JudgedByModel():
            visible = "judged by a model"
        case None:
            visible = ""
        case suite:
            count = len(suite.check_ids)
            visible = f"{count} visible check{'' if count == 1 else 's'}"
    match task.held_out:
        case CommandCheck():
            return visible, "a held-out command"
        case JudgedByPerson():
            return visible, "you are asked for the verdict in the end"
        case None:
            return visible, "none held out"
        case suite:
            return visible, f"{len(suite.check_ids)} held out"


def task_inputs(entry_point: str, signature: str | None = None) -> dict[str, object]:
    """The inputs of a Python task."""
    inputs: dict[str, object] = {"entry_point": entry_point, "language": "python"}
    if signature:
        inputs["signature"] = signature
    return inputs

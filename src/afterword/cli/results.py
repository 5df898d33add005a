"""What a session leaves behind for the caller: JSON lines, the best program in a file, and the exit code."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.cli.result import ACCEPTED, FAILED, FAULTED, outcome_json
from afterword.core.records import Outcome, StopReason
from afterword.errors import InputError
from afterword.experiments.scheduler import Job

if TYPE_CHECKING:
    from afterword.cli.kept import Kept
    from afterword.families.programming.own_tests import OwnTest

NOT_BEGUN = "not_begun"


@dataclass(slots=True)
class Results:
    """Takes outcomes as they come."""

    as_json: bool = False
    out: Path | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    kept: Kept | None = None
    """What the session is kept in: its run begins with the first task."""
    compares: bool = False
    """Whether arms are compared: then no outcome is good or bad in itself."""
    burned: frozenset[str] = frozenset()
    """Tasks whose held-out checks were revealed: nothing accepts them until fresh ones are given."""
    fresh: frozenset[str] = frozenset()
    """Tasks that are judged by held-out checks which were given after others were revealed."""
    answered: int | None = None
    """The exit code of a run that ends with an answer of its own, as a pilot does."""
    _own_tests: dict[str, Sequence[OwnTest]] = field(default_factory=dict)

    @property
    def run(self) -> str:
        """The name of the run; empty where it is not kept, or has not begun."""
        return "" if self.kept is None or self.kept.run is None else self.kept.run.id

    def own_tests(self, task_id: str, tests: Sequence[OwnTest]) -> None:
        """Keeps the tests that a model wrote until the task's outcome is told."""
        if self.as_json:
            self._own_tests[task_id] = tests

    def add(self, outcome: Outcome, job: Job | None = None) -> None:
        """An outcome: a line of JSON, and its output in the file. Of an experiment the line says which job's it is."""
        self.statuses[outcome.status] += 1
        own_tests = self._own_tests.pop(outcome.task_id, ())
        if self.as_json:
            told = {**_place(job), **outcome_json(outcome, own_tests)}
            marks = {"held_out_burned": self.burned, "held_out_fresh": self.fresh}
            self._write({**told, **{mark: True for mark, tasks in marks.items() if outcome.task_id in tasks}})
        if self.out is not None and outcome.best is not None:
            try:
                self.out.write_text(outcome.best.trajectory.output, encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                raise unwritable(self.out, error) from None

    def left(self, task_id: str, reason: StopReason, job: Job | None = None) -> None:
        """A task that was not begun, and why."""
        self.statuses[NOT_BEGUN] += 1
        if self.as_json:
            self._write({**_place(job), "task": task_id, "status": NOT_BEGUN, "stop_reason": reason})

    def exit_code(self, *, require_acceptance: bool) -> int:
        """0 if all are accepted or unverified, 3 if any faulted, else 1; of an experiment 0 if each has its outcome."""
        if self.answered is not None:
            return self.answered
        if self.statuses["faulted"]:
            return FAULTED
        if self.compares:
            return FAILED if self.statuses[NOT_BEGUN] else ACCEPTED
        good = self.statuses["accepted"] + (0 if require_acceptance else self.statuses["unverified"])
        return ACCEPTED if good == self.statuses.total() else FAILED

    def _write(self, told: dict[str, object]) -> None:
        sys.stdout.write(json.dumps({**({"run": self.run} if self.run else {}), **told}) + "\n")
        sys.stdout.flush()


def _place(job: Job | None) -> dict[str, object]:
    return {} if job is None else {"task": job.task.id, "arm": job.arm, "seed": job.seed}


def refuse_unwritable(out: Path) -> None:
    """Found now and not after the money is spent.

    Raises:
        InputError: the file cannot be written.
    """
    there = out.exists()
    try:
        with out.open("ab"):
            pass
        if not there:
            out.unlink()
    except OSError as error:
        raise unwritable(out, error) from None


def unwritable(out: Path, error: OSError) -> InputError:
    """What is said of a file that cannot be written."""
    return InputError(f"the program cannot be written here: {error.strerror}; give another --out", file=out)

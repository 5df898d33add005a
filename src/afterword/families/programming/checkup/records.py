"""What a check-up saw, as plain records: the verdicts, without any judgement on the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.checkup.trivial import Trivial
from afterword.families.programming.mutants import Mutant


@dataclass(frozen=True, slots=True)
class Part:
    """A suite of a task, with what one verdict of it may use."""

    name: str
    """`visible` or `held_out`."""
    suite: Suite
    limits: Limits


@dataclass(frozen=True, slots=True)
class Repeated:
    """One program judged again and again by one suite."""

    program: str
    verdicts: tuple[Feedback, ...]
    """The first as in a run, the others with other seeds."""


@dataclass(frozen=True, slots=True)
class PartVerdicts:
    """All that was seen of one suite."""

    part: Part
    trivial: tuple[tuple[Trivial, Feedback], ...]
    repeated: tuple[Repeated, ...]
    solution: Feedback | None = None
    memorised: Feedback | None = None
    """Of a program that knows the visible answers and nothing else; held-out suites only."""
    alone_s: Mapping[str, float] = field(default_factory=dict)
    """Check -> seconds of a verdict on it alone, where the whole suite took long."""
    slowest_s: float = 0.0
    """Of the repeated programs the slowest, each by its quickest verdict: a busy machine says nothing of the checks."""


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """A mutant of the solution, and which suite noticed it."""

    mutant: Mutant
    killed_by: str | None
    """The first part that failed it; None: it survived them all."""


@dataclass(frozen=True, slots=True)
class Examination:
    """A whole check-up."""

    task_id: str
    isolation: str
    repeats: int
    parts: tuple[PartVerdicts, ...]
    mutants: tuple[MutantVerdict, ...] | None
    """None: there was no solution, or it does not pass, so that nothing can be said."""

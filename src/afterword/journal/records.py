"""What goes into a journal about a run, and what comes out when one looks back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from afterword.core.records import Trial, Usage


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """Where a run was forked off: after the verdict on this trial of the task."""

    run: str
    task: str
    trial: int
    lesson: str | None = None
    """The lesson that stands in place of the recorded one; None: it is drawn anew."""
    arm: str | None = None
    """Of the arms in which the run worked on the task; None: all."""
    seed: int | None = None
    """Of the seeds; None: all."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run is started with, and needs to be resumed."""

    command: tuple[str, ...] = ()
    """The command line."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """As plain JSON data. Addresses lose their password on the way in."""
    seed: int = 0
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """By name, e.g. `task:ID`, `model:actor`, `prompts`, `code`: what must be the same when the run is resumed."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as a line of a list."""

    id: str
    state: str
    """`running`, `interrupted` or `finished`."""
    started: float
    """Seconds since 1970."""
    ended: float | None
    command: tuple[str, ...]
    tasks: int
    """Tasks that were begun."""
    not_begun: int
    """Tasks that the run was started with and has not come to; 0 where it takes only some of them, as a fork does."""
    jobs: int
    """Tasks x arms x seeds that were begun: as many as tasks, unless arms are compared."""
    statuses: Mapping[str, int]
    """How many jobs came to which status."""
    trials: int
    usage: Usage
    jobs_left: int = 0
    """Jobs that were not begun."""
    arms: int = 1
    seeds: int = 1
    fork: ForkPoint | None = None
    holder: str | None = None
    """Which process is at work on it."""
    version: str = ""
    """Of this program, when the run was started."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What one model was paid for in one role; what several arms share counts once."""

    role: str
    model: str
    """The provider's own name of it."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """One task, in one arm and with one seed."""

    task: str
    arm: str
    seed: int
    status: str | None
    """None while it is not finished."""
    trials: int
    best_score: float | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial as it is kept."""

    task: str
    arm: str
    seed: int
    trial: Trial
    complete: bool
    """The task has ended. Before that the trial's trajectory and usage stand in the effects only."""


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect as it is kept: where it stands, what was asked and what came of it."""

    task: str
    arm: str
    seed: int
    trial: int
    role: str
    n: int
    kind: str
    fingerprint: str
    request: object
    """Plain data; None where it was too large to keep."""
    result: object
    """Plain data."""
    usage: Usage | None
    """Of a model call."""
    tries: int | None
    at: float
    superseded: bool
    """It belongs to a trial that was started again."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened to a run besides its effects, e.g. checks that were burned."""

    kind: str
    task: str
    text: str
    at: float = 0.0

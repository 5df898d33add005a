"""What happens in a run, told once: one tagged union of frozen events.

Progress display, traces and the viewer listen to this one stream; the loop knows none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from afterword.core.records import Acceptance, FaultRecord, Feedback, Leak, Outcome, Reflection, StopReason, Usage


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The loop begins on a task."""

    task: str
    strategy: str


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial begins in a fresh environment, with these lessons."""

    task: str
    trial: int
    lessons: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A model answered (`seconds` of the usage is the latency)."""

    task: str
    trial: int
    role: str
    model: str
    usage: Usage
    spent: Usage
    """All that the task has used so far, this call included."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A trial was judged."""

    task: str
    trial: int
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class Reflected:
    """A lesson was drawn."""

    task: str
    trial: int
    reflection: Reflection


@dataclass(frozen=True, slots=True)
class Retired:
    """Lessons of these trials are no longer shown, since the score fell too often with them in the prompt."""

    task: str
    trial: int
    lessons: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The loop has ended; the held-out check follows, if there is one."""

    task: str
    trial: int
    reason: StopReason


@dataclass(frozen=True, slots=True)
class Faulted:
    """A fault ended the loop."""

    task: str
    fault: FaultRecord


@dataclass(frozen=True, slots=True)
class AcceptanceReached:
    """The held-out check has judged: counts only."""

    task: str
    acceptance: Acceptance


@dataclass(frozen=True, slots=True)
class Leaked:
    """Held-out text stood in lessons or prompts."""

    task: str
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The loop is over."""

    task: str
    outcome: Outcome


Event = (
    RunStarted
    | TrialStarted
    | ModelCalled
    | Evaluated
    | Reflected
    | Retired
    | Stopped
    | Faulted
    | AcceptanceReached
    | Leaked
    | RunEnded
)


class NoEvents:
    """A sink that drops everything."""

    def emit(self, event: Event) -> None:
        """Does nothing."""

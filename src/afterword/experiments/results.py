"""What an experiment is counted from: one small record for each task, arm and seed, without any text of a trial.

Apart from the outcomes, so that a run of many thousand trials is compared in little memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from afterword.core.records import Outcome, Status, StopReason, Usage

BURNED = "burned"
"""The kind of a journal's note that says of a task: its held-out checks were revealed after this trial."""
FRESH = "fresh held-out checks"
"""The kind of a note that brings a task held-out checks in place of burned ones: the file's name, then its text."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One trial, counted."""

    number: int
    passed: bool
    """What the visible evaluator said."""
    score: float
    spent: Usage
    """By the end of this trial, all roles together, and what was asked before the first one."""
    lesson: bool
    """Whether a lesson was in its prompt."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one arm came to on one task with one seed."""

    task: str
    arm: str
    seed: int
    status: Status
    stop_reason: StopReason | None
    trials: tuple[TrialResult, ...]
    chosen: int | None
    """The trial whose output was submitted."""
    passed: bool
    """Whether the visible evaluator passed the submitted output."""
    accepted: bool | None
    """Whether the held-out check accepted it; None where there was none."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By role."""
    fault: str = ""

    @property
    def faulted(self) -> bool:
        """Nothing is concluded about the task."""
        return self.status == "faulted"

    @property
    def solved(self) -> bool:
        """Whether the submitted output is right: by the held-out check where there is one, else by the visible one.

        An output that is accepted though the visible evaluator failed it counts (the paper's false negatives).
        """
        return not self.faulted and (self.passed if self.accepted is None else self.accepted)

    @property
    def spent(self) -> Usage:
        """All roles together."""
        return sum(self.usage.values(), Usage())

    @property
    def _came_with(self) -> int:
        """The trial by whose end the output was there. One that the visible evaluator failed was submitted in the end.

        Of several that pass, of an arm that goes on, only the submitted one was judged; the first one stands for it.
        """
        if not self.passed:
            return len(self.trials)
        return next((trial.number for trial in self.trials if trial.passed), self.chosen or 0)

    def solved_at(self) -> Usage | None:
        """What was spent when the output was there that solved the task; None if none did."""
        if not self.solved:
            return None
        at = next((trial.spent for trial in self.trials if trial.number == self._came_with), None)
        return self.spent if at is None or not self.passed else at

    def solved_by(self, trial: int) -> bool:
        """Whether it was solved with at most so many trials."""
        return self.solved and self.chosen is not None and self._came_with <= trial


def result_of(outcome: Outcome, *, arm: str, seed: int) -> Result:
    """The record of an outcome."""
    spent = _before_trials(outcome)
    trials = []
    for trial in outcome.trials:
        spent = spent + sum(trial.usage.values(), Usage())
        feedback = trial.feedback
        trials.append(TrialResult(trial.number, feedback.passed, feedback.score, spent, bool(trial.lessons_shown)))
    return Result(
        outcome.task_id,
        arm,
        seed,
        outcome.status,
        outcome.stop_reason,
        tuple(trials),
        None if outcome.best is None else outcome.best.number,
        outcome.passed,
        None if outcome.acceptance is None else outcome.acceptance.passed,
        dict(outcome.usage),
        "" if outcome.fault is None else outcome.fault.kind,
    )


_BEFORE = "test_writer"
"""The role that is asked before the first trial: an arm that has its tests written has paid for them by then."""


def _before_trials(outcome: Outcome) -> Usage:
    total = outcome.usage.get(_BEFORE, Usage())
    within = sum((trial.usage.get(_BEFORE, Usage()) for trial in outcome.trials), Usage())
    cost = None if total.cost_usd is None or within.cost_usd is None else total.cost_usd - within.cost_usd
    return Usage(
        total.calls - within.calls,
        total.tokens_in - within.tokens_in,
        total.tokens_out - within.tokens_out,
        total.tokens_cached - within.tokens_cached,
        total.tokens_reasoning - within.tokens_reasoning,
        cost,
        total.seconds - within.seconds,
    )

"""What an experiment is counted from: one small record for each task, arm and seed, without any text of a trial.

Apart from the outcomes, so that a run of many thousand trials is compared in little memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from afterword.core.effects import UNCHARGED
from afterword.core.judging import NOT_JUDGED
from afterword.core.records import Outcome, Status, StopReason, Usage

BURNED = "burned"
"""The kind of a journal's note that says of a task: its held-out checks were revealed after this trial."""
FRESH = "fresh held-out checks"
"""The kind of a note that brings a task held-out checks in place of burned ones: the file's name, then its text."""

SELF_JUDGE = "self_judge"
"""The role of the actor's own model where it judges its attempts."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One trial, counted."""

    number: int
    passed: bool
    """What the visible evaluator said."""
    score: float
    spent: Usage
    """When its output was judged, all roles together, with what was asked before the first trial."""
    lesson: bool
    """Whether a lesson was in its prompt."""
    accepted: bool | None = None
    """Whether the held-out check accepts what had been submitted if it were the last one; None: it is not known."""


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
    judged: bool = True
    """Whether its evaluator has judged the submitted output; one arm goes on without asking it."""

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
        """All roles together, without what finding out how it did has taken."""
        return _charged(self.usage)

    def solved_by(self, trial: int) -> bool:
        """Whether what had been submitted after at most so many trials is right.

        Where only the output that was submitted is judged, it counts from the trial that gave it, or the first one that
        passed; what had been submitted before is then not known, and counts as wrong.
        """
        if self.faulted or self.chosen is None or trial < 1:
            return False
        if trial >= len(self.trials):
            return self.solved
        if (known := self.trials[trial - 1].accepted) is not None:
            return known
        passed = (one.number for one in self.trials if one.passed)
        return self.solved and (next(passed, self.chosen) if self.passed else self.chosen) <= trial

    def steps(self) -> list[tuple[Usage, bool]]:
        """By trial what had been spent when it was judged, and whether what had been submitted then is right."""
        return [(trial.spent, self.solved_by(trial.number)) for trial in self.trials]


def result_of(outcome: Outcome, *, arm: str, seed: int) -> Result:
    """The record of an outcome."""
    spent = _before_trials(outcome)
    trials = []
    by_trial = outcome.accepted_by_trial or (None,) * len(outcome.trials)
    for trial, accepted in zip(outcome.trials, by_trial, strict=True):
        after = {role: used for role, used in trial.usage.items() if role in _AFTER}
        judged = spent + _charged({role: used for role, used in trial.usage.items() if role not in after})
        seen, lesson = trial.feedback, bool(trial.lessons_shown)
        trials.append(TrialResult(trial.number, seen.passed, seen.score, judged, lesson, accepted))
        spent = judged + _charged(after)
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
        outcome.best is None or outcome.best.feedback.reason != NOT_JUDGED,
    )


def _charged(usage: Mapping[str, Usage]) -> Usage:
    return sum((used for role, used in usage.items() if role != UNCHARGED), Usage())


_AFTER = frozenset({"reflector", "memory", "reviewer"})
"""The roles that are asked when an output has been judged: it could be submitted without them."""
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

"""When the loop ends: small rules over the progress so far, composed with `first_of`.

All rules see all trials each time and keep no state, so a resumed run stops where the first one would have.
"""

from __future__ import annotations

from dataclasses import dataclass

from afterword.core.lessons import check_ids_of, normalise, same_lesson
from afterword.core.protocols import Progress, StopRule
from afterword.core.records import Feedback, StopReason, Trajectory, Trial
from afterword.errors import InputError


@dataclass(frozen=True, slots=True)
class FirstOf:
    """Stops as soon as one of its rules does, in their order."""

    rules: tuple[StopRule, ...]

    def check(self, progress: Progress) -> StopReason | None:
        for rule in self.rules:
            if (reason := rule.check(progress)) is not None:
                return reason
        return None


def first_of(*rules: StopRule) -> FirstOf:
    """A rule that stops as soon as one of `rules` does."""
    return FirstOf(rules)


@dataclass(frozen=True, slots=True)
class Passed:
    """The evaluator passed the last trial."""

    def check(self, progress: Progress) -> StopReason | None:
        return StopReason.PASSED if progress.trials[-1].feedback.passed else None


@dataclass(frozen=True, slots=True)
class MaxTrials:
    """So many trials have been made. Three to five is a fair default; 4 here."""

    trials: int = 4

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise InputError(f"max_trials must be at least 1, found {self.trials!r}")

    def check(self, progress: Progress) -> StopReason | None:
        return StopReason.MAX_TRIALS if len(progress.trials) >= self.trials else None


@dataclass(frozen=True, slots=True)
class MaxCost:
    """So much money is spent. An unknown cost never reaches a limit: the budget refuses it before."""

    cost_usd: float

    def check(self, progress: Progress) -> StopReason | None:
        cost = progress.usage.cost_usd
        return StopReason.COST if cost is not None and cost >= self.cost_usd else None


@dataclass(frozen=True, slots=True)
class MaxTokens:
    """So many tokens are used, prompt and reply together."""

    tokens: int

    def check(self, progress: Progress) -> StopReason | None:
        return StopReason.TOKENS if progress.usage.tokens >= self.tokens else None


@dataclass(frozen=True, slots=True)
class MaxCalls:
    """So many model calls are made."""

    calls: int

    def check(self, progress: Progress) -> StopReason | None:
        return StopReason.CALLS if progress.usage.calls >= self.calls else None


@dataclass(frozen=True, slots=True)
class MaxSeconds:
    """So much wall time has gone by."""

    seconds: float

    def check(self, progress: Progress) -> StopReason | None:
        return StopReason.TIME if progress.elapsed_s >= self.seconds else None


@dataclass(slots=True)
class Cancellation:
    """A rule that stops the loop between two steps once somebody has called `cancel`."""

    cancelled: bool = False

    def cancel(self) -> None:
        """Lets the step under way finish and then ends the loop."""
        self.cancelled = True

    def check(self, progress: Progress) -> StopReason | None:  # noqa: ARG002
        return StopReason.CANCELLED if self.cancelled else None


@dataclass(frozen=True, slots=True)
class RepeatedOutput:
    """The last output equals an earlier one, whichever: A, B, A is caught.

    An output over which a trial disputed a check does not count: there the same program may be right to
    stay. Off for arms that sample, where a repetition is only chance.
    """

    def check(self, progress: Progress) -> StopReason | None:
        *earlier, last = progress.trials
        made = _made(last.trajectory)
        if made is None or _disputes(last):
            return None
        same = [trial for trial in earlier if _made(trial.trajectory) == made]
        repeated = bool(same) and not any(_disputes(trial) for trial in same)
        return StopReason.REPEATED_OUTPUT if repeated else None


def _made(trajectory: Trajectory) -> str | tuple[str, ...] | None:
    """The output; where a world is the result and there is none, the actions."""
    if trajectory.end == "no_output":
        return None
    return trajectory.output or tuple(step.action for step in trajectory.steps) or None


def _disputes(trial: Trial) -> bool:
    return trial.reflection is not None and trial.reflection.disputes is not None


@dataclass(frozen=True, slots=True)
class RepeatedReflection:
    """The last lesson says essentially the same as an earlier one, whichever: ids, numbers and case do not count.

    Placeholders are no lessons.
    """

    similarity: float = 0.9
    """Ratio of `difflib.SequenceMatcher` on the normalised texts, in (0, 1]."""

    def check(self, progress: Progress) -> StopReason | None:
        last = progress.trials[-1].reflection
        if last is not None and last.source == "placeholder":
            return None
        ids = check_ids_of(progress.trials) if last is not None else ()
        text = normalise(last.text, ids) if last is not None else ""
        if not text:
            return None
        for trial in progress.trials[:-1]:
            earlier = trial.reflection
            if earlier is not None and same_lesson(normalise(earlier.text, ids), text, self.similarity):
                return StopReason.REPEATED_REFLECTION
        return None


@dataclass(frozen=True, slots=True)
class Plateau:
    """The best score rose by less than `min_gain` over the last `patience` trials. Off by default.

    Only for scores that are grades: with a single pass or fail every failure would be a plateau.
    """

    min_gain: float = 0.05
    patience: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.min_gain <= 1:
            raise InputError(f"min_gain must be above 0 and at most 1, found {self.min_gain!r}")
        if self.patience < 1:
            raise InputError(f"patience must be at least 1 trial, found {self.patience!r}")

    def check(self, progress: Progress) -> StopReason | None:
        feedbacks = [trial.feedback for trial in progress.trials]
        if len(feedbacks) <= self.patience or not all(is_graded(feedback) for feedback in feedbacks):
            return None
        before = max(feedback.score for feedback in feedbacks[: -self.patience])
        since = max(feedback.score for feedback in feedbacks[-self.patience :])
        return StopReason.PLATEAU if since - before < self.min_gain else None


def is_graded(feedback: Feedback) -> bool:
    """Whether the score says more than passed or failed: a grade, or a share of several checks."""
    return feedback.graded or len(feedback.checks) > 1


_TIMELESS = (
    Passed,
    MaxTrials,
    MaxCost,
    MaxTokens,
    MaxCalls,
    Cancellation,
    RepeatedOutput,
    RepeatedReflection,
    Plateau,
)


def reads_time(rule: StopRule) -> bool:
    """Whether a rule may look at `elapsed_s`. Each reading is recorded, so that none is made for rules that do not."""
    if isinstance(rule, FirstOf):
        return any(reads_time(each) for each in rule.rules)
    return type(rule) not in _TIMELESS

"""`Rubric`: several evaluators as the weighted criteria of one verdict, with a threshold.

Weights and threshold are fixed before a run and the same in every trial: `fingerprint` goes into the record of a run,
and `rubric_fingerprints` refuses a run with two of them. Criteria that need no model stand here too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterword.core.bounds import cut
from afterword.core.effects import Effects, fingerprint
from afterword.core.faults import guard
from afterword.core.functions import EvaluateFunction, as_evaluator
from afterword.core.judging import prepare
from afterword.core.protocols import EvaluateContext, Evaluator
from afterword.core.records import CheckResult, Feedback, Task, Trust
from afterword.errors import InputError
from afterword.evaluators.identity import identity_of

DEFAULT_THRESHOLD = 0.85
MAX_MESSAGE_CHARS = 600
"""Of each criterion."""
_EXACT = 1e-9
_STRONGEST_FIRST: tuple[Trust, ...] = (
    "exact",
    "isolated",
    "environment",
    "shared_process",
    "exit_code",
    "person",
    "heuristic",
    "model",
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that counts, by any evaluator or plain function, and how much it counts."""

    name: str
    weight: float
    evaluator: Evaluator | EvaluateFunction


class Rubric:
    """Passes when the weighted mean of its criteria's scores reaches the threshold.

    Each criterion is a check. The verdict's score is 1 when it passes and else the weighted mean; its trust is that of
    the weakest criterion.

    Raises:
        InputError: the weights do not sum to 1, a name stands twice, or the threshold is not in (0, 1].
    """

    def __init__(self, criteria: Sequence[Criterion], *, threshold: float = DEFAULT_THRESHOLD) -> None:
        _refuse_unusable(criteria, threshold)
        self.criteria = tuple(criteria)
        self.threshold = threshold
        self.fingerprint = fingerprint(
            "rubric", threshold, [(one.name, one.weight, identity_of(one.evaluator)) for one in criteria]
        )
        """Changes with whatever decides a verdict. Taken when the rubric is made: the same in every trial."""
        self._evaluators = tuple(as_evaluator(one.evaluator) for one in criteria)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.criteria)

    async def prepare(self, task: Task, effects: Effects) -> Rubric:
        """The same rubric with every criterion prepared that has something to do before the first trial."""
        prepared = Rubric.__new__(Rubric)
        prepared.criteria, prepared.threshold, prepared.fingerprint = self.criteria, self.threshold, self.fingerprint
        prepared._evaluators = tuple([await prepare(task, each, effects) for each in self._evaluators])
        return prepared

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict, one criterion after the other.

        Raises:
            Fault: a criterion could not be judged, so neither can the whole.
        """
        found = [
            await guard(f"criterion {one.name!r}", Feedback, evaluator.evaluate, context)
            for one, evaluator in zip(self.criteria, self._evaluators, strict=True)
        ]
        return self._verdict(found)

    def _verdict(self, found: Sequence[Feedback]) -> Feedback:
        total = math.fsum(one.weight * feedback.score for one, feedback in zip(self.criteria, found, strict=True))
        passed = total >= self.threshold - _EXACT
        checks = tuple(
            CheckResult(one.name, feedback.passed, "" if feedback.passed else _said(feedback))
            for one, feedback in zip(self.criteria, found, strict=True)
        )
        lines = [f"rubric: {min(total, 1.0):.3g} of 1, {self.threshold:g} needed"]
        for one, check, feedback in zip(self.criteria, checks, found, strict=True):
            if not check.passed:
                worth = f"{feedback.score:.2g} of 1, weight {one.weight:g}"
                lines.append(f"{one.name} ({worth}): {check.message}")
        return Feedback(
            passed=passed,
            score=1.0 if passed else max(0.0, min(total, self.threshold - _EXACT)),
            trust=max((feedback.trust for feedback in found), key=_STRONGEST_FIRST.index),
            reason="ok" if passed else "failed",
            message="\n".join(lines),
            checks=checks,
            graded=True,
            isolation=", ".join(sorted({feedback.isolation for feedback in found if feedback.isolation})),
            wall_s=math.fsum(feedback.wall_s for feedback in found),
        )


def rubric_fingerprints(evaluators: Iterable[object]) -> dict[str, str]:
    """What a run's record says of the rubric that its evaluators share: `{"rubric": …}`, or nothing without one.

    Raises:
        InputError: there are two different rubrics among them.
    """
    rubrics = [one for one in evaluators if isinstance(one, Rubric)]
    if not rubrics:
        return {}
    first = rubrics[0]
    for other in rubrics[1:]:
        if other.fingerprint != first.fingerprint:
            raise InputError(
                f"a run has one rubric, the same in every trial, and found two: {_told(first)}, and {_told(other)}; "
                "make two runs of it"
            )
    return {"rubric": first.fingerprint}


def _told(rubric: Rubric) -> str:
    weights = ", ".join(f"{one.name} {one.weight:g}" for one in rubric.criteria)
    return f"{weights}, threshold {rubric.threshold:g} ({rubric.fingerprint[:8]})"


def _said(feedback: Feedback) -> str:
    said = feedback.message.strip() or (f"failed: {', '.join(feedback.failed_ids)}" if feedback.failed_ids else "")
    return cut(said or feedback.reason or "failed", MAX_MESSAGE_CHARS)


def _refuse_unusable(criteria: Sequence[Criterion], threshold: float) -> None:
    if not criteria:
        raise InputError("a rubric needs at least one criterion, found none")
    names = [one.name for one in criteria]
    for name in names:
        if not name.strip() or not name.isprintable():
            raise InputError(f"a criterion needs a name of one line, found {name!r}")
        if names.count(name) > 1:
            raise InputError(f"two criteria are named {name!r}; give each a name of its own")
    for one in criteria:
        if not isinstance(one.weight, int | float) or not 0 < one.weight <= 1:
            raise InputError(f"the weight of {one.name!r} must be above 0 and at most 1, found {one.weight!r}")
    total = math.fsum(one.weight for one in criteria)
    if not math.isclose(total, 1.0, abs_tol=1e-6):
        told = ", ".join(f"{one.name} {one.weight:g}" for one in criteria)
        raise InputError(f"the weights of a rubric must sum to 1, found {total:g} ({told}); change them")
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise InputError(f"the threshold of a rubric must be above 0 and at most 1, found {threshold!r}")


@dataclass(frozen=True, slots=True)
class ForbiddenActions:
    """Passes when no action of the trajectory, nor its output, matches one of these regular expressions.

    Raises:
        InputError: an expression cannot be read.
    """

    patterns: tuple[str, ...]
    in_output: bool = True
    """Whether the output is searched too: of a program or an answer it is all there is."""

    def __post_init__(self) -> None:
        if type(self.patterns) is not tuple or not self.patterns:
            raise InputError(f"expected a tuple of regular expressions, found {self.patterns!r}")
        for pattern in self.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise InputError(f"{pattern!r} is not a regular expression: {error}; mend it") from None

    @property
    def check_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.patterns))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict; the score is the share of expressions that nothing matches."""
        trajectory = context.trajectory
        actions = [step.action for step in trajectory.steps if step.action]
        searched = [*actions, *([trajectory.output] if self.in_output else [])]

        async def judge() -> Feedback:
            checks = tuple(self._check(pattern, searched) for pattern in self.check_ids)
            allowed = sum(check.passed for check in checks)
            passed = allowed == len(checks)
            message = "\n".join(check.message for check in checks if not check.passed)
            return Feedback(passed, allowed / len(checks), "exact", "ok" if passed else "forbidden", message, checks)

        return await context.effects.effect(context.role, (self.patterns, searched), judge, Feedback)

    def _check(self, pattern: str, searched: Sequence[str]) -> CheckResult:
        for text in searched:
            if (found := re.search(pattern, text)) is not None:
                shown = cut(" ".join(found.group().split()), 120)
                return CheckResult(pattern, False, f"forbidden by {cut(pattern, 80)!r}: {shown!r}")
        return CheckResult(pattern, True)


@dataclass(frozen=True, slots=True)
class StepEfficiency:
    """How sparing a trajectory is: 1 up to `target` steps, then falling evenly to 0 at `limit`. Passes at 1.

    Raises:
        InputError: the limit is not above the target.
    """

    target: int
    limit: int

    check_ids = ("steps",)

    def __post_init__(self) -> None:
        if not 0 <= self.target < self.limit:
            raise InputError(f"step efficiency needs 0 <= target < limit, found {self.target} and {self.limit}")

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict on the number of steps."""
        steps = len(context.trajectory.steps)

        async def judge() -> Feedback:
            score = max(0.0, min(1.0, (self.limit - steps) / (self.limit - self.target)))
            passed = steps <= self.target
            message = (
                "" if passed else f"{steps} steps, where {self.target} {'is' if self.target == 1 else 'are'} enough"
            )
            check = CheckResult("steps", passed, message)
            return Feedback(passed, score, "exact", "ok" if passed else "inefficient", message, (check,), graded=True)

        return await context.effects.effect(context.role, (self.target, self.limit, steps), judge, Feedback)

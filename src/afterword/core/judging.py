"""The two verdicts on a trajectory: the visible one, which feeds the loop, and the held-out one, which never does.

They are apart from the loop so that one can see in one place what leaves an evaluator: a `Feedback` with
text for the loop, an `Acceptance` with counts only for the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from afterword.core.effects import Effects
from afterword.core.events import AcceptanceReached
from afterword.core.faults import guard
from afterword.core.protocols import EvaluateContext, Evaluator, Preparable
from afterword.core.records import Acceptance, CheckResult, Feedback, Status, Task, Trajectory, Trial
from afterword.errors import BudgetExhausted, Fault

NOT_REACHED = "not reached"
"""What is said of a check that nothing came to, neither a pass nor a failure of its own."""
NOT_JUDGED = "not_judged"
"""The reason of a visible verdict that nobody has reached, where a loop goes on without one."""
NO_VERDICT = "no_verdict"
"""The reason of a held-out verdict that was not given, e.g. by a person who skipped it."""


async def prepare(task: Task, evaluator: Evaluator, effects: Effects) -> Evaluator:
    """The evaluator of all trials; one that is to be prepared for the task is prepared here, once."""
    if not _is_preparable(evaluator):
        return evaluator
    return await guard("evaluator", object, evaluator.prepare, task, effects)


def _is_preparable(evaluator: object) -> TypeGuard[Preparable]:
    return hasattr(evaluator, "prepare")  # what isinstance with the protocol asks, in a hundredth of its time


async def evaluate(task: Task, trajectory: Trajectory, evaluator: Evaluator, effects: Effects) -> Feedback:
    """The visible verdict; an attempt without output fails every check without being judged."""
    if trajectory.end == "no_output":
        message = trajectory.detail or "The attempt gave no output."
        checks = tuple(CheckResult(check_id, False, NOT_REACHED) for check_id in evaluator.check_ids)
        return Feedback(False, 0.0, "exact", "no_output", message, checks)
    context = EvaluateContext(task, effects.trial, trajectory, effects)
    return await guard("evaluator", Feedback, evaluator.evaluate, context)


async def accept(task: Task, trial: Trial, held_out: Evaluator, effects: Effects) -> Acceptance | None:
    """The held-out verdict; None if it was skipped, or needs a model that the budget can no longer pay."""
    acceptance = await _held_out_verdict(task, trial, held_out, effects)
    if acceptance is not None:
        effects.emit(AcceptanceReached(task.id, acceptance))
    return acceptance


async def accept_best(
    task: Task, trials: Sequence[Trial], held_out: Evaluator, effects: Effects, *, each: bool
) -> tuple[Acceptance | None, tuple[bool | None, ...]]:
    """The held-out verdict on the best of at least one trial.

    With `each` also, for each trial, whether what had been submitted if it were the last one is accepted; None where no
    verdict was reached.
    """
    acceptance = await accept(task, max(trials, key=_merit), held_out, effects)
    return acceptance, await _accepted_by_trial(task, trials, acceptance, held_out, effects) if each else ()


async def _accepted_by_trial(
    task: Task, trials: Sequence[Trial], acceptance: Acceptance | None, held_out: Evaluator, effects: Effects
) -> tuple[bool | None, ...]:
    """`acceptance` is that of the best of all trials, which is not judged again."""
    submitted = [max(trials[:end], key=_merit) for end in range(1, len(trials) + 1)]
    verdicts = {submitted[-1].number: acceptance}
    for trial in submitted:
        if trial.number not in verdicts:
            try:
                verdicts[trial.number] = await _held_out_verdict(task, trial, held_out, effects)
            except Fault:  # of a verdict that the outcome does not hang on
                verdicts[trial.number] = None
    found = [verdicts[trial.number] for trial in submitted]
    return tuple(None if verdict is None else verdict.passed for verdict in found)


async def _held_out_verdict(task: Task, trial: Trial, held_out: Evaluator, effects: Effects) -> Acceptance | None:
    if trial.trajectory.end == "no_output":
        return Acceptance(False, 0, len(held_out.check_ids), "exact", "no_output")
    effects.begin_trial(trial.number)
    context = EvaluateContext(task, trial.number, trial.trajectory, effects, role="held_out")
    try:
        verdict = await guard("held-out evaluator", Feedback, held_out.evaluate, context)
    except BudgetExhausted:
        return None
    if verdict.reason == NO_VERDICT:
        return None
    total = len(verdict.checks) or 1
    passed = verdict.checks_passed if verdict.checks else int(verdict.passed)
    return Acceptance(verdict.passed, passed, total, verdict.trust, verdict.reason, verdict.isolation)


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """The passing trial, or else the highest score, the latest among equals."""
    return max(trials, key=_merit, default=None)


def _merit(trial: Trial) -> tuple[bool, float, int]:
    return trial.feedback.passed, trial.feedback.score, trial.number


def status_of(best: Trial | None, acceptance: Acceptance | None, faulted: bool) -> Status:
    """The status of an outcome, from what was found."""
    if faulted:
        return "faulted"
    if best is None or not best.feedback.passed:
        return "gave_up"
    if acceptance is None:
        return "unverified"
    return "accepted" if acceptance.passed else "rejected"

"""An outcome as the JSON object that `afterword run --json` prints, and its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from afterword.core.records import Outcome, Reflection, Trial, Usage

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

ACCEPTED = 0
FAILED = 1
FAULTED = 3


def outcome_json(outcome: Outcome, own_tests: Sequence[OwnTest] = ()) -> dict[str, object]:
    """The outcome as plain data, with the tests that a model wrote for it. The held-out check shows in counts only."""
    acceptance = outcome.acceptance
    total = outcome.total_usage
    best = outcome.best
    written = [{"text": test.text, "description": test.description} for test in own_tests]
    return {
        "task": outcome.task_id,
        "status": outcome.status,
        "stop_reason": outcome.stop_reason,
        "trust": None if best is None else best.feedback.trust,
        "isolation": None if best is None else best.feedback.isolation or None,
        "best_trial": None if best is None else best.number,
        "trials": [trial_json(trial) for trial in outcome.trials],
        "acceptance": None
        if acceptance is None
        else {
            "passed": acceptance.passed,
            "checks_passed": acceptance.checks_passed,
            "checks_total": acceptance.checks_total,
            "trust": acceptance.trust,
        },
        "usage": {
            "by_role": _by_role(outcome.usage),
            "calls": total.calls,
            "tokens_in": total.tokens_in,
            "tokens_out": total.tokens_out,
            "cost_usd": total.cost_usd,
        },
        "fault": None
        if outcome.fault is None
        else {"kind": outcome.fault.kind, "message": outcome.fault.message, "trial": outcome.fault.trial},
        **({"leaks": [asdict(leak) for leak in outcome.leaks]} if outcome.leaks else {}),
        **({"own_tests": written} if written else {}),
    }


def trial_json(trial: Trial) -> dict[str, object]:
    """A trial as plain data."""
    feedback = trial.feedback
    reflection = trial.reflection
    return {
        "number": trial.number,
        "passed": feedback.passed,
        "score": feedback.score,
        "reason": feedback.reason,
        "checks_passed": feedback.checks_passed,
        "checks_total": len(feedback.checks),
        "failed": list(feedback.failed_ids),
        "feedback": feedback.message,
        "reflection": reflection.text if reflection is not None else None,
        "retracted": list(reflection.retracts) if reflection is not None else [],
        "disputed": reflection.disputes if reflection is not None else None,
        "evidence": reflection.evidence if reflection is not None else None,
        "source": reflection.source if reflection is not None else None,
        "problems": list(reflection.problems) if reflection is not None else [],
        "lessons_shown": list(trial.lessons_shown),
        "retired": list(trial.retired),
        **({"digests": [_digest_json(digest) for digest in trial.digests]} if trial.digests else {}),
        "output": trial.trajectory.output,
        "end": trial.trajectory.end,
        "usage": _by_role(trial.usage),
    }


def _digest_json(digest: Reflection) -> dict[str, object]:
    return {"trial": digest.trial, "merges": list(digest.merges), "text": digest.text}


def _by_role(usage: Mapping[str, Usage]) -> dict[str, dict[str, object]]:
    return {role: asdict(used) for role, used in usage.items()}


def exit_code(outcome: Outcome, *, require_acceptance: bool) -> int:
    """0 accepted or unverified, 1 rejected or gave up, 3 faulted."""
    if outcome.status == "faulted":
        return FAULTED
    if outcome.status == "accepted" or (outcome.status == "unverified" and not require_acceptance):
        return ACCEPTED
    return FAILED

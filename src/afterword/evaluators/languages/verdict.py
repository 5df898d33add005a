"""From a test program's end to the `Feedback` that the loop sees, in the form that all verdicts on programs have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from afterword.core.bounds import cut_end
from afterword.core.judging import NOT_REACHED
from afterword.core.records import CheckResult, Feedback, Limits, RunResult, Trust
from afterword.evaluators.function_tests.judges import Report
from afterword.evaluators.function_tests.verdict import feedback_of
from afterword.evaluators.languages.protocol import BuildFailure
from afterword.evaluators.languages.suite import LanguageSuite
from afterword.evaluators.languages.tokens import Proof

TRUST: Trust = "shared_process"
"""Solution and tests share a process while the checks run."""
_MAX_BUILD_MESSAGE = 2_400


def verdict_of(suite: LanguageSuite, proof: Proof, ending: RunResult, limits: Limits) -> Feedback:
    """The verdict on a program that was run."""
    known = suite.tests.check_ids
    results = {known[index]: ("passed", "") for index in proof.passed}
    for index, message in proof.failed.items():
        kind = "failed" if message.lower().startswith("assert") else "error"
        said = suite.tests.statements.get(known[index])
        results[known[index]] = (kind, f"{said}\n{message}" if said else message)
    current = known[proof.begun] if proof.begun is not None and known[proof.begun] not in results else ""
    reason, message, rest = "", "", ""
    if proof.forged:
        reason, message = "tampered", "the program's process printed records of checks that are not the tests' own"
        results = {}
    elif proof.stopped is not None:
        rest = f"the tests stopped outside of a check: {proof.stopped}"
        reason = "" if len(results) < len(known) else "error"
        message = rest
    elif not proof.done or ending.reason != "exited" or ending.exit_code != 0:
        reason = "lost"
    if reason and results and all(results.get(check_id, ("",))[0] == "passed" for check_id in suite.check_ids):
        # All checks passed, and yet the tests did not come to their end: that is no pass.
        results[suite.check_ids[-1]] = ("error", rest or "the tests did not run to their end")
    report = Report("done", results, reason, message, current, rest)
    shown = replace(ending, stdout="\n".join(filter(None, (proof.output, ending.stderr.strip()))))
    return replace(feedback_of(suite.check_ids, report, shown, limits), trust=TRUST)


def unbuilt(check_ids: Sequence[str], failure: BuildFailure, isolation: str, wall_s: float) -> Feedback:
    """The verdict on a program that could not be compiled, or not with the tests."""
    checks = tuple(CheckResult(check_id, False, NOT_REACHED) for check_id in check_ids)
    text = cut_end(failure.message, _MAX_BUILD_MESSAGE)
    message = f"0 of {len(checks)} checks passed; {failure.reason}: {text}"
    return Feedback(False, 0.0, TRUST, failure.reason, message, checks, isolation=isolation, wall_s=round(wall_s, 6))

"""From a judge's report and the jail's end to the `Feedback` that the loop sees."""

from __future__ import annotations

from collections.abc import Sequence

from afterword.core.bounds import cut_end
from afterword.core.judging import NOT_REACHED
from afterword.core.records import CheckResult, Feedback, Limits, RunResult, Trust
from afterword.evaluators.function_tests.judges import Report

MAX_MESSAGE = 4_000
MAX_CHECK_MESSAGE = 1_200
MAX_OUTPUT = 500
PRINTED = "the program printed (untrusted text):"
"""Leads what a message quotes of the program's output, at its end."""
_SHOWN_CHECKS = 4
_SHOWN_IDS = 20

# Below these levels a program could read the judge's memory or files.
_ISOLATED = frozenset({"namespaces", "bubblewrap", "container", "seatbelt"})


def trust_of(isolation: str) -> Trust:
    """`isolated` where the program can reach neither the judge's process nor its files."""
    return "isolated" if isolation in _ISOLATED else "shared_process"


def feedback_of(check_ids: Sequence[str], report: Report, ending: RunResult, limits: Limits) -> Feedback:
    """The verdict. It passes only if every check was seen to pass, and the program kept to its output."""
    if all_passed(check_ids, report) and ending.reason != "output_limit":
        return passed_feedback(check_ids, ending.isolation, ending.wall_s)
    reason, why = _reason(check_ids, report, ending, limits)
    checks = tuple(_check(check_id, report, reason) for check_id in check_ids)
    score = sum(check.passed for check in checks) / len(checks)
    message = _message(checks, reason, why, ending)
    return Feedback(
        False, score, trust_of(ending.isolation), reason, message, checks, isolation=ending.isolation,
        wall_s=round(ending.wall_s, 6),
    )  # fmt: skip


def all_passed(check_ids: Sequence[str], report: Report) -> bool:
    """Whether each check was seen to pass. Then only what was printed until then can still stand against it."""
    return all(report.results.get(check_id, ("", ""))[0] == "passed" for check_id in check_ids)


def passed_feedback(check_ids: Sequence[str], isolation: str, wall_s: float) -> Feedback:
    """The verdict on a program that passed each check."""
    checks = tuple(CheckResult(check_id, True) for check_id in check_ids)
    return Feedback(
        True, 1.0, trust_of(isolation), "ok", "", checks, isolation=isolation, wall_s=round(wall_s, 6)
    )  # fmt: skip


def early(check_ids: Sequence[str], reason: str, message: str, isolation: str) -> Feedback:
    """A verdict that needs no jail: the source cannot be a program."""
    checks = tuple(CheckResult(check_id, False, NOT_REACHED) for check_id in check_ids)
    return Feedback(False, 0.0, trust_of(isolation), reason, message, checks, isolation=isolation)


def _reason(check_ids: Sequence[str], report: Report, ending: RunResult, limits: Limits) -> tuple[str, str]:
    results = [report.results.get(check_id, ("", ""))[0] for check_id in check_ids]
    if report.reason == "lost" or ending.reason in ("output_limit", "memory"):
        return _ending(ending, limits)  # a closed pipe or a killed child may have shown first as an error
    if report.reason == "died":
        return "error", "the judging process ended while it read what the program returned"
    if report.reason == "timeout":
        return "timeout", f"the program did not finish within {limits.wall_s:g} s"
    if report.reason:
        return report.reason, report.message
    first = next((result for result in results if result not in ("passed", "")), "error")
    return first, report.rest if first == "error" else ""


def _ending(ending: RunResult, limits: Limits) -> tuple[str, str]:
    """The connection was lost: what the jail says of its end."""
    if ending.reason == "timeout" or ending.wall_s >= limits.wall_s:
        return "timeout", f"the program did not finish within {limits.wall_s:g} s"
    if ending.reason == "memory":
        return "memory", f"the program used more than {limits.memory_mb:,} MB of memory"
    if ending.reason == "output_limit":
        return "output_limit", f"the program printed more than {limits.output_bytes:,} bytes"
    how = f"with exit code {ending.exit_code}" if ending.exit_code is not None else "by a signal"
    return "error", f"the program's process ended {how} before all checks were done"


def _check(check_id: str, report: Report, reason: str) -> CheckResult:
    result, message = report.results.get(check_id, ("", ""))
    if result == "passed":
        return CheckResult(check_id, True)
    if result:
        return CheckResult(check_id, False, message)
    if check_id == report.current:
        return CheckResult(check_id, False, f"not finished ({reason})")
    return CheckResult(check_id, False, NOT_REACHED)


def _message(checks: Sequence[CheckResult], reason: str, why: str, ending: RunResult) -> str:
    failed = [check for check in checks if not check.passed]
    parts = [f"{len(checks) - len(failed)} of {len(checks)} checks passed; {reason}{f': {why}' if why else ''}"]
    told = [check for check in failed if check.message != NOT_REACHED]
    parts += [f"{check.id}: {cut_end(check.message, MAX_CHECK_MESSAGE)}" for check in told[:_SHOWN_CHECKS]]
    others = [check.id for check in failed if check not in told[:_SHOWN_CHECKS]]
    if others and len(others) < len(checks):
        more = f" and {len(others) - _SHOWN_IDS} more" if len(others) > _SHOWN_IDS else ""
        parts.append(f"also failed or not reached: {', '.join(others[:_SHOWN_IDS])}{more}")
    output = ending.stdout.strip()
    if output:
        parts.append(f"{PRINTED}\n{_quoted(cut_end(output, MAX_OUTPUT))}")
    return cut_end("\n".join(parts), MAX_MESSAGE)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())

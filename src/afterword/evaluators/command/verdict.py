"""From the end of a command to a verdict: what counts as a pass, and what is said about the rest.

Pass needs positive evidence for every check, and nothing that speaks against it: exit code, protected files and
result have to agree.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from afterword.core.bounds import cut
from afterword.core.records import CheckResult, Feedback, RunResult
from afterword.evaluators.command.check import LISTING, CommandCheck
from afterword.evaluators.command.junit import read_junit
from afterword.evaluators.command.report import MAX_BYTES, Garbled, Report, ReportedCheck
from afterword.evaluators.command.report_log import read_report_log
from afterword.evaluators.command.tap import read_tap

_CHECK_CHARS = 1_200
_MESSAGE_CHARS = 4_000
_OUTPUT_CHARS = 1_500
_SHOWN_CHECKS = 10
_NOT_REPORTED = "not reported"
WHOLE = "command"
"""The check that stands for the command itself, where its tests do not say what went wrong."""

_ENDS = {
    "timeout": "The command took longer than its time limit.",
    "memory": "The command took more memory than its limit.",
    "output_limit": "The command printed more than its limit.",
    "signal": "The command was ended by a signal.",
}


def verdict(check: CommandCheck, ended: RunResult, brought: Iterable[str] = ()) -> Feedback:
    """The verdict. `brought` are files that the candidate wanted to change and may not."""
    tampered = (*_refused(check, brought), *_changed(check, ended))
    try:
        checks, notes = _checks(check, ended)
        reason = _reason(checks)
        found = ""
    except _NoVerdict as none:
        checks = [CheckResult(name, False, _NOT_REPORTED) for name in check.ids] or [CheckResult(WHOLE, False)]
        reason, found, notes = none.reason, str(none), []
    if tampered:
        reason = "tampered"
        checks += tampered
    passed = all(each.passed for each in checks)
    message = "" if passed else _message(checks, notes, reason, found, ended)
    return Feedback(
        passed=passed,
        score=sum(each.passed for each in checks) / len(checks),
        trust=check.result.trust,
        reason=reason,
        message=message,
        checks=tuple(checks),
        isolation=ended.isolation,
        wall_s=ended.wall_s,
    )


class _NoVerdict(Exception):
    """There is nothing to count; `reason` is the verdict's."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_report(check: CommandCheck, ended: RunResult) -> Report:
    """The result that a command left.

    Raises:
        Garbled: there is none, or it cannot be used.
    """
    kind, file = check.result.kind, check.result.file
    if kind == "exit_code":
        told = f"it ended with exit code {ended.exit_code}"
        return Report.of([ReportedCheck(WHOLE, "passed" if ended.exit_code == 0 else "failed", told)])
    if kind == "tap" and not file:
        return read_tap(ended.stdout)
    data = ended.files.get(file)
    if data is None:
        raise Garbled("it was not written, or is no plain file")
    if len(data) > MAX_BYTES:
        raise Garbled(f"it is larger than {MAX_BYTES >> 20} MB")
    if kind == "junit":
        return read_junit(data)
    if kind == "report_log":
        return read_report_log(data, ended.exit_code)
    return read_tap(data.decode("utf-8", "backslashreplace"))


def _checks(check: CommandCheck, ended: RunResult) -> tuple[list[CheckResult], list[CheckResult]]:
    """A result for each test that was reported or should have been, the known ones first; and what is not one of them.

    Where the tests are known, a file of them that could not be loaded is no test more, but says why others are missing.
    """
    if ended.reason != "exited":
        raise _NoVerdict("error" if ended.reason == "signal" else ended.reason, _ENDS[ended.reason])
    try:
        report = read_report(check, ended)
    except Garbled as garbled:
        where = check.result.file or "its output"
        raise _NoVerdict("error", f"The result in {where} cannot be used: {garbled}.") from None
    if not report.checks:
        raise _NoVerdict("no_tests", "The command reported no tests.")
    reported = {each.id: each for each in report.checks}
    known = [
        _result(reported[name]) if name in reported else CheckResult(name, False, _NOT_REPORTED) for name in check.ids
    ]
    others = [each for each in report.checks if each.id not in set(check.ids)]
    notes = [_result(each) for each in others if check.ids and each.stands_for_many]
    checks = known + [_result(each) for each in others if not (check.ids and each.stands_for_many)]
    if all(each.passed for each in checks) and (ended.exit_code != 0 or notes):
        ending = (
            f"the command ended with exit code {ended.exit_code}" if ended.exit_code else "some could not be loaded"
        )
        checks.append(CheckResult(WHOLE, False, f"error: all tests are reported as passed, and {ending}"))
    return checks, notes


def _result(check: ReportedCheck) -> CheckResult:
    if check.outcome == "passed":
        return CheckResult(check.id, True)
    if check.outcome == "skipped":
        reason = f" ({check.message})" if check.message else ""
        return CheckResult(check.id, False, cut(f"skipped, which is not a pass{reason}", _CHECK_CHARS))
    message = check.message or "failed"
    return CheckResult(
        check.id, False, cut(message if check.outcome == "failed" else f"error: {message}", _CHECK_CHARS)
    )


def _reason(checks: Collection[CheckResult]) -> str:
    first = next((check for check in checks if not check.passed), None)
    if first is None:
        return "ok"
    return "error" if first.message.startswith("error: ") or first.message == _NOT_REPORTED else "failed"


def _refused(check: CommandCheck, brought: Iterable[str]) -> list[CheckResult]:
    return [
        CheckResult(f"protected:{name}", False, "the attempt changes this file, and may not; it was put back")
        for name in sorted(brought)
        if not check.is_writable(name)
    ]


def _changed(check: CommandCheck, ended: RunResult) -> list[CheckResult]:
    """What the run did to protected files. They are only looked at when it ended by itself: else nothing passes."""
    if ended.reason != "exited":
        return []
    found = []
    for name in check.protected:
        content = ended.files.get(name)
        if content != check.snapshot.files[name]:
            done = "was removed, replaced or blown up" if content is None else "was changed"
            found.append(CheckResult(f"protected:{name}", False, f"{done} while the command ran"))
    listing = ended.files.get(LISTING)
    if listing is None:
        return [*found, CheckResult(WHOLE, False, "error: what the command left behind could not be listed")]
    names = (os.fsdecode(name).removeprefix("./") for name in listing.split(b"\0"))
    planted = sorted(name for name in names if check.is_foreign(name))
    return found + [
        CheckResult(f"protected:{name[:200]}", False, "appeared while the command ran") for name in planted[:20]
    ]


def _message(
    checks: Collection[CheckResult], notes: Collection[CheckResult], reason: str, found: str, ended: RunResult
) -> str:
    """What went wrong, shortest first: the counts, each failed check, then the command's last words."""
    passed = sum(check.passed for check in checks)
    lines = [f"{passed} of {len(checks)} checks passed; {reason}"]
    if found:
        lines.append(found)
    failed = [check for check in (*notes, *checks) if not check.passed and check.message not in ("", _NOT_REPORTED)]
    lines += [f"{check.id}: {check.message}" for check in failed[:_SHOWN_CHECKS]]
    if len(failed) > _SHOWN_CHECKS:
        lines.append(f"… and {len(failed) - _SHOWN_CHECKS} more")
    if not found and (missing := [check.id for check in checks if check.message == _NOT_REPORTED]):
        lines.append(cut(f"{_NOT_REPORTED}: {', '.join(missing)}", _CHECK_CHARS))
    if found or any(check.id == WHOLE for check in failed):
        output = f"{ended.stdout.rstrip()}\n{ended.stderr.rstrip()}".strip()
        said = f"Its last output:\n{output[-_OUTPUT_CHARS:]}" if output else "It printed nothing."
        code = "" if ended.exit_code is None or not found else f"It ended with exit code {ended.exit_code}. "
        lines.append(f"{code}{said}")
    return cut("\n".join(lines), _MESSAGE_CHARS)

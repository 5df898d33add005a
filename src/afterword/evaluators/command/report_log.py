"""pytest's JSON lines, as the plugin pytest-reportlog writes them (`--report-log FILE`).

Each phase of a test (setup, call, teardown) is a line; a test passed if its call did and no phase went wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from afterword.evaluators.command.report import MAX_CHECKS, MAX_MESSAGE_CHARS, Garbled, Outcome, Report, ReportedCheck


def read_report_log(data: bytes, exit_code: int | None) -> Report:
    """The tests of a report log, by node id.

    Raises:
        Garbled: a line is no report, the session did not finish, or it finished otherwise than the command did.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Garbled("it is not UTF-8 text") from None
    tests: dict[str, _Test] = {}
    broken: list[ReportedCheck] = []
    finished: object = None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if finished is not None:
            raise Garbled(f"line {number} stands after the end of the session")
        row = _row(line, number)
        kind = row.get("$report_type")
        if kind == "TestReport":
            name = _text(row, "nodeid", number)
            if name not in tests and len(tests) >= MAX_CHECKS:
                raise Garbled(f"it holds more than {MAX_CHECKS:,} tests")
            tests.setdefault(name, _Test()).take(row, number)
        elif kind == "CollectReport" and row.get("outcome") == "failed":
            name = _text(row, "nodeid", number)
            broken.append(ReportedCheck(name or "collection", "error", _told(row), stands_for_many=True))
        elif kind == "SessionFinish":
            finished = row.get("exitstatus", "")
    if finished is None:
        raise Garbled("the session did not finish")
    if finished != exit_code:
        raise Garbled(f"it says that the session ended with {finished!r}, and the command ended with {exit_code}")
    return Report.of([*(test.check(name) for name, test in tests.items()), *broken])


class _Test:
    """The phases of one test."""

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._message = ""
        self._unexpected = False

    def take(self, row: Mapping[str, object], number: int) -> None:
        phase, outcome = _text(row, "when", number), _text(row, "outcome", number)
        if phase not in ("setup", "call", "teardown") or outcome not in ("passed", "failed", "skipped"):
            raise Garbled(f"line {number} is no report of a phase")
        if phase in self._phases:
            raise Garbled(f"line {number} reports a phase again")
        self._phases[phase] = outcome
        if outcome != "passed" and not self._message:
            self._message = _told(row)

    def check(self, name: str) -> ReportedCheck:
        return ReportedCheck(name, self._outcome(), self._message)

    def _outcome(self) -> Outcome:
        if self._phases.get("call") == "failed":
            return "failed"
        if "failed" in self._phases.values():
            return "error"
        if "skipped" in self._phases.values():
            return "skipped"
        return "passed" if set(self._phases) == {"setup", "call", "teardown"} else "error"


def _row(line: str, number: int) -> Mapping[str, object]:
    try:
        row: object = json.loads(line)
    except (ValueError, RecursionError):
        raise Garbled(f"line {number} is not JSON") from None
    if not isinstance(row, dict):
        raise Garbled(f"line {number} is no JSON object")
    return row


def _text(row: Mapping[str, object], key: str, number: int) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise Garbled(f"line {number} has no {key}")
    return value


def _told(row: Mapping[str, object]) -> str:
    """What a failed phase says: its crash line, or its whole text."""
    told = row.get("longrepr")
    if isinstance(told, dict):
        crash = told.get("reprcrash")
        if isinstance(crash, dict) and isinstance(crash.get("message"), str):
            return str(crash["message"])[:MAX_MESSAGE_CHARS]
        told = told.get("longrepr", "")
    if isinstance(told, list):
        told = told[-1] if told else ""
    return str(told or "")[:MAX_MESSAGE_CHARS]

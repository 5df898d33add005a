"""TAP, the Test Anything Protocol, versions 12 to 14; subtests count through the line of their parent.

The plan has to be there and to be kept: a stream that broke off is no result.
"""

from __future__ import annotations

import re

from afterword.evaluators.command.report import MAX_CHECKS, MAX_MESSAGE_CHARS, Garbled, Outcome, Report, ReportedCheck

_TEST = re.compile(r"(not )?ok\b(?:[ \t]+(\d{1,9}))?(?:[ \t]*-?[ \t]*(.*))?", re.DOTALL)
_PLAN = re.compile(r"1\.\.(\d{1,9})(?:[ \t]*#.*)?")
_DIRECTIVE = re.compile(r"(?<!\\)#[ \t]*(skip|todo)\b(.*)", re.IGNORECASE)


def read_tap(text: str) -> Report:
    """The tests of a stream, `3 - its description` being the id of each; lines of no form are comments.

    Raises:
        Garbled: there is no plan, two of them, a number twice or outside the plan, or a bail-out.
    """
    planned: int | None = None
    found: dict[int, _Test] = {}
    last = 0
    for line in text.split("\n"):
        if line.startswith("Bail out!"):
            raise Garbled(f"the tests bailed out: {line[9:].strip()[:200]}")
        if plan := _PLAN.fullmatch(line.rstrip()):
            if planned is not None:
                raise Garbled("it has two plans")
            planned = int(plan.group(1))
        elif test := _TEST.fullmatch(line.rstrip()):
            last = int(test.group(2)) if test.group(2) else last + 1
            if last in found:
                raise Garbled(f"it has test {last} twice")
            if len(found) >= MAX_CHECKS:
                raise Garbled(f"it holds more than {MAX_CHECKS:,} tests")
            found[last] = _Test(test.group(1) is None, test.group(3) or "")
        elif found and line.startswith((" ", "#")):
            found[last].note(line)
    if planned is None:
        raise Garbled("it has no plan (a line such as 1..5)")
    if planned > MAX_CHECKS:
        raise Garbled(f"it plans more than {MAX_CHECKS:,} tests")
    if outside := [number for number in found if not 1 <= number <= planned]:
        raise Garbled(f"test {outside[0]} is outside of the plan 1..{planned}")
    return Report.of([_check(number, found.get(number)) for number in range(1, planned + 1)])


class _Test:
    def __init__(self, ok: bool, rest: str) -> None:
        directive = _DIRECTIVE.search(rest)
        self.description = rest[: directive.start()].strip() if directive else rest.strip()
        self.ok = ok
        self.directive = directive.group(1).lower() if directive else ""
        self._notes: list[str] = []
        self._chars = 0

    def note(self, line: str) -> None:
        if self._chars < MAX_MESSAGE_CHARS:
            self._notes.append(line)
            self._chars += len(line)

    @property
    def outcome(self) -> Outcome:
        if self.directive:  # what is to be done still, or was not run, is no evidence
            return "skipped"
        return "passed" if self.ok else "failed"

    @property
    def message(self) -> str:
        return "" if self.outcome == "passed" else "\n".join(self._notes).strip()


def _check(number: int, test: _Test | None) -> ReportedCheck:
    if test is None:
        return ReportedCheck(f"{number}", "error", "planned and not reported")
    return ReportedCheck(
        f"{number} - {test.description}" if test.description else f"{number}", test.outcome, test.message
    )

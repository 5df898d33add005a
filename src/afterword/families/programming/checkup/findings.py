"""What is wrong with the checks of a task, read from the verdicts of a check-up.

Errors make the verdict of a run worthless or wrong; warnings are for a person to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from afterword.core.judging import NOT_REACHED
from afterword.core.records import Feedback
from afterword.families.programming.checkup.examine import SLOW_SHARE, SOLUTION
from afterword.families.programming.checkup.records import Examination, MutantVerdict, PartVerdicts, Repeated

Kind = Literal["wrong", "flaky", "too_weak", "vacuous", "memorised", "no_mutant_killed", "loose", "slow", "survivor"]
WARNINGS: frozenset[Kind] = frozenset({"loose", "slow", "survivor"})
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend, or to look at."""

    kind: Kind
    message: str
    remedy: str
    part: str | None = None
    check: str | None = None
    line: int | None = None
    """Of the solution, for a survivor."""

    @property
    def is_error(self) -> bool:
        return self.kind not in WARNINGS


def findings_of(seen: Examination) -> tuple[Finding, ...]:
    """All findings, the errors first."""
    found: list[Finding] = []
    for one in seen.parts:
        flaky = list(_flaky(one))
        unsteady = {finding.check for finding in flaky}
        found += flaky
        found += (finding for finding in _wrong(one) if finding.check not in unsteady)
        found += _too_weak(one)
        found += (finding for finding in _weak_checks(one) if finding.check not in unsteady)
        found += _memorised(one)
        found += _slow(one)
    found += _survivors(seen.mutants or ())
    return tuple(sorted(found, key=lambda finding: not finding.is_error))


def _flaky(one: PartVerdicts) -> Iterator[Finding]:
    for check_id in one.part.suite.check_ids:
        for repeated in one.repeated:
            results = [_passed(verdict)[check_id] for verdict in repeated.verdicts]
            if len(set(results)) > 1:
                times = f"passed {sum(results)} of {len(results)} times"
                message = f"with one and the same program ({repeated.program}) it {times}{_how(repeated, check_id)}"
                remedy = "fix what it depends on: random numbers, time, the order of a set, other checks"
                yield Finding("flaky", message, remedy, one.part.name, check_id)
                break


def _how(repeated: Repeated, check_id: str) -> str:
    for verdict in repeated.verdicts:
        for check in verdict.checks:
            if check.id == check_id and not check.passed:
                return f"; otherwise: {check.message}"
    return ""


def _wrong(one: PartVerdicts) -> Iterator[Finding]:
    verdict = one.solution
    if verdict is None or verdict.passed:
        return
    remedy = "correct the check, or the solution"
    failed = [check for check in verdict.checks if not check.passed]
    told = [check for check in failed if check.message != NOT_REACHED]
    for check in told or failed[:1]:
        message = f"{SOLUTION} fails it: {check.message if told else verdict.message}"
        yield Finding("wrong", message, remedy, one.part.name, check.id)
    if told and len(told) < len(failed):
        others = ", ".join(check.id for check in failed if check not in told)
        yield Finding("wrong", f"{SOLUTION} does not get to {others}: {verdict.reason}", remedy, one.part.name)


def _too_weak(one: PartVerdicts) -> Iterator[Finding]:
    passing = [program for program, verdict in one.trivial if verdict.passed]
    if not passing:
        return
    names = ", or ".join(program.name for program in passing[:_SHOWN])
    ids = one.part.suite.check_ids
    checks = ", ".join(ids[:_SHOWN]) + ("" if len(ids) <= _SHOWN else f" and {len(ids) - _SHOWN} more")
    number = "its only check" if len(ids) == 1 else f"all {len(ids)} checks"
    only_raises = all(program.kind == "raises" for program in passing)
    remedy = "add checks on what is returned for good input" if only_raises else "add checks that expect another result"
    yield Finding("too_weak", f"a program that {names} passes {number} ({checks})", remedy, one.part.name)


def _weak_checks(one: PartVerdicts) -> Iterator[Finding]:
    passed = [(program, _passed(verdict)) for program, verdict in one.trivial]
    for check_id in one.part.suite.check_ids:
        lets_pass = [program for program, results in passed if results[check_id]]
        if all(results[check_id] for program, results in passed if program.is_fixed):
            raising = any(program.kind == "raises" for program in lets_pass)
            message = f"it passes whatever the program returns{', and even if it raises' if raising else ''}"
            yield Finding("vacuous", message, "assert something about the result", one.part.name, check_id)
        elif any(program.is_falsy for program in lets_pass) and any(program.is_truthy for program in lets_pass):
            names = ", ".join(program.value for program in lets_pass if program.is_falsy or program.is_truthy)
            message = f"it passes for results as different as {names}"
            yield Finding("loose", message, "expect a definite result", one.part.name, check_id)


def _memorised(one: PartVerdicts) -> Iterator[Finding]:
    if one.memorised is not None and one.memorised.passed:
        message = "a program that knows the visible answers and nothing else passes all held-out checks"
        yield Finding("memorised", message, "hold out other inputs, with other results", one.part.name)


def _slow(one: PartVerdicts) -> Iterator[Finding]:
    limit_s = one.part.limits.wall_s
    if one.slowest_s <= limit_s * SLOW_SHARE:
        return
    remedy = "make it quicker or raise timeout_s, so that a busy machine does not decide"
    slow = {check_id: wall_s for check_id, wall_s in one.alone_s.items() if wall_s > limit_s * SLOW_SHARE}
    for check_id, wall_s in slow.items():
        message = f"it alone takes {wall_s:.1f} s of the {limit_s:g} s for all"
        yield Finding("slow", message, remedy, one.part.name, check_id)
    if not slow:
        slowest = max(one.alone_s, key=lambda check_id: one.alone_s[check_id], default="")
        most = f", most of it {slowest}" if slowest else ""
        yield Finding("slow", f"the checks take {one.slowest_s:.1f} of {limit_s:g} s{most}", remedy, one.part.name)


def _survivors(verdicts: tuple[MutantVerdict, ...]) -> Iterator[Finding]:
    if verdicts and all(verdict.killed_by is None for verdict in verdicts):
        message = f"none of {len(verdicts)} changed solutions is noticed by any check"
        yield Finding("no_mutant_killed", message, "add checks whose result depends on what the program computes")
    for verdict in verdicts:
        if verdict.killed_by is None:
            mutant = verdict.mutant
            message = f"no check notices {mutant.description} in line {mutant.line} of the solution"
            remedy = "add an input on which it matters, unless there is none"
            yield Finding("survivor", message, remedy, line=mutant.line)


def _passed(verdict: Feedback) -> dict[str, bool]:
    return {check.id: check.passed for check in verdict.checks}

"""What a result file says, whatever its format: checks by id, each with an outcome and a short message.

Result files are untrusted, since the process that wrote them also ran the candidate: everything here is bounded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from afterword.sandbox.results import clean

Outcome = Literal["passed", "failed", "error", "skipped"]

MAX_BYTES = 8 << 20
MAX_CHECKS = 10_000
MAX_ID_CHARS = 300
MAX_MESSAGE_CHARS = 20_000
"""Of one message while it is read; what is shown is far shorter."""


class Garbled(Exception):
    """A result that is partial, contradicts itself or is not in its format; the message says which."""


@dataclass(frozen=True, slots=True)
class ReportedCheck:
    """One test of a result file."""

    id: str
    outcome: Outcome
    message: str = ""
    stands_for_many: bool = False
    """It reports that a file of tests could not be loaded, and is no test of its own."""


@dataclass(frozen=True, slots=True)
class Report:
    """All tests of a result file, with ids that are different from each other."""

    checks: tuple[ReportedCheck, ...]

    @classmethod
    def of(cls, checks: list[ReportedCheck]) -> Report:
        """Numbers tests of the same name, so that none can hide behind another.

        Raises:
            Garbled: there are too many.
        """
        if len(checks) > MAX_CHECKS:
            raise Garbled(f"it holds more than {MAX_CHECKS:,} tests")
        seen: Counter[str] = Counter()
        numbered = []
        for check in checks:
            name = _one_line(check.id)[:MAX_ID_CHARS] or "(no name)"
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name} #{seen[name]}"
            numbered.append(ReportedCheck(name, check.outcome, _clean(check.message), check.stands_for_many))
        return cls(tuple(numbered))


def _clean(text: str) -> str:
    return clean(text.encode("utf-8", "backslashreplace"))


def _one_line(name: str) -> str:
    """An id stands in prompts and on terminals beside others, where nothing of it may pass for anything else."""
    return " ".join(_clean(name).split())

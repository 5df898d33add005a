"""What came out of one published run, in the form that is printed, written as JSON and put into the paper's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from afterword.families.programming.own_tests.confusion import Confusion


@dataclass(frozen=True, slots=True)
class Difference:
    """An item whose claim does not hold."""

    task_id: str
    claimed: bool
    found: bool
    cause: str


@dataclass(frozen=True, slots=True)
class Unstable:
    """An item whose verdict is a matter of luck."""

    task_id: str
    passed: int
    of: int


@dataclass(frozen=True, slots=True)
class OwnTestScore:
    """What the model's own tests said against the truth: as the log has it, and as it is found."""

    claimed: Confusion
    found: Confusion


@dataclass(frozen=True, slots=True)
class TrialCount:
    """Solved after so many trials, the first being 1."""

    trial: int
    claimed: int
    found: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run: claimed against found."""

    run: str
    benchmark: str
    kind: str
    """`programs`, `own_tests`, `questions` or `games`."""
    items: int
    claimed: int
    found: int
    differences: tuple[Difference, ...] = ()
    unstable: tuple[Unstable, ...] = ()
    by_trial: tuple[TrialCount, ...] = ()
    own_tests: OwnTestScore | None = None
    unreflected: tuple[int, int, int] | None = None
    """Items without a reflection, how many of them the log calls solved, and how many are."""
    after_reflection: tuple[int, int] | None = None
    """Items that stopped after a reflection and before the last trial, and how many of them the log calls solved."""
    tests: tuple[int, int] | None = None
    """Of a run that wrote tests: how many there are, and how many hold on the reference program."""
    note: str = ""
    """What the numbers cannot say."""

    def told(self) -> Mapping[str, object]:
        """The run as plain data."""
        told: dict[str, object] = {
            name: value for name, value in asdict(self).items() if value not in (None, "", (), []) or name in _ALWAYS
        }
        if self.own_tests is not None:
            told["own_tests"] = {name: _shares(getattr(self.own_tests, name)) for name in ("claimed", "found")}
        return told


_ALWAYS = ("unstable", "differences")


def _shares(matrix: Confusion) -> Mapping[str, object]:
    shares = {
        name: {"count": share.count, "of": share.total, "share": share.value, "interval": share.interval}
        for name, share in matrix.conditional().items()
    }
    return {"passed": matrix.passed, "failed": matrix.failed, **shares}

"""How often own tests are right about a program: their verdict against the held-out one, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

from afterword.intervals import wilson


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % Wilson interval; all three None where there are none to count."""

    count: int
    total: int

    @property
    def value(self) -> float | None:
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson score interval."""
        if not self.total:
            return None
        share = wilson(self.count, self.total)
        return share.low, share.high


@dataclass(frozen=True, slots=True)
class Confusion:
    """Programs counted by what own tests said of them and what is true."""

    true_positive: int = 0
    """Own tests passed, and the program is right."""
    false_positive: int = 0
    """Own tests passed, and the program is wrong: the loop ended on it."""
    false_negative: int = 0
    """Own tests failed, and the program is right."""
    true_negative: int = 0

    def plus(self, *, passed: bool, right: bool) -> Confusion:
        """The matrix with one more program."""
        counts = [self.true_positive, self.false_positive, self.false_negative, self.true_negative]
        counts[(0 if right else 1) if passed else (2 if right else 3)] += 1
        return Confusion(*counts)

    @property
    def passed(self) -> int:
        return self.true_positive + self.false_positive

    @property
    def failed(self) -> int:
        return self.false_negative + self.true_negative

    @property
    def total(self) -> int:
        return self.passed + self.failed

    def conditional(self) -> dict[str, Share]:
        """The paper's form (table 2): the share of right and of wrong programs given the verdict of own tests."""
        return {
            "right_given_passed": Share(self.true_positive, self.passed),
            "wrong_given_passed": Share(self.false_positive, self.passed),
            "right_given_failed": Share(self.false_negative, self.failed),
            "wrong_given_failed": Share(self.true_negative, self.failed),
        }

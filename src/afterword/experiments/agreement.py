"""How far a judge agrees with people: the matrix of their verdicts, Cohen's kappa, and its two kinds of error.

Apart from any judge, since what is compared are verdicts, whoever or whatever reached them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from afterword.experiments.statistics import Estimate, wilson


@dataclass(frozen=True, slots=True)
class Agreement:
    """Attempts counted by what the judge said of them and what people said."""

    both_pass: int = 0
    false_positives: int = 0
    """The judge passed what people failed: a loop would have ended on it."""
    false_negatives: int = 0
    """The judge failed what people passed."""
    both_fail: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[tuple[bool, bool]]) -> Agreement:
        """Counted from pairs of the judge's verdict and the people's."""
        pairs = list(verdicts)
        return cls(*(pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def total(self) -> int:
        return self.both_pass + self.false_positives + self.false_negatives + self.both_fail

    @property
    def agreement(self) -> Estimate:
        """The share on which they agree, with Wilson's interval."""
        return wilson(self.both_pass + self.both_fail, self.total)

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa (1960): the agreement beyond what their shares of passes would give by chance.

        The interval is Wilson's of the agreement, carried over with the chance agreement held fixed: unlike the usual
        large-sample one it does not shrink to nothing when they always agree. Without a value where both only ever
        say the same one thing.
        """
        n = self.total
        if n == 0:
            return Estimate(None, -1.0, 1.0, 0)
        judge = (self.both_pass + self.false_positives) / n
        people = (self.both_pass + self.false_negatives) / n
        chance = judge * people + (1 - judge) * (1 - people)
        if chance == 1:
            return Estimate(None, -1.0, 1.0, n)
        seen = self.agreement

        def beyond(share: float) -> float:
            return max(-1.0, (share - chance) / (1 - chance))

        return Estimate(beyond((self.both_pass + self.both_fail) / n), beyond(seen.low), beyond(seen.high), n)

    @property
    def false_positive_rate(self) -> Estimate:
        """Of the attempts that people failed, the share that the judge passed."""
        return wilson(self.false_positives, self.false_positives + self.both_fail)

    @property
    def false_negative_rate(self) -> Estimate:
        """Of the attempts that people passed, the share that the judge failed."""
        return wilson(self.false_negatives, self.false_negatives + self.both_pass)

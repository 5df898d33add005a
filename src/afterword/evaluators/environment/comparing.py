"""Two judges of trials side by side, e.g. the stuck heuristic and a model, against what the world said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from afterword.core.records import Feedback


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often two judges passed the same trials. Either may be the world, which is right by definition."""

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def total(self) -> int:
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def agreement(self) -> float | None:
        """The share of trials on which they agree; None without trials."""
        return (self.both + self.neither) / self.total if self.total else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond chance; None where chance alone would agree always."""
        if not self.total:
            return None
        first = (self.both + self.first_only) / self.total
        second = (self.both + self.second_only) / self.total
        chance = first * second + (1 - first) * (1 - second)
        observed = (self.both + self.neither) / self.total
        return None if chance == 1 else (observed - chance) / (1 - chance)


def compare(verdicts: Iterable[tuple[Feedback, Feedback]]) -> Comparison:
    """Counts the pairs of verdicts that two judges reached on the same trials."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for first, second in verdicts:
        counts[first.passed, second.passed] += 1
    return Comparison(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

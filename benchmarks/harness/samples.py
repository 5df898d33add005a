"""Repeated measurements and what is told of them: the median and how far the rounds lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Sample:
    """The same quantity, measured once per round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def scaled(self, factor: float) -> Sample:
        """The sample in another unit."""
        return Sample(tuple(value * factor for value in self.values))

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {"median": self.median, "low": self.low, "high": self.high, "rounds": list(self.values)}


def figure(value: float) -> str:
    """Three significant digits, thousands marked: enough for a number that drifts by more."""
    if value == 0:
        return "0"
    digits = max(0, 3 - len(str(int(abs(value))))) if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def spread(sample: Sample) -> str:
    """The lowest and the highest round."""
    return f"{figure(sample.low)} to {figure(sample.high)}"

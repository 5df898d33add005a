"""Shares and other estimates with their intervals, as a person and as a program reads them."""

from __future__ import annotations

from dataclasses import asdict

from afterword.experiments.statistics import Estimate, wilson


def share(count: int, total: int) -> str:
    """`3 of 18 (16.7%, 95 % interval 5.8% to 39.2%)`."""
    estimate = wilson(count, total)
    if estimate.value is None:
        return "none to count"
    return f"{count} of {total} ({estimate.value:.1%}, 95 % interval {estimate.low:.1%} to {estimate.high:.1%})"


def short_share(count: int, total: int) -> str:
    """`3/18 6-39%`, for a cell of a table: the interval is what can be concluded from so few."""
    estimate = wilson(count, total)
    return (
        "-" if estimate.value is None else f"{count}/{total} {estimate.low:.0%}-{estimate.high:.0%}".replace("%-", "-")
    )


def number(estimate: Estimate) -> str:
    """`0.80 (95 % interval 0.61 to 0.90)`."""
    if estimate.value is None:
        return "cannot be said"
    return f"{estimate.value:.2f} (95 % interval {estimate.low:.2f} to {estimate.high:.2f})"


def estimate_json(estimate: Estimate) -> dict[str, object]:
    """An estimate as plain data."""
    return asdict(estimate)

"""What the results of an arm spent: tokens, calls, money and time, together and by role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from afterword.core.records import Usage
from afterword.experiments.results import Result
from afterword.experiments.statistics import percentile

Measure = Callable[[Usage], float | None]
"""What is counted of a usage; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Something that was spent, over the results of an arm; None where it is not known."""

    mean: float | None
    median: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class RoleSpending:
    """What one role of an arm spent, over all its results: one that did not need the role spent nothing on it."""

    total: Usage
    tokens: Spread
    calls: Spread
    cost_usd: Spread
    seconds: Spread


@dataclass(frozen=True, slots=True)
class Spending:
    """What an arm spent."""

    tokens: Spread
    calls: Spread
    cost_usd: Spread
    seconds: Spread
    """Waiting for models."""
    by_role: Mapping[str, RoleSpending]
    tokens_per_solved: float | None
    """None where nothing was solved."""
    calls_per_solved: float | None
    cost_per_solved_usd: float | None
    seconds_per_solved: float | None


def tokens_of(usage: Usage) -> float | None:
    """Those of prompts and replies."""
    return float(usage.tokens)


def calls_of(usage: Usage) -> float | None:
    """Of models."""
    return float(usage.calls)


def cost_of(usage: Usage) -> float | None:
    """In USD."""
    return usage.cost_usd


def seconds_of(usage: Usage) -> float | None:
    """Waiting for models."""
    return usage.seconds


def spending_of(rows: Sequence[Result]) -> Spending:
    """Of these results."""
    solved = sum(row.solved for row in rows)
    spent = [row.spent for row in rows]
    total = sum(spent, Usage())
    return Spending(
        _spread(spent, tokens_of),
        _spread(spent, calls_of),
        _spread(spent, cost_of),
        _spread(spent, seconds_of),
        {
            role: _role_spending([row.usage.get(role, Usage()) for row in rows])
            for role in sorted({role for row in rows for role in row.usage})
        },
        total.tokens / solved if solved else None,
        total.calls / solved if solved else None,
        total.cost_usd / solved if solved and total.cost_usd is not None else None,
        total.seconds / solved if solved else None,
    )


def _role_spending(spent: Sequence[Usage]) -> RoleSpending:
    return RoleSpending(
        sum(spent, Usage()),
        _spread(spent, tokens_of),
        _spread(spent, calls_of),
        _spread(spent, cost_of),
        _spread(spent, seconds_of),
    )


def _spread(spent: Sequence[Usage], of: Measure) -> Spread:
    known = [value for usage in spent if (value := of(usage)) is not None]
    if not known or len(known) < len(spent):
        return Spread(None, None, None)
    return Spread(fmean(known), percentile(known, 0.5), percentile(known, 0.95))

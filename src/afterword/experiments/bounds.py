"""The most that an experiment can ask and spend, told before anything is spent.

From counts alone (steps, replies, longest prompts); where they come from is the family's. What arms share is counted
once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterword.core.records import Usage


@dataclass(frozen=True, slots=True)
class CallBound:
    """So many calls at most, and the most of one of them."""

    calls: int
    one: Usage
    """Its cost is None where the price is not known."""

    @property
    def all(self) -> Usage:
        """Of all calls."""
        return _times(self.one, self.calls)


@dataclass(frozen=True, slots=True)
class Cap:
    """An allowance."""

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ArmBound:
    """The most of one arm on one task with one seed."""

    arm: str
    bounds: tuple[CallBound, ...]
    first: CallBound
    """What the first trial of every arm with the same first prompt asks, and what is asked before it."""
    shares: object = None
    """Arms with the same value share their first trial."""
    untold: bool = False
    """It tells its actor nothing of earlier trials: it shares all that its actor asks, which is the first bound, with
    others of that kind."""

    def capped(self, cap: Cap) -> Usage:
        """Within the allowance. Its tokens out are the most of them, whatever the prompts leave."""
        total = sum((bound.all for bound in self.bounds), Usage())
        calls = total.calls if cap.calls is None else min(total.calls, cap.calls)
        tokens_out = min(total.tokens_out, calls * max((bound.one.tokens_out for bound in self.bounds), default=0))
        tokens = total.tokens if cap.tokens is None else min(total.tokens, cap.tokens)
        cost = total.cost_usd
        if cost is not None and cap.cost_usd is not None:
            cost = min(cost, cap.cost_usd)
        tokens_out = min(tokens_out, tokens)
        return Usage(calls, tokens - tokens_out, tokens_out, cost_usd=cost)


def most_of(arms: tuple[ArmBound, ...], cap: Cap) -> Usage:
    """The most of all arms together on one task with one seed, what they share counted once.

    Where the allowance is what bounds an arm, nothing certain is known of how much of it the first trial took, so only
    one call is taken off. Of arms that share all attempts the longest one makes them; the others add what they ask
    besides.
    """
    total = Usage()
    seen: set[object] = set()
    longest: dict[object, Usage] = {}
    for arm in sorted(arms, key=lambda arm: not arm.untold):
        usage = arm.capped(cap)
        if arm.untold and arm.shares is not None:
            if arm.shares in longest:
                besides = replace(arm, bounds=arm.bounds[1:]).capped(cap)
                total, usage = total + besides, _larger(longest[arm.shares], usage)
            longest[arm.shares] = usage
            continue
        if arm.shares is not None and (arm.shares in seen or arm.shares in longest):
            usage = _less(usage, arm, cap)
        seen.add(arm.shares)
        total = total + usage
    return sum(longest.values(), total)


def _larger(one: Usage, other: Usage) -> Usage:
    cost = None if one.cost_usd is None or other.cost_usd is None else max(one.cost_usd, other.cost_usd)
    tokens_out = max(one.tokens_out, other.tokens_out)
    tokens = max(one.tokens, other.tokens)
    return Usage(max(one.calls, other.calls), max(tokens - tokens_out, 0), tokens_out, cost_usd=cost)


def _less(usage: Usage, arm: ArmBound, cap: Cap) -> Usage:
    whole = sum((bound.all for bound in arm.bounds), Usage())
    first = arm.first.all
    calls = first.calls if usage.calls == whole.calls else 1
    by_tokens = cap.tokens is not None and whole.tokens > cap.tokens
    by_cost = cap.cost_usd is not None and (whole.cost_usd is None or whole.cost_usd > cap.cost_usd)
    if by_tokens or by_cost or usage.calls < whole.calls:
        return Usage(usage.calls - calls, usage.tokens_in, usage.tokens_out, cost_usd=usage.cost_usd)
    cost = None if usage.cost_usd is None or first.cost_usd is None else usage.cost_usd - first.cost_usd
    return Usage(
        usage.calls - calls, usage.tokens_in - first.tokens_in, usage.tokens_out - first.tokens_out, cost_usd=cost
    )


def _times(usage: Usage, number: int) -> Usage:
    cost = None if usage.cost_usd is None else usage.cost_usd * number
    return Usage(usage.calls * number, usage.tokens_in * number, usage.tokens_out * number, cost_usd=cost)

"""The most that an experiment can ask and spend, told before anything is spent.

From counts alone (steps, replies, longest prompts); where they come from is the family's. What arms share is counted
once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from afterword.core.messages import Price
from afterword.core.records import Usage


@dataclass(frozen=True, slots=True)
class Most:
    """Bounds that hold each by itself: tokens are not more than those in and out together, and may be fewer."""

    calls: int = 0
    tokens: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None where a price is not known."""

    def __add__(self, other: Most) -> Most:
        return Most(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd,
        )

    def less(self, other: Most) -> Most:
        """Without what it is known to hold."""
        return Most(
            self.calls - other.calls,
            self.tokens - other.tokens,
            self.tokens_in - other.tokens_in,
            self.tokens_out - other.tokens_out,
            None if self.cost_usd is None or other.cost_usd is None else self.cost_usd - other.cost_usd,
        )

    def or_more(self, other: Most) -> Most:
        """The larger of each."""
        return Most(
            max(self.calls, other.calls),
            max(self.tokens, other.tokens),
            max(self.tokens_in, other.tokens_in),
            max(self.tokens_out, other.tokens_out),
            None if self.cost_usd is None or other.cost_usd is None else max(self.cost_usd, other.cost_usd),
        )

    def seconds(self, *, written: float, read: float) -> float:
        """How long a model takes at most that writes and reads so many tokens a second: the slower of the two first."""
        slow, fast = sorted([(written, self.tokens_out), (read, self.tokens_in)])
        first = min(slow[1], self.tokens)
        return first / slow[0] + min(fast[1], self.tokens - first) / fast[0]


@dataclass(frozen=True, slots=True)
class CallBound:
    """So many calls at most, and the most of one of them."""

    calls: int
    tokens_in: int
    tokens_out: int
    price: Price | None
    """The dearest there can be; None where it is not known."""

    @property
    def one(self) -> Most:
        """Of one call."""
        return _times(self, 1)

    @property
    def all(self) -> Most:
        """Of all calls."""
        return _times(self, self.calls)


def _times(bound: CallBound, calls: int) -> Most:
    used = Usage(calls, bound.tokens_in * calls, bound.tokens_out * calls)
    cost = None if bound.price is None else bound.price.cost_usd(used)
    return Most(calls, used.tokens, used.tokens_in, used.tokens_out, cost)


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
    """What counts against the allowance."""
    first: CallBound
    """What the first trial of every arm with the same first prompt asks, and what is asked before it."""
    shares: object = None
    """Arms with the same value share their first trial."""
    untold: bool = False
    """It tells its actor nothing of earlier trials: it shares all that its actor asks, which is the first bound, with
    others of that kind."""
    uncharged: tuple[CallBound, ...] = ()
    """What finding out how it did takes, which no allowance bounds."""

    def capped(self, cap: Cap) -> Most:
        """What counts, within the allowance."""
        whole = _sum(self.bounds)
        asked = [bound for bound in self.bounds if bound.calls]
        calls = whole.calls if cap.calls is None else min(whole.calls, cap.calls)
        tokens = whole.tokens if cap.tokens is None else min(whole.tokens, cap.tokens)
        return Most(
            calls,
            tokens,
            min(whole.tokens_in, tokens, calls * max((bound.tokens_in for bound in asked), default=0)),
            min(whole.tokens_out, tokens, calls * max((bound.tokens_out for bound in asked), default=0)),
            _cost(asked, whole, calls, tokens, cap),
        )


def _cost(asked: list[CallBound], whole: Most, calls: int, tokens: int, cap: Cap) -> float | None:
    """The least of what all calls, so many of the dearest, and so many of the dearest tokens cost."""
    if whole.cost_usd is None:
        return None
    call = max((bound.one.cost_usd or 0.0 for bound in asked), default=0.0)
    token = max((max(bound.price.input, bound.price.output) / 1e6 for bound in asked if bound.price), default=0.0)
    bounds = [whole.cost_usd, calls * call, tokens * token]
    return min(bounds if cap.cost_usd is None else [*bounds, cap.cost_usd])


def _sum(bounds: Iterable[CallBound]) -> Most:
    return sum((bound.all for bound in bounds), Most())


def most_of(arms: tuple[ArmBound, ...], cap: Cap) -> Most:
    """The most of all arms together on one task with one seed, what they share counted once.

    Where the allowance is what bounds an arm, nothing certain is known of how much of it the first trial took, so only
    one call is taken off. Of arms that share all attempts the longest one makes them; the others add what they ask
    besides.
    """
    total = _sum(bound for arm in arms for bound in arm.uncharged)
    seen: set[object] = set()
    longest: dict[object, Most] = {}
    for arm in sorted(arms, key=lambda arm: not arm.untold):
        most = arm.capped(cap)
        if arm.untold and arm.shares is not None:
            if arm.shares in longest:
                besides = replace(arm, bounds=arm.bounds[1:]).capped(cap)
                total, most = total + besides, longest[arm.shares].or_more(most)
            longest[arm.shares] = most
            continue
        if arm.shares is not None and (arm.shares in seen or arm.shares in longest):
            first = arm.first.all
            most = most.less(first if most == _sum(arm.bounds) else Most(min(first.calls, 1)))
        seen.add(arm.shares)
        total = total + most
    return sum(longest.values(), total)

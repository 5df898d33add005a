"""What a task may spend: a call that might overrun is refused before it is made.

The upper bound of a call is its prompt, counted conservatively in characters, plus its `max_tokens`.
Calls that run at the same time reserve their bound first, so that together they cannot overrun either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from afterword.core.messages import ChatRequest, Price
from afterword.core.records import Usage
from afterword.errors import BudgetExhausted, InputError, UnknownPrice

# Measured with the vocabularies cl100k and o200k: random letters of one case take up to 0.6 tokens each and a
# change of case starts a new one, two digits or two signs seldom share one, anything outside ASCII takes a byte
# at the worst. A single space goes with the word after it; other white space is kept apart in older vocabularies.
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+| {2,}|[^A-Za-z ]")
_MESSAGE_OVERHEAD = 8


def token_bound(text: str) -> int:
    """A conservative count of the tokens of `text`; never 0. Plain prose and code take some 40 % of it."""
    total = 1
    for piece in _PIECES.findall(text):
        first = piece[0]
        if first == " ":
            total += len(piece) // 4 + 1
        elif first.isalpha() and first.isascii():
            total += (2 * len(piece) + 2) // 3
        else:
            total += len(piece.encode("utf-8", "surrogatepass"))
    return total


def request_bound(request: ChatRequest, price: Price | None) -> Usage:
    """The most that a call can use; its cost is None when the price is unknown."""
    tokens_in = sum(token_bound(message.content) + _MESSAGE_OVERHEAD for message in request.messages)
    bound = Usage(calls=1, tokens_in=tokens_in, tokens_out=request.max_tokens, cost_usd=None)
    if price is None:
        return bound
    return Usage(calls=1, tokens_in=tokens_in, tokens_out=request.max_tokens, cost_usd=price.cost_usd(bound))


@dataclass(frozen=True, slots=True)
class Allowance:
    """A fixed allowance; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    """Prompt and reply tokens together."""
    cost_usd: float | None = None
    seconds: float | None = None
    """Wall time. A call that is under way when it ends is let finish, since it is paid for."""

    def __post_init__(self) -> None:
        for name, value in (
            ("calls", self.calls),
            ("tokens", self.tokens),
            ("cost_usd", self.cost_usd),
            ("seconds", self.seconds),
        ):
            if value is not None and not (isinstance(value, (int, float)) and 0 < value < math.inf):
                raise InputError(
                    f"the {name} budget must be above 0 and finite, found {value!r}; leave it out for no limit"
                )


class Budget:
    """Reserves before a call, charges after it, refuses what the allowance cannot carry."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self.spent = Usage()
        self._reserved = Usage()

    @contextmanager
    def reserve(self, bound: Usage, model: str) -> Iterator[None]:
        """Holds `bound` while the call runs.

        Raises:
            BudgetExhausted: the allowance cannot carry the call.
            UnknownPrice: there is a cost limit and the model's price is not known.
        """
        allowed = self.allowance
        total = self.spent + self._reserved + bound
        if allowed.cost_usd is not None:
            if total.cost_usd is None:
                raise UnknownPrice(model)
            self._refuse("cost", allowed.cost_usd, total.cost_usd)
        self._refuse("calls", allowed.calls, total.calls)
        self._refuse("tokens", allowed.tokens, total.tokens)
        self._reserved = self._reserved + bound
        try:
            yield
        finally:
            self._reserved = _without(self._reserved, bound)

    def charge(self, usage: Usage) -> None:
        """Adds what a call really used."""
        self.spent = self.spent + usage

    @staticmethod
    def _refuse(limit: str, allowed: float | None, needed: float) -> None:
        if allowed is not None and needed > allowed:
            raise BudgetExhausted(limit, allowed, needed)


def _without(total: Usage, part: Usage) -> Usage:
    calls = total.calls - part.calls
    if calls == 0:
        return Usage()  # no rounding error is carried over
    cost = None if total.cost_usd is None or part.cost_usd is None else total.cost_usd - part.cost_usd
    return Usage(
        calls=calls,
        tokens_in=total.tokens_in - part.tokens_in,
        tokens_out=total.tokens_out - part.tokens_out,
        cost_usd=cost,
    )

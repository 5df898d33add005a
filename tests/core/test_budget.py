"""Budgets: refused before the call, reserved while it runs, never overrun."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import Allowance, Budget, BudgetExhausted, ChatRequest, InputError, Message, Price, Usage
from afterword.core.budget import request_bound, token_bound
from afterword.errors import UnknownPrice
from tests.core.doubles import ListModel, ask, make_effects

# Tokens that the vocabularies cl100k and o200k take at most for these texts, measured.
MEASURED = [
    ("def parse_duration(text: str) -> int:\n    return sum(map(int, text.split()))\n", 19),
    ("qXzJkVbWpTgRmNcLdYhFsQeZuKxOvIaj", 30),
    ("zqxjkvbwptgrmncl dyhfsqezukxovia", 18),
    (" " * 200, 2),
    ("a\tb\tc\td\te\tf\tg\th", 8),
    ("\x0b\x0c" * 10, 20),
    ("\u00a0" * 30, 5),
    ("\u3000" * 30, 15),
    ("0123456789" * 5, 17),
    ("({[<|>]})!?;:" * 4, 36),
    ("\U0001f9f0\U0001f642" * 5, 25),
]


@pytest.mark.parametrize(("text", "tokens"), MEASURED)
def test_token_bound_is_not_under_the_measured_count(text: str, tokens: int) -> None:
    assert token_bound(text) >= tokens


def test_token_bound_of_prose_is_not_absurd() -> None:
    prose = "The parser rejects a repeated unit, and a bare integer means seconds. " * 20
    assert len(prose) / 4 <= token_bound(prose) <= len(prose)


def test_token_bound_of_no_text_is_above_zero() -> None:
    assert token_bound("") == 1


def test_token_bound_takes_lone_surrogates() -> None:
    assert token_bound("\ud800") >= 1


@given(st.text(), st.text())
def test_token_bound_grows_with_the_text(one: str, other: str) -> None:
    assert token_bound(one + other) >= max(token_bound(one), token_bound(other)) - 1


@given(st.text(max_size=200))
def test_token_bound_is_at_most_a_token_a_byte(text: str) -> None:
    assert token_bound(text) <= len(text.encode("utf-8", "surrogatepass")) + 1


def test_request_bound_counts_every_message_and_the_longest_reply() -> None:
    one = request_bound(ChatRequest((Message("user", "hello"),), max_tokens=100), None)
    two = request_bound(ChatRequest((Message("system", "hello"), Message("user", "hello")), max_tokens=100), None)
    assert (one.calls, one.tokens_out) == (1, 100)
    assert two.tokens_in == 2 * one.tokens_in
    assert one.cost_usd is None


def test_request_bound_prices_prompt_and_reply() -> None:
    bound = request_bound(ask(max_tokens=100), Price(input=1e6, output=2e6))
    assert bound.cost_usd == pytest.approx(bound.tokens_in + 200)


@pytest.mark.parametrize(
    "allowance",
    [{"calls": 0}, {"tokens": -1}, {"cost_usd": -0.5}, {"seconds": 0.0}, {"cost_usd": float("nan")}],
)
def test_an_allowance_that_is_not_above_zero_is_bad_input(allowance: dict[str, float]) -> None:
    (name,) = allowance
    with pytest.raises(InputError, match=name):
        Allowance(**allowance)  # type: ignore[arg-type]  # as a user without a type checker would


@pytest.mark.parametrize(
    ("allowance", "limit"),
    [
        (Allowance(calls=1), "calls"),
        (Allowance(tokens=100), "tokens"),
        (Allowance(cost_usd=0.0001), "cost"),
    ],
)
def test_a_call_that_might_overrun_is_refused(allowance: Allowance, limit: str) -> None:
    budget = Budget(allowance)
    budget.charge(Usage(calls=1, tokens_in=60, cost_usd=0.00006))
    with (
        pytest.raises(BudgetExhausted) as refused,
        budget.reserve(Usage(calls=1, tokens_in=41, cost_usd=0.000041), "m"),
    ):
        pytest.fail("the call was made")
    assert refused.value.limit == limit
    assert refused.value.needed > refused.value.allowed


def test_a_call_that_exactly_fits_is_made() -> None:
    budget = Budget(Allowance(tokens=100))
    budget.charge(Usage(tokens_in=60))
    with budget.reserve(Usage(calls=1, tokens_in=40), "m"):
        pass


def test_calls_at_the_same_time_cannot_overrun_together() -> None:
    budget = Budget(Allowance(tokens=100))
    with (
        budget.reserve(Usage(calls=1, tokens_in=60), "m"),
        pytest.raises(BudgetExhausted),
        budget.reserve(Usage(calls=1, tokens_in=41), "m"),
    ):
        pass


def test_a_reservation_ends_with_its_call_even_if_that_fails() -> None:
    budget = Budget(Allowance(tokens=100))
    for _ in range(3):
        with pytest.raises(OSError, match="reset"), budget.reserve(Usage(calls=1, tokens_in=100), "m"):
            raise OSError("connection reset")
    with budget.reserve(Usage(calls=1, tokens_in=100), "m"):
        pass
    assert budget.spent == Usage()


def test_reservations_that_overlap_leave_no_rounding_behind() -> None:
    budget = Budget(Allowance(cost_usd=0.31))
    with budget.reserve(Usage(calls=1, cost_usd=0.1), "m"), budget.reserve(Usage(calls=1, cost_usd=0.2), "m"):
        pass
    with budget.reserve(Usage(calls=1, cost_usd=0.31), "m"):
        pass


def test_a_cost_limit_needs_a_price() -> None:
    budget = Budget(Allowance(cost_usd=1.0))
    with pytest.raises(UnknownPrice, match="test:x"), budget.reserve(Usage(calls=1, cost_usd=None), "test:x"):
        pytest.fail("the call was made")


def test_without_a_cost_limit_no_price_is_needed() -> None:
    budget = Budget(Allowance(tokens=10))
    with budget.reserve(Usage(calls=1, tokens_in=5, cost_usd=None), "m"):
        budget.charge(Usage(calls=1, tokens_in=5, cost_usd=None))
    assert budget.spent.cost_usd is None


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), max_size=20), st.integers(1, 200))
def test_what_is_spent_never_exceeds_the_allowance(calls: list[tuple[int, float]], allowed: int) -> None:
    budget = Budget(Allowance(tokens=allowed))
    for bound, share in calls:
        try:
            with budget.reserve(Usage(calls=1, tokens_in=bound), "m"):
                budget.charge(Usage(calls=1, tokens_in=int(bound * share)))
        except BudgetExhausted:
            assert budget.spent.tokens + bound > allowed
    assert budget.spent.tokens <= allowed


def test_concurrent_calls_of_an_actor_stay_within_the_allowance() -> None:
    async def main() -> None:
        model = ListModel(["yes"] * 10)
        effects = make_effects(allowance=Allowance(calls=3))
        refused: list[str] = []

        async def call() -> None:
            try:
                await effects.complete("actor", model, ask())
            except BudgetExhausted as error:
                refused.append(error.limit)

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(call)
        assert len(model.requests) == 3
        assert refused == ["calls"] * 7

    anyio.run(main)

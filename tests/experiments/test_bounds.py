"""The most that an experiment can ask: an arm within its allowance, and what arms share counted once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.messages import Price
from afterword.experiments.bounds import ArmBound, CallBound, Cap, Most, most_of

PRICE = Price(50, 500)
COST, LESSON_COST = 0.01, 0.035
"""Of a call with 100 tokens in and 10 out, and of one with 300 and 40."""


def arm(name: str, trials: int, lessons: int = 0, shares: str | None = "same", untold: bool = False) -> ArmBound:
    bounds = (CallBound(trials, 100, 10, PRICE), CallBound(lessons, 300, 40, PRICE))
    return ArmBound(name, bounds, CallBound(1, 100, 10, PRICE), shares, untold)


def test_without_an_allowance_all_calls_count_and_the_shared_one_once() -> None:
    most = most_of((arm("single", 1), arm("retry", 3), arm("reflexion", 3, 4)), Cap())
    assert (most.calls, most.tokens_in, most.tokens_out) == (1 + 2 + 6, 500 + 1200, 50 + 160)
    assert most.cost_usd is not None
    assert round(most.cost_usd, 6) == round(5 * COST + 4 * LESSON_COST, 6)


def test_arms_that_tell_nothing_of_earlier_trials_share_them_all() -> None:
    alike = (arm("single", 1, untold=True), arm("best_of_n", 4, untold=True), arm("retry", 3, untold=True))
    assert most_of(alike, Cap()) == Most(4, 440, 400, 40, 0.04)
    assert most_of((arm("reflexion", 3, 4), *alike), Cap()).calls == 4 + 2 + 4
    assert most_of((arm("own tests", 4, 1, untold=True), *alike), Cap()).calls == 4 + 1
    assert most_of(alike, Cap(tokens=250)).tokens == 250
    assert most_of((*alike, arm("other", 2, shares="else", untold=True)), Cap()).calls == 6


def test_arms_with_other_first_prompts_share_nothing() -> None:
    assert most_of((arm("one", 3), arm("other", 3, shares="else")), Cap()).calls == 6
    assert most_of((arm("one", 3, shares=None), arm("other", 3, shares=None)), Cap()).calls == 6


def test_an_unknown_price_leaves_the_cost_unknown() -> None:
    unknown = ArmBound("a", (CallBound(2, 5, 5, None),), CallBound(1, 5, 5, None))
    assert most_of((unknown,), Cap(cost_usd=1.0)).cost_usd is None


def test_an_allowance_of_calls_or_tokens_bounds_each_arm() -> None:
    arms = (arm("single", 1), arm("reflexion", 3, 4))
    assert most_of(arms, Cap(calls=4)).calls == 1 + 4 - 1
    tokens = most_of(arms, Cap(tokens=500))
    assert tokens.tokens == 110 + 500
    # the prompts of reflexion, or its replies, may take all of it up to what they can be
    assert (tokens.tokens_in, tokens.tokens_out) == (100 + 500, 10 + 190)


def test_an_allowance_of_tokens_bounds_the_cost_by_the_dearest_token() -> None:
    calls = CallBound(100, 10_000, 1_000, Price(0.15, 0.60))
    most = most_of((ArmBound("a", (calls,), calls),), Cap(tokens=20_000))
    assert most.cost_usd is not None
    assert round(most.cost_usd, 6) == 0.012
    assert most_of((ArmBound("a", (calls,), calls),), Cap(calls=2)).cost_usd == 0.0042


def test_what_counts_against_no_allowance_is_not_bounded_by_it() -> None:
    judge = CallBound(2, 50, 5, Price(8_000, 20_000))
    one = ArmBound("single", (CallBound(1, 100, 10, PRICE),), CallBound(1, 100, 10, PRICE), uncharged=(judge,))
    most = most_of((one,), Cap(calls=1, tokens=100, cost_usd=0.01))
    assert (most.calls, most.tokens, most.cost_usd) == (1 + 2, 100 + 110, 0.01 + 1.0)


def test_a_model_takes_longest_where_it_writes_all_it_may_and_reads_the_rest() -> None:
    assert Most(10, 1_000, 1_000, 200).seconds(written=20, read=80) == 10 + 10
    assert Most(10, 1_000, 900, 600).seconds(written=100, read=50) == 900 / 50 + 100 / 100


@given(
    sizes=st.lists(st.integers(1, 110), min_size=6, max_size=6),
    most_trials=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    tokens=st.integers(50, 700),
)
def test_attempts_that_are_shared_are_never_more(sizes: list[int], most_trials: list[int], tokens: int) -> None:
    made = max(
        number for trials in most_trials for number in range(trials + 1) if sum(sizes[:number]) <= tokens
    )  # each arm makes the same attempts in order, as many as it may
    most = most_of(tuple(arm(str(place), n, untold=True) for place, n in enumerate(most_trials)), Cap(tokens=tokens))
    assert made <= most.calls
    assert sum(sizes[:made]) <= most.tokens


@given(
    first=st.integers(0, 400),
    rest=st.lists(st.lists(st.integers(1, 110), max_size=5), min_size=1, max_size=4),
    calls=st.integers(1, 6),
    tokens=st.integers(50, 700),
)
def test_what_arms_ask_within_their_bounds_is_never_more(
    first: int, rest: list[list[int]], calls: int, tokens: int
) -> None:
    """Arms that make the same first call and then some of their own, each within the allowance."""
    first = min(first, 110, tokens)
    made, arms = 1, []
    spent = first
    for number, sizes in enumerate(rest):
        own, kept = first, 1
        for size in sizes:
            if kept < calls and own + size <= tokens:
                own, kept, made, spent = own + size, kept + 1, made + 1, spent + size
        arms.append(arm(str(number), 6))
    most = most_of(tuple(arms), Cap(calls=calls, tokens=tokens))
    assert made <= most.calls
    assert spent <= most.tokens

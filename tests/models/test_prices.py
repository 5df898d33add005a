"""What calls cost."""

from __future__ import annotations

import pytest

from afterword.core.messages import FREE, Price
from afterword.core.records import Usage
from afterword.models.prices import Pricing

USED = Usage(calls=1, tokens_in=1_000_000, tokens_out=100_000, tokens_cached=500_000, cost_usd=None)


def test_known_model_has_a_cost_and_cached_tokens_are_cheaper() -> None:
    pricing = Pricing("gpt-4o", "openai")
    cost = pricing.cost_usd(USED)
    uncached = pricing.cost_usd(Usage(calls=1, tokens_in=1_000_000, tokens_out=100_000))
    assert cost is not None
    assert uncached is not None
    assert 0 < cost < uncached


def test_unknown_model_has_no_cost_rather_than_none_to_pay() -> None:
    pricing = Pricing("no-such-model-at-all", "openai")
    assert pricing.cost_usd(USED) is None
    assert pricing.bound() is None


def test_unknown_server_has_no_cost_even_for_a_known_name() -> None:
    assert Pricing("gpt-4o", None, "http://localhost:8000/v1").cost_usd(USED) is None


def test_known_address_tells_the_provider() -> None:
    assert Pricing("openai/gpt-4o", None, "https://openrouter.ai/api/v1").bound() is not None


@pytest.mark.parametrize(("model", "provider"), [("gpt-4o", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_the_bound_is_never_below_the_cost(model: str, provider: str) -> None:
    pricing = Pricing(model, provider)
    bound = pricing.bound()
    assert bound is not None
    for tokens_in, written in ((1_000, 1_000), (1_000_000, 0), (1_000_000, 900_000)):
        used = Usage(calls=1, tokens_in=tokens_in, tokens_out=1_000)
        cost = pricing.cost_usd(used, tokens_written_to_cache=written)
        assert cost is not None
        assert bound.cost_usd(used) >= cost * 0.999999


def test_what_is_written_to_a_cache_costs_more_than_what_is_read() -> None:
    pricing = Pricing("claude-sonnet-4-5", "anthropic")
    plain = pricing.cost_usd(Usage(calls=1, tokens_in=1000))
    written = pricing.cost_usd(Usage(calls=1, tokens_in=1000), tokens_written_to_cache=1000)
    read = pricing.cost_usd(Usage(calls=1, tokens_in=1000, tokens_cached=1000))
    assert plain is not None
    assert written == pytest.approx(1.25 * plain)
    assert read == pytest.approx(0.1 * plain)


def test_what_the_user_states_wins() -> None:
    stated = Price(1.0, 2.0, cached_input=0.0)
    pricing = Pricing("gpt-4o", "openai", stated=stated)
    assert pricing.bound() == stated
    assert pricing.cost_usd(USED) == pytest.approx(0.5 * 1.0 + 0.1 * 2.0)


def test_a_free_model_costs_nothing() -> None:
    assert Pricing("any", None, stated=FREE).cost_usd(USED) == 0.0

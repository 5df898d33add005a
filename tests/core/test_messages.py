"""Requests and prices."""

from __future__ import annotations

import pytest

from afterword import FREE, ChatRequest, Message, Price, Usage


def test_equal_requests_are_the_same_call() -> None:
    def request(temperature: float | None) -> ChatRequest:
        return ChatRequest((Message("user", "hello"),), temperature=temperature)

    assert request(0.2) == request(0.2)
    assert request(None) != request(0.0)


def test_the_paper_s_length_is_the_default() -> None:
    assert ChatRequest(()).max_tokens == 1024


def test_a_price_is_per_million_tokens() -> None:
    usage = Usage(tokens_in=1_000_000, tokens_out=500_000)
    assert Price(input=2.0, output=8.0).cost_usd(usage) == pytest.approx(6.0)


def test_cached_input_has_its_own_price_and_is_not_counted_twice() -> None:
    usage = Usage(tokens_in=1_000_000, tokens_cached=400_000)
    assert Price(2.0, 8.0, cached_input=0.5).cost_usd(usage) == pytest.approx(1.4)
    assert Price(2.0, 8.0).cost_usd(usage) == pytest.approx(2.0)


def test_local_models_are_free() -> None:
    assert FREE.cost_usd(Usage(tokens_in=10**9, tokens_out=10**9)) == 0.0

"""What calls cost, from a price table that ships with `genai-prices`; nothing is fetched.

An unknown price is None and never 0, so that a cost limit cannot be passed by not knowing. What the user
states wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from afterword.core.messages import Price
from afterword.core.records import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, TieredPrices


@dataclass(frozen=True, slots=True)
class Pricing:
    """The price of one model at one provider."""

    model: str
    """The provider's name of the model, without `provider:`."""
    provider: str | None
    """The provider's id in the price table; None where only the address tells."""
    base_url: str | None = None
    stated: Price | None = None

    def bound(self) -> Price | None:
        """The most that a token costs, in the dearest tier and written to a cache: for reserving a budget."""
        if self.stated is not None:
            return self.stated
        prices = self._look_up()
        if prices is None:
            return None
        fresh, output = _highest(prices.input_mtok), _highest(prices.output_mtok)
        if fresh is None or output is None:
            return None
        written = _highest(prices.cache_write_mtok) or 0.0
        return Price(max(fresh, written), output)

    def cost_usd(self, usage: Usage, *, tokens_written_to_cache: int = 0) -> float | None:
        """What `usage` costs; None when the price is unknown."""
        if self.stated is not None:
            return self.stated.cost_usd(usage)
        prices = self._look_up()
        if prices is None:
            return None
        from genai_prices import Usage as PricedUsage

        counts = PricedUsage(
            input_tokens=usage.tokens_in,
            output_tokens=usage.tokens_out,
            cache_read_tokens=usage.tokens_cached,
            cache_write_tokens=tokens_written_to_cache,
        )
        return float(prices.calc_price(counts)["total_price"])

    def _look_up(self) -> ModelPrice | None:
        from genai_prices.data_snapshot import get_snapshot

        by_address = None if self.provider is not None else self.base_url
        if self.provider is None and by_address is None:
            return None
        try:
            _, model = get_snapshot().find_provider_model(self.model, None, self.provider, by_address)
        except LookupError:
            return None
        return model.get_prices(datetime.now(UTC))


def _highest(price: Decimal | TieredPrices | None) -> float | None:
    if price is None or isinstance(price, Decimal):
        return None if price is None else float(price)
    return float(max([price.base, *(tier.price for tier in price.tiers)]))

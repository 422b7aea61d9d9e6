"""What it costs to send tokens to a model: list prices, with the date at which they were noted."""

from __future__ import annotations

from typing import NamedTuple

NOTED = "2026-09"
"""Prices change: whoever needs an exact figure asks the provider."""

PRICES = {
    # Dollars for a million tokens of input, without caching
    "gpt-4o": 2.50,
    "gpt-4o-mini": 0.15,
    "gpt-4.1": 2.00,
    "gpt-4.1-mini": 0.40,
    "gpt-5.2": 1.75,
    "gpt-5-mini": 0.25,
    "claude-sonnet-4-5": 3.00,
    "claude-haiku-4-5": 1.00,
    "gemini-2.5-pro": 1.25,
}
MILLION = 1_000_000


class Cost(NamedTuple):
    """What a text costs as the input of a model, by its list price."""

    model: str
    dollars: float


def estimate_costs(tokens: int) -> list[Cost]:
    """Return what so many tokens cost as the input of each model of the table."""
    return [Cost(model, tokens * price / MILLION) for model, price in PRICES.items()]

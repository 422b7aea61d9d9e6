"""Relevance: how likely it is that a candidate is about what the query asks.

Scores order the candidates of one query, and say nothing across queries: something is always the
best, also where nothing helps. The probability is a logistic function of what words and vectors
tell, with coefficients that were fitted to labelled pages (`make calibrate`). They depend on the
model of the vectors; another model needs a fit of its own. All of it is computed in whole numbers,
so that it is the same on every machine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

RELEVANCE = "relevance"
SIMILARITY = "similarity"
WORDS = "words"
"""The name of the fit for texts without vectors."""
CERTAIN = 1000
"""A probability of 1, and the scale of all features and coefficients."""
DEFAULT_KIND = "other"
LOGISTIC = (0, 1, 2, 7, 18, 47, 119, 269, 500, 731, 881, 953, 982, 993, 998, 999, 1000)
"""The logistic function at -8, -7, … 8, in thousandths; between these points it is a line."""
LIMIT = 8
LONGEST = 10
"""Longer texts than 2 to the power of this, in characters, count as long as that."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a candidate and the query have in common."""

    kind: str
    """The kind of its text: `code`, `memory`, …"""
    words: int = 0
    """The share of the query's words that the text holds, weighted by their rarity."""
    named: int = 0
    """The same for the words of the text, its title and its path together."""
    similarity: int | None = None
    """How similar the text is to the query, if both have vectors."""
    behind: int = 0
    """How much less similar it is than the most similar one of its section."""
    length: int = 0
    """The number of characters of the text."""
    on_topic: bool = True
    """Whether something in its section has enough of the query's words to be about it."""

    @property
    def features(self) -> Mapping[str, int]:
        """Its features by name, in thousandths."""
        similarity = self.similarity or 0
        return {
            "words": self.words,
            "named": self.named,
            "similarity": similarity,
            "behind": self.behind,
            "agreement": self.words * similarity // CERTAIN,
            "length": min(LONGEST, self.length.bit_length()) * CERTAIN // LONGEST,
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """The coefficients of the logistic function, in thousandths."""

    intercepts: Mapping[str, int]
    """By kind; `other` is for all kinds that are not named."""
    coefficients: Mapping[str, int] = field(default_factory=dict)
    """By feature."""

    def probability(self, match: Match) -> int:
        """Return the probability that a candidate is relevant, in thousandths."""
        total = self.intercepts.get(match.kind, self.intercepts[DEFAULT_KIND])
        features = match.features
        for name in sorted(self.coefficients):
            total += self.coefficients[name] * features[name] // CERTAIN
        return logistic(total)


def logistic(value: int) -> int:
    """Return the logistic function of a number of thousandths, in thousandths."""
    if abs(value) >= LIMIT * CERTAIN:
        return LOGISTIC[0 if value < 0 else -1]
    place, rest = divmod(value + LIMIT * CERTAIN, CERTAIN)
    low, high = LOGISTIC[place : place + 2]
    return low + (high - low) * rest // CERTAIN


def coverage(rarities: Mapping[str, int], words: Collection[str]) -> int:
    """Return the share of a query's words that a text holds, weighted by their rarity."""
    total = sum(rarities.values())
    held = sum(rarity for word, rarity in rarities.items() if word in words)
    return held * CERTAIN // total if total else 0


def estimate(match: Match, model: str | None, *, by_words: bool = False) -> int | None:
    """Return the probability that a candidate is relevant, in thousandths; None: not known.

    It is known where there are vectors of a model with a fit. Words alone tell less: they are asked
    only where the whole search is `by_words`, or where a section is about something else.
    """
    if match.similarity is None and not match.on_topic:
        return 0
    if match.similarity is None:
        return _fits()[WORDS].probability(match) if by_words else None
    fit = _get_fit(model or "")
    return None if fit is None else fit.probability(match)


def _get_fit(model: str) -> Fit | None:
    return next((fit for name, fit in _fits().items() if model.startswith(name)), None)


@cache
def _fits() -> Mapping[str, Fit]:
    data = resources.files("quire.ranking").joinpath("relevance.toml").read_text("utf-8")
    return {name: _read_fit(table) for name, table in tomllib.loads(data).items()}


def _read_fit(table: Mapping[str, Any]) -> Fit:
    return Fit(table["intercepts"], table["coefficients"])

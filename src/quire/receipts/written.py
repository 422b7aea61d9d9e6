"""Decisions as the text that a receipt is hashed from, and as values that are built when read.

A context has a decision on every candidate, hundreds of them, and few callers look at more than a
few. As values they were half of all objects of a process that caches contexts, and Python's garbage
collector visits each again and again. A receipt writes them anyway, so a cached context holds what
was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import index
from typing import Any, Self, SupportsIndex, overload

from quire.core.types import Decision
from quire.receipts.canonical import canonical_decisions
from quire.receipts.frozen import FrozenDict

INCLUDED = ("kept", "cut")
"""The verdicts over candidates that are in the context."""
CACHE_SIZE = 12
"""How many are kept as values: those of the contexts that were read last."""

Decisions = tuple[Decision, ...]


class WrittenDecisions(tuple[Decision, ...]):
    """A tuple of decisions, those on what is in the context first, that holds them as text.

    It has no length and no items of its own: whatever reads it goes through the methods below.
    """

    __slots__ = ()

    def __new__(cls, items: Sequence[Decision] = ()) -> Self:
        """Return a plain tuple: whoever makes one of items has built them already."""
        return tuple(items)  # type: ignore[return-value]  # as `asdict` and slices need it

    @classmethod
    def of(cls, decisions: Decisions) -> WrittenDecisions:
        """Write decisions; what is in the context has to be first."""
        if isinstance(decisions, WrittenDecisions):
            return decisions
        first = sum(decision.verdict in INCLUDED for decision in decisions)
        included, excluded = decisions[:first], decisions[first:]
        assert all(decision.verdict in INCLUDED for decision in included), "they are the first"
        parts = canonical_decisions(included), canonical_decisions(excluded), first, len(excluded)
        return tuple.__new__(cls, parts)

    def _part(self, place: int) -> Any:
        return super().__getitem__(place)

    @property
    def included(self) -> str:
        """Those on what is in the context, as canonical JSON."""
        return str(self._part(0))

    @property
    def excluded(self) -> str:
        """The others, likewise."""
        return str(self._part(1))

    @property
    def excluded_count(self) -> int:
        """How many others there are."""
        return int(self._part(3))

    def _built(self) -> Decisions:
        return _build(self.included, self.excluded)

    def __len__(self) -> int:
        return int(self._part(2)) + self.excluded_count

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._built())

    @overload
    def __getitem__(self, place: SupportsIndex) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> Decisions: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Decision | Decisions:
        return self._built()[place if isinstance(place, slice) else index(place)]

    def __contains__(self, item: object) -> bool:
        return item in self._built()

    def __eq__(self, other: object) -> bool:
        return self._built() == (other._built() if isinstance(other, WrittenDecisions) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._built())

    def __add__(self, other: Any) -> Any:
        return self._built() + tuple(other)

    def __radd__(self, other: Any) -> Any:
        return tuple(other) + self._built()

    def __mul__(self, times: SupportsIndex) -> Decisions:
        return self._built() * times

    __rmul__ = __mul__

    def count(self, value: Any) -> int:
        """Return how often a decision is among them."""
        return self._built().count(value)

    def index(self, value: Any, *within: SupportsIndex) -> int:
        """Return the first place of a decision."""
        return self._built().index(value, *within)

    def __repr__(self) -> str:
        return repr(self._built())

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a plain tuple in a copy, and in a pickle."""
        return (tuple, (list(self._built()),))


def as_data(text: str) -> list[dict[str, Any]]:
    """Return decisions that were written, as plain data with the fields in their order."""
    return [{name: each[name] for name in _FIELDS} for each in json.loads(text)]


_FIELDS = tuple(Decision.__dataclass_fields__)


@lru_cache(CACHE_SIZE)
def _build(*texts: str) -> Decisions:
    return tuple(
        [
            Decision(
                **{
                    **each,
                    "lines": tuple(each["lines"]),
                    "signals": FrozenDict(each["signals"]),
                }
            )
            for text in texts
            for each in json.loads(text)
        ]
    )

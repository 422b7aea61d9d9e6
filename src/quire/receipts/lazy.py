"""A dictionary whose long values are built when they are read.

A cached context holds its receipt, and few callers look into it. Its long fields, as dictionaries
and lists, would be thousands of objects, which the garbage collector visits again and again as long
as the context is cached: that cost more than assembling. So a field is built when it is read, from
values that the context holds anyway; the fields that were read last stay built.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import lru_cache, partial
from typing import Any

from quire.receipts.frozen import FrozenDict, freeze

CACHE_SIZE = 12
"""How many built fields are kept: those of a few receipts."""


class LazyDict(FrozenDict[Any]):
    """A frozen dictionary in which a value may be a `partial`, called when it is read.

    What Python does with a dictionary behind its methods (merging, JSON) goes through `__iter__`
    and `items` where a class defines them; so it reads like a plain dictionary everywhere.
    """

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return _build(value) if isinstance(value, partial) else value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, or a default."""
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]  # a view all the same
        """Return a view of all names with their values."""
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]  # a view all the same
        """Return a view of all values."""
        return ValuesView(self)

    def copy(self) -> dict[str, Any]:
        """Return a plain dictionary of the same fields."""
        return dict(self)

    def __eq__(self, other: object) -> bool:
        return dict(self) == other

    def __ne__(self, other: object) -> bool:
        return dict(self) != other

    __hash__ = None  # type: ignore[assignment]  # as of every dictionary

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __repr__(self) -> str:
        return repr(dict(self))


@lru_cache(CACHE_SIZE)
def _build(field: partial[Mapping[str, Any]]) -> Any:
    return freeze(field())

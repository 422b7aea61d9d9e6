"""How does a receipt take little room until someone reads it?

A kept context holds its receipt, and few callers look into it. Its long parts, as dictionaries and
lists, would be thousands of objects, which the garbage collector goes through again and again as
long as the context is kept: that cost more than assembling. So a part is put together when it is
read, from values that the context holds anyway; those that were read last stay put together.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import lru_cache, partial
from typing import Any

from quire.receipts.frozen import SealedDict, sealed

STAY = 12
"""So many parts stay put together: those of four receipts."""


class InParts(SealedDict[Any]):
    """A sealed dictionary in which a value may be a `partial`, to be called when it is read.

    What Python does with a dictionary behind its methods (merging, JSON) goes through `__iter__`
    and `items` where a class has its own; so each reads the same here as in a plain one.
    """

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return _read(value) if isinstance(value, partial) else value

    def get(self, name: str, default: Any = None) -> Any:
        """Give the value of a name, or what else is wanted."""
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]  # a view all the same
        """Give all names with their values."""
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]  # a view all the same
        """Give all values."""
        return ValuesView(self)

    def copy(self) -> dict[str, Any]:
        """Give a plain dictionary of the same parts."""
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


@lru_cache(STAY)
def _read(part: partial[Mapping[str, Any]]) -> Any:
    return sealed(part())

"""Dictionaries and lists that cannot be changed.

A cached context is handed to many callers. Its receipt still consists of `dict` and `list`, for
JSON and for every check, but nothing can be added or removed. A deep copy is plain.
"""

from __future__ import annotations

from typing import Any, Never, TypeVar

Item = TypeVar("Item")


def _refuse(*_: object, **__: object) -> Never:
    raise TypeError("a receipt cannot be changed; copy.deepcopy returns one that can")


class FrozenDict(dict[str, Item]):
    """A dictionary that cannot be changed."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a plain dictionary in a copy, and in a pickle."""
        return (dict, (dict(self),))


class FrozenList(list[Item]):
    """A list that cannot be changed."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a plain list in a copy, and in a pickle."""
        return (list, (list(self),))


def freeze(value: Any) -> Any:
    """Return the same data, of which no part can be changed."""
    if isinstance(value, FrozenDict | FrozenList):
        return value
    if isinstance(value, dict):
        return FrozenDict({name: freeze(item) for name, item in value.items()})
    if isinstance(value, list):
        return FrozenList([freeze(item) for item in value])
    return value

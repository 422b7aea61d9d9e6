"""How is a receipt kept from being altered after it was made?

One context may be given to many callers. What its receipt is made of is still a `dict` and a
`list`, for JSON and for every check; only nothing can be put in or taken out. A deep copy is plain.
"""

from __future__ import annotations

from typing import Any, Never, TypeVar

Item = TypeVar("Item")


def _refuse(*_: object, **__: object) -> Never:
    raise TypeError("a receipt cannot be altered; copy.deepcopy gives one that can")


class SealedDict(dict[str, Item]):
    """A dictionary that stays as it was made."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a plain dictionary in a copy, and in a pickle."""
        return (dict, (dict(self),))


class SealedList(list[Item]):
    """A list that stays as it was made."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a plain list in a copy, and in a pickle."""
        return (list, (list(self),))


def sealed(value: Any) -> Any:
    """Give the same data so that no part of it can be altered."""
    if isinstance(value, SealedDict | SealedList):
        return value
    if isinstance(value, dict):
        return SealedDict({name: sealed(item) for name, item in value.items()})
    if isinstance(value, list):
        return SealedList([sealed(item) for item in value])
    return value

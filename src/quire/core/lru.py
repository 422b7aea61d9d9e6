"""A small cache that forgets what was used least recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from quire.core.types.results import HitCount

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """A cache of at most `max_items` values, safe to share between threads.

    Where values have sizes, they are at most `max_size` together; a value that is larger itself is
    not kept. A size is taken when a value is put.
    """

    def __init__(
        self,
        max_items: int,
        max_size: int = 0,
        size_of: Callable[[Value], int] | None = None,
    ) -> None:
        self._max_items = max_items
        self._max_size = max_size
        self._size_of = size_of
        self._items: OrderedDict[Key, Value] = OrderedDict()
        self._sizes: dict[Key, int] = {}
        self._size = 0
        self._lock = threading.Lock()
        self._count = HitCount()

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        """Tell whether a value is cached; that counts as no use of it."""
        return key in self._items

    @property
    def count(self) -> HitCount:
        """How many values were asked for, and how many were cached."""
        return self._count

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, or None if it is not cached."""
        with self._lock:
            self._count = self._count.plus(key in self._items)
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key]

    def put(self, key: Key, value: Value) -> None:
        """Add a value and evict the least recently used ones if the cache is full."""
        size = 0 if self._size_of is None else self._size_of(value)
        with self._lock:
            if key in self._items:
                self._drop(key)
            if size > self._max_size:
                return  # the others are worth more
            self._items[key], self._sizes[key] = value, size
            self._size += size
            while len(self._items) > self._max_items or self._size > self._max_size:
                self._drop(next(iter(self._items)))

    def _drop(self, key: Key) -> None:
        del self._items[key]
        self._size -= self._sizes.pop(key)

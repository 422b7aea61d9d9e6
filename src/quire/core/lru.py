"""A small cache that forgets what was used least recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from quire.core.types.results import HitCount

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """A cache of at most `max_items` values, safe to share between threads."""

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._items: OrderedDict[Key, Value] = OrderedDict()
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
        """Add a value and evict the least recently used one if the cache is full."""
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            while len(self._items) > self._max_items:
                self._items.popitem(last=False)

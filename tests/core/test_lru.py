"""What is used least recently is forgotten first, by number and by size."""

from __future__ import annotations

from quire.core.lru import LRUCache


def test_the_least_recently_used_goes_first() -> None:
    cache: LRUCache[str, int] = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [name in cache for name in "abc"] == [True, False, True]
    assert (cache.count.hits, cache.count.total) == (1, 1), "to look is no use"


def test_values_together_have_a_largest_size() -> None:
    cache: LRUCache[str, str] = LRUCache(10, 10, len)
    for name in "abc":
        cache.put(name, name * 4)
    assert [name in cache for name in "abc"] == [False, True, True]
    cache.put("b", "bb")  # smaller than before: there is room
    cache.put("d", "dddd")
    assert [name in cache for name in "bcd"] == [True, True, True]
    cache.put("c", "c" * 8)
    assert [name in cache for name in "bcd"] == [False, True, False]
    assert cache.get("c") == "c" * 8


def test_a_value_that_is_too_large_evicts_nothing() -> None:
    cache: LRUCache[str, str] = LRUCache(10, 10, len)
    cache.put("a", "aaaa")
    cache.put("b", "b" * 11)
    assert [name in cache for name in "ab"] == [True, False]
    cache.put("a", "a" * 11)  # and what it was is out of date
    assert len(cache) == 0
    cache.put("c", "c" * 10)
    assert "c" in cache, "its room is free again"

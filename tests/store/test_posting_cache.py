"""Lists of words in memory: what is read of them while a store is written to, and how much is kept.

What is compared: a cache that is asked for growing, merged and older lists of segments, with the
lists themselves; and the bytes that a cache holds after many small writes with what it held first.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.store.index import postings, segments
from quire.store.index.access_mask import AccessMaskCache
from quire.store.index.columns import ACCESS, Columns, empty_table
from quire.store.index.segments import PostingCache

SPACE = 1


class Segments:
    """The segments of one word, written and merged as a store does."""

    def __init__(self) -> None:
        self.rows: dict[int, list[int]] = {}
        self.numbers: list[int] = []
        self.loads: list[int] = []
        self._row = 0

    def write(self, count: int) -> None:
        self._add(list(range(self._row, self._row + count)))
        self._row += count + 1

    def merge(self, count: int) -> None:
        merged, self.numbers = self.numbers[-count:], self.numbers[:-count]
        self._add([row for number in merged for row in self.rows[number]])

    def _add(self, rows: list[int]) -> None:
        number = len(self.rows) + 1
        self.rows[number] = rows
        self.numbers.append(number)

    def load(self, number: int, word: str) -> list[bytes]:
        assert word == "w"
        self.loads.append(number)
        rows = np.array(self.rows[number], np.int32)
        return [postings.encode(rows, np.ones(rows.size, np.uint8))] if rows.size else []

    def expected(self, numbers: list[int]) -> list[int]:
        return sorted(row for number in numbers for row in self.rows[number])


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 5)),
        st.tuples(st.just("merge"), st.integers(2, 4)),
        st.tuples(st.just("older"), st.integers(0, 20)),
        st.tuples(st.just("read"), st.just(0)),
    ),
    max_size=30,
)


@given(steps)
def test_a_list_is_that_of_the_segments_asked_for(each: list[tuple[str, int]]) -> None:
    held, cache = Segments(), PostingCache()
    states: list[list[int]] = [[]]
    for step, number in each:
        if step == "write":
            held.write(number)
        elif step == "merge" and len(held.numbers) > number:
            held.merge(number)
        states.append(list(held.numbers))
        wanted = states[max(0, len(states) - 1 - number)] if step == "older" else held.numbers
        rows, counts = cache.read(SPACE, "w", wanted, held.load)
        assert rows.tolist() == held.expected(wanted)
        assert counts.tolist() == [1] * len(rows)
        assert sorted(cache.missing(SPACE, ["w"], wanted)) in ([], ["w"])


def test_small_writes_do_not_fill_the_cache() -> None:
    held, cache = Segments(), PostingCache()
    held.write(50_000)
    cache.read(SPACE, "w", held.numbers, held.load)
    alone = cache.size
    for number in range(200):
        held.write(1)
        if number % 8 == 7:
            held.merge(8)
        cache.read(SPACE, "w", held.numbers, held.load)
        assert cache.size <= 2 * alone + 10_000
    assert held.loads.count(1) == 1, "the large list is read once"


def test_a_write_without_the_word_copies_nothing() -> None:
    held, cache = Segments(), PostingCache()
    held.write(50_000)
    first, _ = cache.read(SPACE, "w", held.numbers, held.load)
    alone = cache.size
    for _ in range(3):
        held.write(0)
        rows, counts = cache.read(SPACE, "w", held.numbers, held.load)
        assert rows is first
        assert cache.size == alone
    assert counts.base is None, "it holds nothing of the bytes that it was read from"


def test_spaces_have_lists_of_their_own() -> None:
    one, other, cache = Segments(), Segments(), PostingCache()
    one.write(3)
    other.write(0)
    other.write(2)
    assert cache.read(1, "w", one.numbers, one.load)[0].tolist() == [0, 1, 2]
    assert cache.read(2, "w", other.numbers, other.load)[0].tolist() == [1, 2]
    assert cache.read(1, "w", one.numbers, one.load)[0].tolist() == [0, 1, 2]
    assert one.loads == [1], "neither takes the other's place"
    assert cache.missing(1, ["w", "v"], one.numbers) == ["v"]


def test_what_is_least_used_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "CACHE_BYTES", 20_000)
    cache, loads = PostingCache(), []

    def load(number: int, word: str) -> list[bytes]:
        loads.append(word)
        rows = np.arange(1000, dtype=np.int32)
        return [postings.encode(rows, np.ones(1000, np.uint8))]

    for word in "abcab":
        cache.read(SPACE, word, [1], load)
    assert loads == ["a", "b", "c"]
    cache.read(SPACE, "d", [1], load)
    assert cache.size <= 20_000
    for word in "abd":
        cache.read(SPACE, word, [1], load)
    assert loads == ["a", "b", "c", "d"], "c went"


def columns(generation: int, readers: list[int]) -> Columns:
    table = empty_table(len(readers))
    table[ACCESS] = readers
    return Columns(generation, table)


def test_a_mask_is_kept_for_the_newest_state_alone() -> None:
    cache, classes = AccessMaskCache(), frozenset({1})
    for generation in range(1, 40):
        mask = cache.get(SPACE, columns(generation, [1, 2] * generation), classes)
        assert mask.chunks == generation
        assert cache.get(SPACE, columns(generation, [1, 2] * generation), classes) is mask
    assert len(cache) == 1
    older = cache.get(SPACE, columns(3, [1, 2, 1]), classes)
    assert older.chunks == 2
    assert cache.get(SPACE, columns(39, []), classes) is mask, "an older state takes no place"
    cache.get(SPACE, columns(39, [2]), frozenset({2}))
    assert len(cache) == 2

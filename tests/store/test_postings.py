"""Encoding, decoding and merging of posting lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import StoreDamagedError
from quire.store.index import postings
from quire.store.index.postings import Posting, PostingBuilder

rows_held = st.dictionaries(
    st.one_of(st.integers(0, 600), st.integers(0, 2**31 - 1)), st.integers(1, 255), max_size=40
)


def posting(counts: dict[int, int]) -> Posting:
    rows = sorted(counts)
    return np.array(rows, np.int32), np.array([counts[row] for row in rows], np.uint8)


def plain(posting: Posting) -> dict[int, int]:
    rows, times = posting[0].tolist(), posting[1].tolist()
    assert rows == sorted(set(rows))
    return dict(zip(rows, times, strict=True))


@given(rows_held.filter(bool))
def test_packed_and_unpacked(counts: dict[int, int]) -> None:
    assert plain(postings.decode(postings.encode(*posting(counts)))) == counts


@pytest.mark.parametrize("step", [1, 255, 256, 65535, 65536, 2**30])
def test_steps_of_every_width(step: int) -> None:
    counts = {0: 1, step: 2, min(2 * step, 2**31 - 1): 255}
    data = postings.encode(*posting(counts))
    assert plain(postings.decode(data)) == counts
    assert len(data) == 1 + len(counts) * (1 + (1 if step < 256 else 2 if step < 65536 else 4))


@given(st.lists(rows_held, max_size=5))
def test_joined(parts: list[dict[int, int]]) -> None:
    rows_seen: set[int] = set()
    apart = []
    for part in parts:  # no row stands in two lists of a word
        apart.append({row: times for row, times in part.items() if row not in rows_seen})
        rows_seen |= set(part)
    whole = {row: times for part in apart for row, times in part.items()}
    assert plain(postings.join(posting(part) for part in apart)) == whole


small_rows = st.dictionaries(st.integers(0, 400), st.integers(1, 255), min_size=1, max_size=9)


@given(
    st.lists(st.tuples(st.sampled_from("abcé検"), small_rows), min_size=1, max_size=8),
    st.sets(st.integers(0, 400), max_size=200),
)
def test_merged(found: list[tuple[str, dict[int, int]]], dropped: set[int]) -> None:
    expected: dict[str, dict[int, int]] = {}
    words, lists = [], []
    for word, counts in sorted(found, key=lambda pair: pair[0]):
        rows_known = expected.setdefault(word, {})
        new = {row: times for row, times in counts.items() if row not in rows_known}
        rows_known.update(new)
        if new:
            words.append(word)
            lists.append(postings.encode(*posting(new)))
    gone = np.zeros(401, np.bool_)
    gone[sorted(dropped)] = True
    merged = {
        word: plain(postings.decode(data)) for word, data in postings.merge(words, lists, gone)
    }
    kept = {
        word: {row: times for row, times in counts.items() if row not in dropped}
        for word, counts in expected.items()
    }
    assert merged == {word: counts for word, counts in kept.items() if counts}
    assert list(merged) == sorted(merged)


@given(
    st.dictionaries(
        st.integers(0, 10_000),
        st.dictionaries(st.sampled_from("abcdefé検"), st.integers(1, 1000), max_size=5),
        max_size=20,
    )
)
def test_gathered(chunks: dict[int, dict[str, int]]) -> None:
    gathering = PostingBuilder()
    for row, counts in chunks.items():
        gathering.add(row, Counter(counts))
    lists = [(word, plain(postings.decode(data))) for word, data in gathering.lists()]
    words = sorted({word for counts in chunks.values() for word in counts})
    assert lists == [
        (
            word,
            {row: min(255, chunks[row][word]) for row in sorted(chunks) if word in chunks[row]},
        )
        for word in words
    ]
    assert gathering.rows == list(chunks)


@given(st.binary(max_size=40))
def test_what_is_no_list_is_refused_or_read_as_one(data: bytes) -> None:
    try:
        rows, times = postings.decode(data)
    except StoreDamagedError:
        return
    assert rows.size == times.size

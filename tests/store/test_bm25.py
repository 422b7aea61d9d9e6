"""BM25 in fixed-point arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.store.index import bm25

from . import definitions


def exactly(numerator: int, denominator: int) -> int:
    """Return the largest r with 2**r <= (numerator / denominator)**4096, in integers alone."""
    if numerator <= denominator:
        return 0
    return (numerator**4096 // denominator**4096).bit_length() - 1


def test_logarithms_of_all_small_fractions() -> None:
    for denominator in range(1, 40):
        for numerator in range(1, 120):
            assert bm25.log2_fixed(numerator, denominator) == exactly(numerator, denominator)


@given(st.integers(1, 2**40), st.integers(1, 2**40))
@settings(max_examples=150, deadline=None)
def test_logarithms_of_any_fraction(numerator: int, denominator: int) -> None:
    assert bm25.log2_fixed(numerator, denominator) == exactly(numerator, denominator)


@given(st.integers(1, 2**36), st.integers(0, 200))
@settings(max_examples=150, deadline=None)
def test_logarithms_of_fractions_near_to_one(number: int, more: int) -> None:
    assert bm25.log2_fixed(number + more, number) == exactly(number + more, number)


@pytest.mark.parametrize("power", range(0, 60, 7))
def test_powers_of_two_and_their_neighbours(power: int) -> None:
    assert bm25.log2_fixed(2**power, 1) == power * 4096
    assert bm25.log2_fixed(3 * 2**power, 3) == power * 4096
    for numerator in (2**power - 1, 2**power + 1):
        assert bm25.log2_fixed(numerator, 1) == exactly(numerator, 1)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
@settings(deadline=None)
def test_idf(chunks: int, holding: int) -> None:
    holding = min(holding, chunks)
    assert bm25.idf(chunks, holding) == definitions.idf(chunks, holding)
    assert bm25.idf(chunks, holding) < 2**17, "else the products would not fit"


def test_rarer_is_never_less() -> None:
    for chunks in (1, 7, 1000):
        rarities = [bm25.idf(chunks, holding) for holding in range(chunks + 1)]
        assert rarities == sorted(rarities, reverse=True)


lengths = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=20)


@given(lengths, st.integers(0, 10**6), st.integers(0, 2**50))
def test_norms(found: list[int], chunks: int, total: int) -> None:
    average = max(1, 16 * total // max(1, chunks))
    assert bm25.norms(np.array(found, np.int32), chunks, total).tolist() == [
        min((307 * average + 922 * 16 * length) // average, 2**30) for length in found
    ]


@given(
    st.lists(st.tuples(st.integers(1, 255), st.integers(0, 10_000)), min_size=1, max_size=20),
    st.integers(1, 9),
    st.integers(0, 2**17 - 1),
)
def test_weights(found: list[tuple[int, int]], query_count: int, idf: int) -> None:
    times = np.array([pair[0] for pair in found], np.uint8)
    sizes = np.array([pair[1] for pair in found], np.int32)
    norm = bm25.norms(sizes, len(found), int(sizes.sum()))
    average = max(1, 16 * int(sizes.sum()) // len(found))
    weights = bm25.weights(times, norm, query_count, idf).tolist()
    assert weights == [
        definitions.weight(count, length, query_count, idf, average) for count, length in found
    ]
    assert max(weights) <= bm25.max_weight(query_count, idf)


def test_the_largest_numbers_fit() -> None:
    times = np.array([255, 255, 1], np.uint8)
    norm = np.array([0, 2**30, 2**30], np.int32)
    idf = 2**17 - 1
    expected = [
        (count * 2253 * 1024 // (count * 1024 + int(size))) * 4 * idf >> 8
        for count, size in zip(times.tolist(), norm.tolist(), strict=True)
    ]
    assert bm25.weights(times, norm, 9, idf).tolist() == expected


def test_it_is_near_to_the_formula_of_the_books() -> None:
    """Fixed point costs less than half a per cent."""
    for times, length in ((1, 10), (3, 50), (20, 400)):
        norm = 1.2 * (0.25 + 0.75 * length / 100)
        idf = Fraction(bm25.idf(1000, 7), 4096)
        expected = float(idf) * times * 2.2 / (times + norm) * 4096 * 1024 / 256
        weights = bm25.weights(
            np.array([times], np.uint8),
            bm25.norms(np.array([length], np.int32), 1000, 100_000),
            1,
            bm25.idf(1000, 7),
        )
        assert abs(int(weights[0]) - expected) / expected < 0.005

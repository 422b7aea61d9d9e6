"""Vector scores, sign codes and top-k selection."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.store.index import products, topk, vectors

from . import definitions
from .samples import vector_for


def matrix_of(rows: list[bytes]) -> vectors.Matrix:
    return np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), -1)


# --- dot products ----------------------------------------------------------------------------------

WAYS = [
    pytest.param(
        "simsimd",
        marks=pytest.mark.skipif(
            products.simsimd_products(384) is None, reason="the extra `local` is not installed"
        ),
    ),
    "numpy",
]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute products in each of the two ways."""
    if request.param == "numpy":
        monkeypatch.setattr(products, "simsimd_products", lambda _: None)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Forget which ways were found exact, before and after."""
    products.simsimd_products.cache_clear()
    yield
    products.simsimd_products.cache_clear()


def longest(dims: int, random: Random) -> bytes:
    """Return a vector of the largest norm: its squares sum to just under 2**24."""
    numbers = [0] * dims
    left = 2**24 - 1
    for at in random.sample(range(dims), dims):
        size = min(127, int(left**0.5))
        numbers[at] = random.choice((-1, 1)) * size
        left -= size * size
    assert sum(number * number for number in numbers) < 2**24
    return bytes(number % 256 for number in numbers)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dims", [1, 2, 7, 64, 384, 1024, 1039, 1040, 1041, 2048, 4096])
def test_dot_products_are_exact_up_to_the_bound(dims: int) -> None:
    random = Random(dims)
    rows = [longest(dims, random) for _ in range(6)]
    rows += [bytes(random.randrange(256) for _ in range(dims)) for _ in range(6) if dims <= 700]
    rows += [bytes((256 - byte) % 256 for byte in rows[0]), bytes(dims)]
    for query in rows:
        assert vectors.has_exact_products(query)
        made = vectors.dot(matrix_of(rows), query).tolist()
        assert made == [definitions.dot(row, query) for row in rows]


@given(st.integers(1, 70), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_dot_products_of_any_vectors(dims: int, count: int, random: Random) -> None:
    rows = [bytes(random.randrange(256) for _ in range(dims)) for _ in range(count)]
    query = bytes(random.randrange(256) for _ in range(dims))
    expected = [definitions.dot(row, query) for row in rows]
    vector = np.frombuffer(query, np.int8)
    assert vectors.dot(matrix_of(rows), query).tolist() == expected
    assert products.numpy_products(matrix_of(rows), vector).tolist() == expected


@pytest.mark.usefixtures("way")
def test_many_rows_are_scored_as_few_are() -> None:
    """More rows than are multiplied at once."""
    random = Random(5)
    rows = [vector_for(str(number), dims=384) for number in range(2500)]
    query = bytes(random.randrange(256) for _ in range(384))
    made = vectors.dot(matrix_of(rows), query)
    assert made.tolist() == [definitions.dot(row, query) for row in rows]


@pytest.mark.usefixtures("way")
def test_rows_that_are_not_side_by_side_and_none_at_all() -> None:
    rows = [vector_for(str(number), dims=64) for number in range(9)]
    whole = matrix_of(rows)
    for some in (whole[::2], np.asfortranarray(whole), whole[:0], whole[3:4], whole[2:7]):
        expected = [definitions.dot(row.tobytes(), rows[1]) for row in some]
        made = vectors.dot(some, rows[1])
        assert made.tolist() == expected
        assert made.dtype == np.dtype(np.int32)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "module",
    [
        pytest.param(None, id="missing"),
        pytest.param(SimpleNamespace(), id="another API"),
        pytest.param(SimpleNamespace(cdist=lambda *_, **__: np.zeros(67)), id="other numbers"),
        pytest.param(
            SimpleNamespace(
                # As 16-bit sums that saturate: right for all but the longest vectors.
                cdist=lambda a, b, *_, **__: (a.astype(int) @ b.T.astype(int)).clip(-(2**15), 2**15)
            ),
            id="wrong where numbers are large",
        ),
    ],
)
def test_numpy_answers_where_simsimd_cannot(
    module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "simsimd", module)
    assert products.simsimd_products(384) is None
    rows = [vector_for(str(number), dims=384) for number in range(9)]
    expected = [definitions.dot(row, rows[0]) for row in rows]
    assert vectors.dot(matrix_of(rows), rows[0]).tolist() == expected


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dims", [1, 64, 384, 1023, 4096])
def test_simsimd_answers_where_it_is_exact(dims: int, monkeypatch: pytest.MonkeyPatch) -> None:
    simsimd = pytest.importorskip("simsimd")
    calls: list[int] = []

    def cdist(*args: object, **options: object) -> object:
        calls.append(dims)
        return simsimd.cdist(*args, **options)

    monkeypatch.setitem(sys.modules, "simsimd", SimpleNamespace(cdist=cdist))
    assert products.simsimd_products(dims) is not None
    checked = len(calls)
    vectors.dot(matrix_of([bytes(dims)]), bytes(dims))
    assert len(calls) == checked + 1


def test_what_is_too_long_does_not_fit() -> None:
    assert vectors.has_exact_products(b"\x7f" * 1040)
    assert not vectors.has_exact_products(b"\x7f" * 1041)
    assert vectors.has_exact_products(b"\x80" * 1023)
    assert not vectors.has_exact_products(b"\x80" * 1024)


# --- codes -----------------------------------------------------------------------------------------


def bits(code: vectors.Codes) -> tuple[bool, ...]:
    return tuple(bool(int(word) >> bit & 1) for word in code for bit in range(64))


@pytest.mark.parametrize("dims", [1, 8, 63, 64, 65, 128, 200, 384])
def test_codes_are_those_of_the_definition(dims: int) -> None:
    random = Random(dims)
    rows = [bytes(random.randrange(256) for _ in range(dims)) for _ in range(4)]
    rows += [bytes(dims), b"\x80" * dims, b"\x7f" * dims]
    codes = vectors.sign_codes(matrix_of(rows))
    assert codes.shape == (len(rows), vectors.code_words(dims))
    assert [bits(code) for code in codes] == [definitions.code(row) for row in rows]


def test_codes_stay_what_they_are() -> None:
    """Codes are stored on disk, so they must never change."""
    code = vectors.sign_codes(matrix_of([bytes(range(100))]))
    assert [f"{word:016x}" for word in code[0].tolist()] == GOLDEN_CODE


GOLDEN_CODE = ["64142237dcf19a97", "e3dcdd680aaaaf62"]


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=9), st.integers(1, 12))
def test_distances_and_thresholds(rows: list[bytes], keep: int) -> None:
    codes = np.frombuffer(b"".join(rows), "<u8").reshape(len(rows), 2).astype(np.uint64)
    found = vectors.hamming_distances(codes, codes[0])
    expected = [
        (int.from_bytes(row, "little") ^ int.from_bytes(rows[0], "little")).bit_count()
        for row in rows
    ]
    assert found.tolist() == expected
    limit = vectors.distance_threshold(found, keep)
    within = sum(distance <= limit for distance in expected)
    assert within >= min(keep, len(rows))
    if keep <= len(rows):
        assert limit in expected
        assert sum(distance < limit for distance in expected) < keep


def test_many_codes_are_compared_as_few_are() -> None:
    random = np.random.default_rng(3)
    codes = random.integers(0, 2**64, (70_000, 2), np.uint64)
    found = vectors.hamming_distances(codes, codes[5])
    for at in (0, 5, 65_535, 65_536, 69_999):
        apart = sum((int(a) ^ int(b)).bit_count() for a, b in zip(codes[at], codes[5], strict=True))
        assert found[at] == apart


@pytest.mark.parametrize(("k", "size"), [(1, 10_000), (100, 10_000), (101, 10_100), (500, 50_000)])
def test_the_first_pass_keeps_enough(k: int, size: int) -> None:
    assert vectors.first_pass_size(k) == size


# --- the best --------------------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), max_size=60), st.integers(-1, 70))
def test_contenders_hold_every_tie(scores: list[int], k: int) -> None:
    found = topk.top_indices(np.array(scores, np.int32), k).tolist()
    if k <= 0:
        assert found == []
    else:
        least = sorted(scores, reverse=True)[:k][-1] if scores else 0
        assert found == [at for at, score in enumerate(scores) if score >= least]


@given(st.integers(1, 4), st.integers(0, 2000), st.integers(1, 50), st.integers(0, 9))
@settings(deadline=None)
def test_contenders_among_many(k: int, count: int, spread: int, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(-spread, spread, count, np.int32)
    found = topk.top_indices(scores, k).tolist()
    least = sorted(scores.tolist(), reverse=True)[:k][-1] if count else 0
    assert found == [at for at, score in enumerate(scores.tolist()) if score >= least]

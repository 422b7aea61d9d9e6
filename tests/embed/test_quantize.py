import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from quire.embed import quantize, scale
from quire.embed.local import LocalEmbedder
from quire.errors import EmbedError

DIMS = [1, 2, 3, 64, 121, 384, 768, 1024, 1536, 3072, 4096]
FLOAT32_EXACT = 2**24

numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(numbers, min_size=1, max_size=48).filter(any)


def steps(data: bytes) -> NDArray[np.int64]:
    return np.frombuffer(data, dtype=np.int8).astype(np.int64)


def hard_cases(dims: int) -> list[NDArray[np.float64]]:
    """Vectors of all sizes of components: even, random, sparse, with outliers, of half steps."""
    random = np.random.default_rng(dims)
    one_hot = np.zeros(dims)
    one_hot[dims // 2] = -3.0
    outlier = np.ones(dims)
    outlier[0] = 1e6
    return [
        np.ones(dims),
        np.where(np.arange(dims) % 2, -1.0, 1.0),
        one_hot,
        outlier,
        random.normal(size=dims),
        random.standard_cauchy(size=dims),
        np.full(dims, 12.5) + random.normal(size=dims) / 1000,
    ]


def test_scale_is_the_documented_one() -> None:
    assert scale(121) == 127.0
    assert scale(384) == pytest.approx(226.24378, abs=1e-5)


def test_known_vectors() -> None:
    assert quantize([3.0, 4.0]) == bytes([10, 13])
    assert quantize([-3.0, 4.0]) == bytes([256 - 10, 13])
    assert quantize((0, 0, 5)) == bytes([0, 0, 20])
    assert quantize(np.array([1.0], dtype=np.float32)) == bytes([12])


def test_halves_are_rounded_to_even() -> None:
    # The length is 254 and the scale 127, so that every odd number ends in a half.
    numbers = [128, 128, 128, 122, 18, 6, 6, 1, 3, 5, 7]
    assert sum(n * n for n in numbers) == 254**2
    expected = [64, 64, 64, 61, 9, 3, 3, 0, 2, 2, 4]
    assert steps(quantize([*numbers, *[0] * 110])).tolist()[:11] == expected
    assert steps(quantize([*[-n for n in numbers], *[0] * 110])).tolist()[:11] == [
        -n for n in expected
    ]


def test_outliers_are_clipped_on_both_sides() -> None:
    sharp = np.zeros(384)
    sharp[0], sharp[1] = 1.0, -1.0
    assert steps(quantize(sharp)).tolist()[:3] == [127, -127, 0]


@pytest.mark.parametrize("dims", DIMS)
def test_dot_products_are_exact_in_float32_in_any_order(dims: int) -> None:
    random = np.random.default_rng(7)
    quantized = [steps(quantize(vector)) for vector in hard_cases(dims)]
    for left in quantized:
        assert int(left @ left) <= dims * (127 / 11 + 0.5) ** 2 < FLOAT32_EXACT
        for right in quantized:
            exact = int(left @ right)
            assert int(np.abs(left * right).sum()) < FLOAT32_EXACT
            products = (left * right).astype(np.float32)
            for _ in range(3):
                one_by_one = np.cumsum(random.permutation(products), dtype=np.float32)
                assert int(one_by_one[-1]) == exact
            assert int(left.astype(np.float32) @ right.astype(np.float32)) == exact


def test_a_vector_too_long_to_be_compared_exactly_is_refused() -> None:
    assert len(quantize(np.ones(110_000))) == 110_000
    with pytest.raises(EmbedError, match="120000 dimensions is too long"):
        quantize(np.ones(120_000))


@given(vectors)
def test_any_finite_vector_has_a_direction(vector: list[float]) -> None:
    result = steps(quantize(vector))
    assert len(result) == len(vector)
    assert np.abs(result).max() >= 1
    assert np.abs(result).max() <= 127
    assert all(step * number >= 0 for step, number in zip(result.tolist(), vector, strict=True))


@given(vectors)
def test_turning_a_vector_round_turns_its_bytes_round(vector: list[float]) -> None:
    assert (steps(quantize([-number for number in vector])) == -steps(quantize(vector))).all()


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=48).filter(any),
    st.integers(-60, 60),
)
def test_length_does_not_matter(vector: list[float], exponent: int) -> None:
    wide = [math.ldexp(number, 100) for number in vector]
    assert quantize(wide) == quantize([math.ldexp(number, 100 + exponent) for number in vector])


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e160, 1e300])
def test_very_small_and_very_large_numbers_keep_their_direction(factor: float) -> None:
    assert quantize([3.0 * factor, 4.0 * factor]) == quantize([3.0, 4.0])


@pytest.mark.parametrize("dims", [64, 384, 1024, 4096])
def test_the_dot_product_is_the_cosine(dims: int) -> None:
    random = np.random.default_rng(dims)
    for closeness in (0.0, 0.3, 0.9, 1.0):
        left = random.normal(size=dims)
        right = closeness * left + (1 - closeness) * random.normal(size=dims)
        cosine = float(left @ right) / math.sqrt(float(left @ left) * float(right @ right))
        result = int(steps(quantize(left)) @ steps(quantize(right))) / scale(dims) ** 2
        # Each component is off by half a step at most, and these add up like a random walk.
        assert abs(result - cosine) < 2.5 / scale(dims)


@pytest.mark.model
def test_the_dot_product_is_the_cosine_of_real_vectors(shipped: LocalEmbedder) -> None:
    texts = [
        "How do I reset my password?",
        "Passwords can be changed in the account settings.",
        "def add(a, b): return a + b",
        "The committee adjourned until Thursday.",
    ]
    model = shipped._model
    assert model is not None
    floats = [model.run(shipped._tokenizer.encode(text)).astype(np.float64) for text in texts]
    quantized = [steps(vector) for vector in shipped.embed(texts)]
    for left, left_steps in zip(floats, quantized, strict=True):
        assert np.abs(left_steps).max() < 127, "nothing of a real vector is clipped"
        for right, right_steps in zip(floats, quantized, strict=True):
            cosine = float(left @ right) / math.sqrt(float(left @ left) * float(right @ right))
            result = int(left_steps @ right_steps) / scale(384) ** 2
            assert abs(result - cosine) < 2.5 / scale(384), "as of any vectors, above"


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ([], "one row"),
        ([[1.0, 2.0]], "one row"),
        (3.0, "one row"),
        ([0.0, -0.0], "all zeros"),
        ([1.0, math.nan], "infinite number or NaN"),
        ([1.0, math.inf], "infinite"),
        ([1.0, None], "infinite number or NaN"),
        (["one"], "list of numbers"),
        ([[1.0], [1.0, 2.0]], "list of numbers"),
        ([10**400], "list of numbers"),
        (object(), "list of numbers"),
    ],
)
def test_what_is_no_vector_is_refused(vector: Any, words: str) -> None:
    with pytest.raises(EmbedError, match=words):
        quantize(vector)

"""Similarity on a scale that is the same for all models.

Each model has its own range of cosines: bge gives 0.45 to unrelated texts, and 0.85 to a question
and its answer. A floor in a recipe should mean the same for all models, so that a similarity is the
position of the cosine between these two.
"""

from __future__ import annotations

from functools import lru_cache

from quire.embed.quantize import scale

MAX_SIMILARITY = 1000
COSINE_RANGES: tuple[tuple[str, int, int], ...] = (
    ("bge-small-en-v1.5", 450, 850),
    ("quire-en-1", 485, 845),
    ("quire-en-2", 423, 823),
)
"""By prefix of the name of a model for English: the cosines of unrelated and of matching texts, in
thousandths.

bge was measured over 300 questions and 20,000 passages of several collections: the median of all
pairs is .45 and one in a thousand is above .70; the best passage of a question has .69 to .87.
quire-en-1 was measured beside it, over 300 questions and 19,335 passages: its median is .036 above,
one in a thousand is the same, the best passage has .68 to .86 where bge has .64 to .87. quire-en-2
was measured beside quire-en-1 in the same way: its median is .062 lower, the best passage of a
question .022 to .041.
"""


def is_calibrated(model: str | None) -> bool:
    """Tell whether it is known which cosines a model gives to unrelated and to matching texts."""
    return any((model or "").startswith(name) for name, _, _ in COSINE_RANGES)


def is_english(model: str | None) -> bool:
    """Tell whether a model is known to be made for English texts: so are all calibrated ones."""
    return is_calibrated(model)


def similarity(model: str | None, dot: int, dims: int) -> int:
    """Return the similarity of two int8 vectors, in thousandths, from their dot product."""
    low, high, longest = _cosine_range(model, dims)
    cosine = round(dot * MAX_SIMILARITY / longest)
    return max(0, min(MAX_SIMILARITY, (cosine - low) * MAX_SIMILARITY // (high - low)))


@lru_cache
def _cosine_range(model: str | None, dims: int) -> tuple[int, int, float]:
    """Return the cosines of unrelated and of matching texts, and a vector's length squared."""
    ranges = ((low, high) for name, low, high in COSINE_RANGES if (model or "").startswith(name))
    return *next(ranges, (0, MAX_SIMILARITY)), scale(dims) ** 2

"""Dot products of int8 vectors, by simsimd where it is installed and by numpy elsewhere.

simsimd multiplies int8 as they are, in the widest instructions of the machine; numpy has to make
floats of them first. Both are exact, so it is nothing but a question of speed which one answers.
simsimd is compared with numpy before it is first used for vectors of so many dimensions, on the
machine that it runs on; where it is missing, fails or says something else, numpy answers.

numpy multiplies in float32 for the speed of BLAS, and is exact all the same: quantized vectors have
a squared norm below 2**24 (the embedder ensures it), so by Cauchy-Schwarz no partial sum leaves the
range in which float32 represents every integer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.int8]
Vector = npt.NDArray[np.int8]
Scores = npt.NDArray[np.int32]
Products = Callable[[Matrix, Vector], Scores]

MAX_SQUARED_NORM = 1 << 24
_STRIP = 1024 * 384
"""Numbers converted and multiplied at once: few enough for the cache, and for BLAS to stay on the
calling thread. With twice as many it wakes others, and on a busy machine waits for them."""
_CHECKED = 67
"""How many rows are compared before simsimd is used: more than it could take at once."""


def dot(matrix: Matrix, vector: Vector) -> Scores:
    """Return the dot product of a vector with each row."""
    if not matrix.shape[0]:
        return np.zeros(0, np.int32)
    by_simsimd = simsimd_products(vector.size) if matrix.flags.c_contiguous else None
    return (by_simsimd or numpy_products)(matrix, vector)


def numpy_products(matrix: Matrix, vector: Vector) -> Scores:
    """Return the dot products by numpy, a strip of rows after the other."""
    scores = np.empty(matrix.shape[0], np.int32)
    floats = vector.astype(np.float32)
    strip = max(1, _STRIP // vector.size)
    for start in range(0, matrix.shape[0], strip):
        scores[start : start + strip] = matrix[start : start + strip].astype(np.float32) @ floats
    return scores


@lru_cache
def simsimd_products(dims: int) -> Products | None:
    """Return what computes dot products by simsimd; None: it is missing, or says something else."""
    try:
        # Whatever a wheel built for another machine raises, numpy can do as well.
        cdist = importlib.import_module("simsimd").cdist
        products = _products_by(cdist)
        return products if _exact(products, dims) else None
    except Exception:  # noqa: BLE001
        return None


def _products_by(cdist: Any) -> Products:
    def products(matrix: Matrix, vector: Vector) -> Scores:
        made = np.asarray(cdist(vector[None], matrix, "dot", dtype="int8"))
        return made.reshape(matrix.shape[0]).astype(np.int32)

    return products


def _exact(products: Products, dims: int) -> bool:
    """Tell whether products are those of numpy for vectors of all kinds, also the longest."""
    # A fixed series: no two processes of a machine may come to other ways.
    numbers = (np.arange(_CHECKED * dims, dtype=np.uint64) * 2654435761 >> 13) & 0xFF
    matrix = numbers.astype(np.uint8).view(np.int8).reshape(_CHECKED, dims).copy()
    longest = min(dims, MAX_SQUARED_NORM // (1 << 14) - 1)
    for row, value in enumerate((-128, -127, 0, 127)):
        matrix[row] = 0
        matrix[row, :longest] = value
    known = matrix.astype(np.int64)
    for count in (1, 2, _CHECKED):
        for vector in (0, 1, 3, _CHECKED - 1):
            made = products(matrix[:count], matrix[vector])
            if not np.array_equal(made, known[:count] @ known[vector]):
                return False
    return True

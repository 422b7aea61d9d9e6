"""Where is kept what takes long to make?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quire.core import hashing
from quire.core.protocols import Embedder

EMBED_PART = 1000


def is_named() -> bool:
    """Tell whether what is made is kept."""
    return bool(os.environ.get("BENCH_CACHE"))


@lru_cache
def folder() -> Path:
    """Give the folder BENCH_CACHE, or one that goes when the process ends."""
    named = os.environ.get("BENCH_CACHE")
    if named:
        Path(named).mkdir(parents=True, exist_ok=True)
        return Path(named)
    return Path(_temporary().name)


@lru_cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="quire-bench-")


def embedded(embedder: Embedder, texts: Sequence[str], *, asked: bool) -> npt.NDArray[np.int8]:
    """Give the vectors of texts (or, `asked`, of questions); made ones are kept."""
    parts = []
    for at in range(0, len(texts), EMBED_PART):
        part = list(texts[at : at + EMBED_PART])
        name = hashing.identifier("bench", embedder.model, int(asked), tuple(part))
        file = folder() / f"vectors-{name}.npy"
        if not file.exists():
            made = [embedder.embed_query(text) for text in part] if asked else embedder.embed(part)
            matrix = np.frombuffer(b"".join(made), np.int8).reshape(len(part), -1)
            fresh = file.with_suffix(".new.npy")
            np.save(fresh, matrix)
            fresh.rename(file)
        parts.append(np.load(file))
    return np.concatenate(parts)

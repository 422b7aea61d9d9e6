"""Indexes of vectors outside the store, which name candidates: Qdrant, and pgvector.

`[vectors] engine` of quire.toml names one. The store stays the truth
(`store/index/vector_index.py`); `reconcile` keeps an index in step with it.
"""

from __future__ import annotations

from pathlib import Path

from quire.core import hashing, servers
from quire.core.types import EXACT_SEARCH, GRAPH_SEARCH, VectorSettings
from quire.errors import ConfigError, MissingExtraError
from quire.store.index.vector_index import VectorIndex

__all__ = ["open_index"]

PGVECTOR = "pgvector"
ENGINES = ("qdrant://HOST:PORT", "qdrants://HOST:PORT", PGVECTOR)
SEARCHES = (EXACT_SEARCH, GRAPH_SEARCH)


def open_index(settings: VectorSettings, place: Path | str) -> VectorIndex | None:
    """Open the index that the settings name for the store at a place; None: they name none."""
    engine = settings.engine
    exact = settings.search == EXACT_SEARCH
    if not engine:
        return None
    if settings.search not in SEARCHES:
        raise ConfigError(
            f"unknown search {settings.search!r}",
            field="[vectors] search",
            value=settings.search,
            allowed=SEARCHES,
        )
    if servers.is_qdrant(engine):
        try:
            from quire.store.vectors.qdrant import QdrantIndex
        except ImportError as error:
            raise MissingExtraError(
                "an index of vectors in Qdrant needs qdrant-client",
                hint="run `pip install 'quire-context[qdrant]'`",
            ) from error
        return QdrantIndex(engine, settings.key_env, _name(place), exact=exact)
    if engine != PGVECTOR:
        raise ConfigError(
            f"unknown engine {servers.public_name(engine) if '://' in engine else engine!r}",
            field="[vectors] engine",
            allowed=ENGINES,
        )
    if isinstance(place, Path):
        raise ConfigError(
            "pgvector indexes the vectors of a store on a PostgreSQL server, and this is a file",
            field="[vectors] engine",
            value=engine,
            hint="move the store with `quire copy`, or set [vectors] engine to qdrant://HOST:PORT",
        )
    from quire.store.vectors.pgvector import PgvectorIndex  # whose driver the store has loaded

    return PgvectorIndex(place, exact=exact)


def _name(place: Path | str) -> str:
    """Return a name for the store at a place, which two stores on one server do not share."""
    public = str(place.resolve()) if isinstance(place, Path) else servers.public_name(place)
    return hashing.identifier("vectors", public)[:16]

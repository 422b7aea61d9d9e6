"""The vectors of queries: made once, cached, and computed while other sources are searched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Protocol

from quire.core.lru import LRUCache
from quire.core.protocols import Embedder
from quire.core.types import Coverage, HitCount, Recorded
from quire.errors import EmbedError, QuireError

CACHE_SIZE = 1024

MakeVector = Callable[[], bytes]


class FormerModel(Protocol):
    """What is known of the model of a store's vectors where it is not the configured one."""

    def former_embedder(self, model: str) -> Embedder | None:
        """Return the embedder of the store's vectors, if it can still be opened."""

    def why_words_alone(self, model: str) -> str | None:
        """Say why its vectors cannot answer until others replace them; None: they can."""


class _NoFormerModel:
    def former_embedder(self, _: str) -> Embedder | None:
        return None

    def why_words_alone(self, _: str) -> str | None:
        return None


NO_FORMER = _NoFormerModel()


class QueryVectors:
    """Makes the vectors of queries, and caches the latest."""

    def __init__(
        self,
        embedder: Callable[[], Embedder | None],
        *,
        wanted: Callable[[], bool],
        former: FormerModel = NO_FORMER,
    ) -> None:
        self._embedder = embedder
        self._wanted = wanted
        self._former = former
        self._cache: LRUCache[tuple[str, str], bytes] = LRUCache(CACHE_SIZE)

    @property
    def count(self) -> HitCount:
        """How many vectors were needed, and how many were cached."""
        return self._cache.count

    def plan(self, query: str, coverage: Coverage) -> tuple[MakeVector | None, list[str]]:
        """Return a function that makes a query's vector, or None if there is nothing to compare.

        The notes say which chunks have no vectors.
        """
        if not coverage.vectors:
            off = (
                "semantic search is off: there are no vectors yet; words answer until "
                "`quire index` has made them"
            )
            return None, [off] if coverage.chunks and self._wanted() else []
        assert coverage.model is not None, "vectors without a model"
        replaced = self._former.why_words_alone(coverage.model)
        if replaced is not None:
            return None, [replaced]
        return lambda: self._vector(query, coverage.model), note_missing(coverage)

    def is_at_hand(self, query: str, coverage: Coverage) -> bool:
        """Tell whether a query's vector, or the reason why there is none, takes no model."""
        return not self._wanted() or (coverage.model, query) in self._cache

    def _vector(self, query: str, model: str | None) -> bytes:
        assert model is not None, "vectors without a model"
        cached = self._cache.get((model, query))
        if cached is not None:
            return cached
        embedder = self._embedder()
        # The messages become the reasons of failures, which receipts record.
        if embedder is None:
            raise EmbedError("[embed] provider is none, but the store holds vectors")
        if embedder.model != model:
            former = self._former.former_embedder(model)
            if former is None:
                raise EmbedError(
                    f"the store holds vectors of {model}, the configured model is "
                    f"{embedder.model}; run `quire index --reembed`, or set [embed] back"
                )
            embedder = former
        vector = embedder.embed_query(query)
        self._cache.put((model, query), vector)
        return vector


def note_missing(coverage: Coverage) -> list[str]:
    """Say how many chunks have no vector; nothing if all have one."""
    missing = coverage.chunks - coverage.vectors
    behind = (
        f"{missing} of {coverage.chunks} chunks have no vector yet; words find them until "
        "`quire index` has made the rest"
    )
    return [behind] if missing else []


def plan_vectors(
    queries: Iterable[str], coverage: Coverage, recorded: Recorded, vectors: QueryVectors
) -> tuple[dict[str, MakeVector], list[str]]:
    """Return functions that give the vectors of queries, and begin with those to be made."""
    known: dict[str, MakeVector] = {}
    at_hand: dict[str, MakeVector] = {}
    makers: dict[str, MakeVector] = {}
    notes: list[str] = []
    for query in dict.fromkeys(queries):
        if query in recorded.vectors and recorded.embedder == coverage.model:
            known[query] = partial(bytes, recorded.vectors[query])
            notes = note_missing(coverage)
            continue
        make, notes = vectors.plan(query, coverage)
        if make is not None:
            if vectors.is_at_hand(query, coverage):
                at_hand[query] = partial(_translated, make)
            else:
                makers[query] = make
    return {**known, **at_hand, **(_start(makers) if makers else {})}, notes


def _start(makers: Mapping[str, MakeVector]) -> dict[str, MakeVector]:
    """Let the model work in a thread while the words are searched.

    No pool: all pools of a process share a lock, which each holds until its new thread runs. With
    many requests at a time they would wait for each other there.
    """
    futures: dict[str, Future[bytes]] = {query: Future() for query in makers}

    def work() -> None:
        for query, future in futures.items():
            try:
                future.set_result(makers[query]())
            except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
                future.set_exception(error)

    threading.Thread(target=work, name="quire-embed").start()
    return {query: partial(_translated, future.result) for query, future in futures.items()}


def _translated(make: MakeVector) -> bytes:
    try:
        return make()
    except QuireError:
        raise
    except Exception as error:  # whatever an embedder raises, the words still answer
        raise EmbedError(f"the embedder failed: {type(error).__name__}: {error}") from error

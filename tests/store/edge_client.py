"""Qdrant's engine inside this process (`qdrant-edge-py`), with the calls of its client that we use.

A server needs a binary that no package registry has; this is the code that it runs.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qdrant_edge as edge
from qdrant_client import models


class EdgeClient:
    """Collections as shards of one folder; it stays open when a store closes it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[str, tuple[edge.EdgeShard, int]] = {}

    def collection_exists(self, name: str) -> bool:
        return name in self._shards

    def get_collections(self) -> Any:
        return SimpleNamespace(collections=[SimpleNamespace(name=name) for name in self._shards])

    def create_collection(self, name: str, vectors_config: models.VectorParams) -> None:
        assert vectors_config.distance is models.Distance.DOT
        path = self._folder / name
        path.mkdir(parents=True)
        vectors = edge.EdgeVectorParams(vectors_config.size, edge.Distance.Dot)
        shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors))
        self._shards[name] = shard, vectors_config.size

    def delete_collection(self, name: str) -> None:
        self._shards.pop(name)[0].close()
        shutil.rmtree(self._folder / name)

    def create_payload_index(self, *_: object, **__: object) -> None:
        """Do nothing: a filter needs none."""

    def get_collection(self, name: str) -> Any:
        vectors = SimpleNamespace(size=self._shards[name][1])
        return SimpleNamespace(config=SimpleNamespace(params=SimpleNamespace(vectors=vectors)))

    def upsert(self, name: str, points: Any, wait: bool) -> None:
        assert wait
        rows: Any = ((point.id, point.vector, point.payload) for point in points)
        if isinstance(points, models.Batch):
            rows = zip(points.ids, points.vectors, points.payloads or (), strict=True)
        new = [edge.Point(number, vector, payload) for number, vector, payload in rows]
        self._shards[name][0].update(edge.UpdateOperation.upsert_points(new))

    def delete(self, name: str, points: models.PointIdsList, wait: bool) -> None:
        assert wait
        self._shards[name][0].update(edge.UpdateOperation.delete_points(points.points))

    def retrieve(self, name: str, ids: list[Any], with_payload: bool) -> list[Any]:
        found: list[Any] = self._shards[name][0].retrieve(
            ids, with_payload=with_payload, with_vector=False
        )
        return found

    def scroll(
        self, name: str, limit: int, offset: Any, with_payload: bool, with_vectors: bool
    ) -> Any:
        asked = edge.ScrollRequest(
            offset, limit, with_payload=with_payload, with_vector=with_vectors
        )
        return self._shards[name][0].scroll(asked)

    def query_points(
        self,
        name: str,
        *,
        query: list[float],
        query_filter: Any,
        search_params: models.SearchParams,
        limit: int,
        with_payload: bool,
    ) -> Any:
        (condition,) = query_filter.must
        wanted = edge.FieldCondition(condition.key, edge.MatchAny(condition.match.any))
        asked = edge.SearchRequest(
            edge.Query.Nearest(query),
            limit,
            filter=edge.Filter([wanted]),
            params=edge.SearchParams(exact=bool(search_params.exact)),
            with_payload=with_payload,
        )
        return SimpleNamespace(points=self._shards[name][0].search(asked))

    def close(self) -> None:
        """Stay open: another store asks the same server."""

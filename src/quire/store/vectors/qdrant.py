"""Candidates from Qdrant: a collection for each epoch of a space, points with their access class.

Vectors are whole numbers and so are their products, as long as they are exact in float32
(`store/index/vectors.py`): an exact search finds what a scan of the store finds.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from quire.core import servers
from quire.errors import InputError, VectorIndexError
from quire.store.index.vector_index import Nearest, Numbers, classes_of, slots_of
from quire.store.index.vectors import Matrix
from quire.store.vectors.reconcile import (
    CHANGING,
    Collection,
    ReconciledIndex,
    compute_checksums,
)

DEFAULT_PORT = 6333
SECONDS = 10
PAGE = 10_000
"""So many points are listed at once."""
CLASS, GENERATION, CHECKSUM = "class", "generation", "checksum"
MARK = 1 << 62
"""The id of the point that says of which generation the others are."""
REFUSED = (401, 403)
MAX_REASON = 200
MEANWHILE = "searches scan the store's own vectors meanwhile"
NO_CLASS = -1
NO_CHECKSUM = -1
FAILURES = (
    *(ApiException, httpx.HTTPError, OSError),
    *(ValueError, TypeError, LookupError, AttributeError, OverflowError),
)
"""What calls raise; the second line is for answers that no Qdrant gives."""


def connect(url: str, key_env: str) -> QdrantClient:
    """Open a client for `qdrant://HOST:PORT` or `qdrants://` (TLS)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise InputError(
            f"{servers.public_name(url)} is not an address of Qdrant",
            field="[vectors] engine",
            hint="write qdrant://HOST:PORT, or qdrants://HOST:PORT for TLS",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a key without TLS: which of both the URL says
        return QdrantClient(
            host=host,
            port=port,
            https=parts.scheme.lower() == servers.QDRANT_TLS,
            api_key=os.environ.get(key_env) or None,
            timeout=SECONDS,
            check_compatibility=False,
        )


class QdrantIndex(ReconciledIndex):
    """An index of vectors in Qdrant."""

    def __init__(
        self,
        url: str,
        key_env: str,
        store: str,
        *,
        exact: bool,
        client: Callable[[str, str], Any] = connect,
    ) -> None:
        """Prepare a client; the server is asked when the index is used.

        Args:
            url: `qdrant://HOST:PORT`, or `qdrants://` for TLS; a path names the collections.
            key_env: The environment variable that holds the key.
            store: The name of the store, if the URL has no path.
            exact: Whether all points are compared, rather than by Qdrant's graph.
            client: Opens the client.
        """
        super().__init__(exact=exact)
        self._client = client(url, key_env)
        self._place = servers.public_name(url)
        self._key_env = key_env
        self._store = urlsplit(url).path.strip("/") or store

    def search(
        self, collection: Collection, vector: bytes, classes: list[int], limit: int
    ) -> Nearest:
        """Return the slots nearest to a vector."""
        with self._asking():
            found = self._client.query_points(
                self._name(collection),
                query=np.frombuffer(vector, np.int8).astype(np.float32).tolist(),
                query_filter=models.Filter(
                    must=[models.FieldCondition(key=CLASS, match=models.MatchAny(any=classes))]
                ),
                search_params=models.SearchParams(exact=self.exact),
                limit=limit,
                with_payload=False,
            ).points
            points = np.array([point.id for point in found], np.int64)
            scores = np.array([point.score for point in found], np.float64)
        return Nearest(slots_of(points), scores, exhausted=points.size < limit)

    def read_generation(self, collection: Collection) -> int | None:
        """Return the generation of a collection's points; None if it does not exist."""
        with self._asking():
            if not self._client.collection_exists(self._name(collection)):
                return None
            found = self._client.retrieve(self._name(collection), [MARK], with_payload=True)
            return int(found[0].payload[GENERATION]) if found else CHANGING

    def set_generation(self, collection: Collection, generation: int) -> None:
        """Set the generation of a collection's points."""
        with self._asking():
            mark = models.PointStruct(
                id=MARK,
                vector=[0.0] * collection.dims,
                payload={GENERATION: generation, CLASS: NO_CLASS},
            )
            self._client.upsert(self._name(collection), [mark], wait=True)

    def read_points(self, collection: Collection) -> tuple[Numbers, Numbers]:
        """Return the points of a collection, and the checksum of each one's vector."""
        points: dict[int, int] = {}
        after = None
        with self._asking():
            while True:
                found, after = self._client.scroll(
                    self._name(collection),
                    limit=PAGE,
                    offset=after,
                    with_payload=True,
                    with_vectors=False,
                )
                for point in found:
                    if point.id != MARK:
                        points[int(point.id)] = int(
                            (point.payload or {}).get(CHECKSUM, NO_CHECKSUM)
                        )
                if after is None:
                    return np.array([*points], np.int64), np.array([*points.values()], np.int64)
                if after <= (max(points) if points else MARK):  # it would never end
                    raise ValueError(after)

    def create(self, collection: Collection) -> None:
        """Create an empty collection, of no generation."""
        with self._asking():
            self._client.create_collection(
                self._name(collection),
                vectors_config=models.VectorParams(
                    size=collection.dims, distance=models.Distance.DOT
                ),
            )
            self._client.create_payload_index(
                self._name(collection), CLASS, models.PayloadSchemaType.INTEGER, wait=True
            )

    def complete(self, collection: Collection) -> None:
        """Do nothing: every collection has a graph, which exact searches leave out."""

    def is_complete(self, collection: Collection) -> bool:  # noqa: ARG002 - every one is
        """Tell that a collection lacks nothing."""
        return True

    def upsert(self, collection: Collection, points: Numbers, vectors: Matrix) -> None:
        """Write points with checksums of their vectors, over those of the same number."""
        batch = models.Batch(
            ids=points.tolist(),
            vectors=vectors.astype(np.float32).tolist(),
            payloads=[
                {CLASS: number, CHECKSUM: checksum}
                for number, checksum in zip(
                    classes_of(points).tolist(), compute_checksums(vectors).tolist(), strict=True
                )
            ],
        )
        with self._asking():
            self._client.upsert(self._name(collection), batch, wait=True)

    def delete(self, collection: Collection, points: Numbers) -> None:
        """Delete points."""
        with self._asking():
            self._client.delete(
                self._name(collection), models.PointIdsList(points=points.tolist()), wait=True
            )

    def drop_others(self, collection: Collection) -> None:
        """Delete all other collections of the same space."""
        prefix = f"{self._prefix(collection)}-"
        with self._asking():
            for other in self._client.get_collections().collections:
                if other.name.startswith(prefix) and other.name != self._name(collection):
                    self._client.delete_collection(other.name)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _prefix(self, collection: Collection) -> str:
        return f"quire-{self._store}-{collection.space}"

    def _name(self, collection: Collection) -> str:
        return f"{self._prefix(collection)}-{collection.epoch}-{collection.dims}"

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            if isinstance(error, UnexpectedResponse) and error.status_code in REFUSED:
                raise VectorIndexError(
                    "Qdrant refuses the key, or wants one",
                    place=self._place,
                    hint=f"put its key into {self._key_env}; {MEANWHILE}",
                ) from error
            raise VectorIndexError(
                f"Qdrant does not answer ({_reason(error)})",
                place=self._place,
                hint=f"check [vectors] engine; {MEANWHILE}",
            ) from error


def _reason(error: Exception) -> str:
    """Return what went wrong, in a few words that quote no vector."""
    if isinstance(error, UnexpectedResponse):
        return f"status {error.status_code}"
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    said = str(cause).partition("\n")[0][:MAX_REASON]
    return said if said and isinstance(cause, (httpx.HTTPError, OSError)) else type(cause).__name__

"""Candidates from pgvector: a table for each epoch of a space, in the store's own database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

from quire.core import servers
from quire.errors import VectorIndexError
from quire.store.index.vector_index import (
    Nearest,
    Numbers,
    VectorState,
    classes_of,
    slots_of,
)
from quire.store.index.vectors import Matrix
from quire.store.vectors.reconcile import (
    CHANGING,
    Collection,
    ReconciledIndex,
    compute_checksums,
)

SCHEMA = "quire_vectors"
CONNECT_SECONDS = 10
READ_SECONDS = 60
MIN_CANDIDATES, MAX_CANDIDATES = 40, 1000
"""So many candidates a search by graph keeps: pgvector's own default, and the most it allows."""
MIN_ANALYZE = 1000
"""After so many points the statistics are renewed by which the server chooses scan or graph."""
MIN_GRAPH_VERSION = (0, 8)
"""Since then a search by graph goes on until enough of what it finds passes the filter."""
MAX_DIMS = 2000
"""Vectors of more dimensions can be compared, but not indexed by a graph."""


class PgvectorIndex(ReconciledIndex):
    """An index of vectors in tables of PostgreSQL, exact or by an HNSW graph."""

    def __init__(self, url: str, *, exact: bool) -> None:
        super().__init__(exact=exact)
        self._url = url
        self._place = servers.public_name(url)
        self._connection: psycopg.Connection[Any] | None = None
        self._using = threading.Lock()
        self._written = 0

    def follow(self, state: VectorState) -> None:
        """Bring the index to a state, if it can hold it."""
        if not self.exact and state.dims > MAX_DIMS:
            raise VectorIndexError(
                f"pgvector indexes at most {MAX_DIMS} dimensions, and these vectors have "
                f"{state.dims}",
                place=self._place,
                hint='set [vectors] search = "exact"',
            )
        super().follow(state)

    def search(
        self, collection: Collection, vector: bytes, classes: list[int], limit: int
    ) -> Nearest:
        """Return the slots nearest to a vector."""
        query = _text(np.frombuffer(vector, np.int8)[None])[0]
        with self._asking() as connection, connection.transaction():
            if self.exact:
                connection.execute("SET LOCAL enable_indexscan = off")
            else:
                many = min(MAX_CANDIDATES, max(MIN_CANDIDATES, limit))
                connection.execute(sql.SQL("SET LOCAL hnsw.ef_search = {}").format(many))
                connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            found = connection.execute(
                sql.SQL(
                    "SELECT slot, embedding <#> %s::vector AS negated FROM {} "
                    "WHERE class = ANY(%s) ORDER BY negated LIMIT %s"
                ).format(_table(collection)),
                (query, classes, limit),
            ).fetchall()
        return Nearest(
            np.array([slot for slot, _ in found], np.int64),
            np.array([-negated for _, negated in found], np.float64),
            exhausted=len(found) < limit,
        )

    def read_generation(self, collection: Collection) -> int | None:
        """Return the generation of a collection's points; None if it does not exist."""
        with self._asking() as connection:
            if not _has_relation(connection, _name(collection)):
                return None
            row = connection.execute(
                "SELECT generation FROM quire_vectors.mark WHERE name = %s", (_name(collection),)
            ).fetchone()
        return CHANGING if row is None else int(row[0])

    def set_generation(self, collection: Collection, generation: int) -> None:
        """Set the generation of a collection's points."""
        with self._asking() as connection:
            if generation != CHANGING and self._written >= MIN_ANALYZE:
                connection.execute(sql.SQL("ANALYZE {}").format(_table(collection)))
                self._written = 0
            _set_mark(connection, collection, generation)

    def read_points(self, collection: Collection) -> tuple[Numbers, Numbers]:
        """Return the points of a collection, and the checksum of each one's vector."""
        with self._asking() as connection:
            found = connection.execute(
                sql.SQL("SELECT point, checksum FROM {} ORDER BY point").format(_table(collection))
            ).fetchall()
        points, checksums = np.array(found, np.int64).reshape(-1, 2).T
        return points, checksums

    def create(self, collection: Collection) -> None:
        """Create an empty collection, of no generation."""
        with self._asking() as connection, connection.transaction():
            connection.execute("CREATE SCHEMA IF NOT EXISTS quire_vectors")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS quire_vectors.mark "
                "(name text PRIMARY KEY, generation bigint NOT NULL)"
            )
            connection.execute(
                sql.SQL(
                    "CREATE TABLE {} (point bigint PRIMARY KEY, slot bigint NOT NULL, "
                    "class integer NOT NULL, checksum bigint NOT NULL, "
                    "embedding vector({}) NOT NULL)"
                ).format(_table(collection), collection.dims)
            )
            # So that a collection whose writer was killed is found, and dropped with the others.
            _set_mark(connection, collection, CHANGING)
            connection.execute(sql.SQL("CREATE INDEX ON {} (class)").format(_table(collection)))

    def complete(self, collection: Collection) -> None:
        """Create the graph of a collection that has none yet."""
        if self.is_complete(collection):
            return
        with self._asking() as connection, connection.transaction():
            # A graph of many vectors takes minutes.
            connection.execute("SET LOCAL statement_timeout = 0")
            connection.execute(
                sql.SQL("CREATE INDEX {} ON {} USING hnsw (embedding vector_ip_ops)").format(
                    sql.Identifier(_graph(collection)), _table(collection)
                )
            )

    def is_complete(self, collection: Collection) -> bool:
        """Tell whether the graph is there, if there is to be one."""
        if self.exact:
            return True
        with self._asking() as connection:
            return _has_relation(connection, _graph(collection))

    def upsert(self, collection: Collection, points: Numbers, vectors: Matrix) -> None:
        """Write points with checksums of their vectors, over those of the same number."""
        rows = zip(
            points.tolist(),
            slots_of(points).tolist(),
            classes_of(points).tolist(),
            compute_checksums(vectors).tolist(),
            _text(vectors),
            strict=True,
        )
        self._written += points.size
        with self._asking() as connection, connection.cursor() as cursor:
            cursor.executemany(
                sql.SQL(
                    "INSERT INTO {} (point, slot, class, checksum, embedding) "
                    "VALUES (%s, %s, %s, %s, %s::vector) ON CONFLICT (point) DO UPDATE "
                    "SET checksum = excluded.checksum, embedding = excluded.embedding"
                ).format(_table(collection)),
                rows,
            )

    def delete(self, collection: Collection, points: Numbers) -> None:
        """Delete points."""
        with self._asking() as connection:
            connection.execute(
                sql.SQL("DELETE FROM {} WHERE point = ANY(%s)").format(_table(collection)),
                (points.tolist(),),
            )

    def drop_others(self, collection: Collection) -> None:
        """Delete all other collections of the same space."""
        with self._asking() as connection:
            if not _has_relation(connection, "mark"):
                return
            others = connection.execute(
                "SELECT name FROM quire_vectors.mark WHERE name LIKE %s AND name != %s",
                (f"s{collection.space}\\_e%", _name(collection)),
            ).fetchall()
            for (name,) in others:
                with connection.transaction():
                    connection.execute(
                        sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(SCHEMA, name))
                    )
                    connection.execute("DELETE FROM quire_vectors.mark WHERE name = %s", (name,))

    def close(self) -> None:
        """Close connections."""
        with self._using:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend the one connection, opened again if it broke."""
        with self._using:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                yield self._connection
            except psycopg.Error as error:
                raise VectorIndexError(
                    f"pgvector cannot be used ({type(error).__name__})",
                    place=self._place,
                    hint="the user needs the right to create a schema; searches scan the store's "
                    "own vectors meanwhile",
                ) from error

    def _connect(self) -> psycopg.Connection[Any]:
        """Connect, and let the types of the extension be found wherever it was created."""
        connection = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
        )
        # Not as an option of the connection, which would replace those of the URL.
        connection.execute(sql.SQL("SET statement_timeout = {}").format(READ_SECONDS * 1000))
        found = connection.execute(
            "SELECT n.nspname, e.extversion FROM pg_extension e "
            "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
        ).fetchone()
        if found is None:
            connection.close()
            raise VectorIndexError(
                "the database has no pgvector",
                place=self._place,
                hint="let its administrator run `CREATE EXTENSION vector` in it",
            )
        schema, version = found
        if not self.exact and _numbers(version) < MIN_GRAPH_VERSION:
            connection.close()
            raise VectorIndexError(
                f"the database has pgvector {version}, whose graph cannot be filtered",
                place=self._place,
                hint="let its administrator upgrade it to 0.8 or later, or set [vectors] search = "
                '"exact"',
            )
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(schema)))
        return connection


def _set_mark(connection: psycopg.Connection[Any], collection: Collection, generation: int) -> None:
    connection.execute(
        "INSERT INTO quire_vectors.mark (name, generation) VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET generation = excluded.generation",
        (_name(collection), generation),
    )


def _has_relation(connection: psycopg.Connection[Any], name: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.{name}",)).fetchone()
    return row is not None and row[0] is not None


def _name(collection: Collection) -> str:
    return f"s{collection.space}_e{collection.epoch}_d{collection.dims}"


def _graph(collection: Collection) -> str:
    return f"{_name(collection)}_hnsw"


def _table(collection: Collection) -> sql.Identifier:
    return sql.Identifier(SCHEMA, _name(collection))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _text(vectors: Matrix) -> list[str]:
    """Return vectors as pgvector writes them."""
    return [f"[{','.join(map(str, row))}]" for row in vectors.tolist()]

"""The view of one shard: what a viewer may read there, and what its searches say of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quire.core import merkle
from quire.core.types import Event, Filter, Hit, Link, Mention, Outline, Record, Wording
from quire.store.index import shard_search
from quire.store.index.columns import ACCESS, DEAD, SLOT
from quire.store.index.shard_search import WordQuery
from quire.store.index.snapshot import RowNumbers
from quire.store.index.terms import count_languages, count_terms
from quire.store.index.totals import Totals
from quire.store.shards import ages
from quire.store.sql import rows
from quire.store.sql.snapshot import Snapshot
from quire.store.sql.view import SqlView
from quire.store.sqlite.store import NOTES_OF_SHARDS

VERSION = f"{NOTES_OF_SHARDS}version"
"""The note of a shard's space: the last write that changed it, and the mark of its file."""

Leaves = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the readable rows of a shard come to."""

    chunks: int
    words: int
    vectors: int
    dims: int
    languages: Mapping[str, int]


class PartView(SqlView):
    """A snapshot of one shard of a space."""

    def version(self) -> str | None:
        """Return what the shard says of the write that this state is of."""
        found = self._query(
            "SELECT value FROM note WHERE space = ? AND key = ?", (self._space.id, VERSION)
        )
        return found[0][0] if found else None

    def summary(self) -> Summary:
        """Return what the readable rows come to."""
        with self._use as snapshot:
            access = snapshot.access
            return Summary(
                access.chunks,
                access.words,
                access.vectors,
                snapshot.dims,
                count_languages(snapshot),
            )

    # --- searches ----------------------------------------------------------------------------

    def count_terms(self, query: str, wording: Wording, totals: Totals) -> dict[str, int]:
        """Return how many readable chunks hold each word that a search looks up."""
        with self._use as snapshot:
            return count_terms(snapshot, query, wording, totals)

    def best_by_words(self, asked: WordQuery, totals: Totals) -> tuple[Hit, ...]:
        """Find the k chunks whose words match best."""
        with self._use as snapshot:
            return shard_search.best_by_words(snapshot, asked, totals)

    def best_nearby(
        self,
        asked: WordQuery,
        totals: Totals,
        seeds: Sequence[str],
        reach: int,
    ) -> tuple[Hit, ...]:
        """Find the k chunks that match best among some chunks and their neighbors."""
        with self._use as snapshot:
            found = _rows_of(snapshot, seeds)
            return shard_search.best_nearby(snapshot, asked, totals, seeds=found, reach=reach)

    def count_with_all(self, names: Sequence[str], totals: Totals) -> list[int]:
        """Return how many readable chunks hold all words of each name."""
        with self._use as snapshot:
            return shard_search.count_with_all(snapshot, names, totals)

    def all_with(
        self, names: Sequence[str], held: Sequence[int], where: Filter, totals: Totals
    ) -> list[tuple[Hit, ...]]:
        """Find the chunks that hold all words of each name, which `held` chunks of all do."""
        with self._use as snapshot:
            return shard_search.all_with(snapshot, names, held, where, totals)

    def count_distances(self, vector: bytes, where: Filter) -> tuple[int, list[int]]:
        """Return how many chunks have a vector, and how many at each distance of its code."""
        with self._use as snapshot:
            return shard_search.count_distances(snapshot, vector, where)

    def nearest(
        self, vector: bytes, k: int, where: Filter, within: int | None
    ) -> tuple[tuple[Hit, ...], bool]:
        """Find the k chunks whose vectors are nearest; return also whether a cache knew them."""
        with self._use as snapshot:
            before = snapshot.searches.count.hits
            hits = shard_search.nearest(snapshot, vector, k, where, within)
            return hits, snapshot.searches.count.hits > before

    # --- reading -----------------------------------------------------------------------------

    def events_of(self, actor: str | None, limit: int | None) -> list[Event]:
        """Return events on readable records, newest first."""
        return self.events(actor=actor, limit=limit)

    def listed(self, where: Filter) -> list[Record]:
        """Return all readable records by path, then id."""
        return list(self.listing(where))

    def readable(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these records that are here and readable."""
        return frozenset(name for (name,) in self._by_record("r.id", ids))

    def half_links(self, ids: Sequence[str], end: str) -> list[Link]:
        """Return the links with this end (`source`, `target`) whose source is here and readable."""
        return [
            Link(*row)
            for record_id in dict.fromkeys(ids)
            for row in self._query(
                "SELECT l.source, l.target, l.kind FROM link l "
                "JOIN record s ON s.space = l.space AND s.id = l.source "
                f"WHERE l.space = ? AND l.{end} = ? AND s.class IN ({self._classes}) "
                "ORDER BY l.source, l.target, l.kind",
                (self._space.id, record_id),
            )
        ]

    def outlined(self, ids: Sequence[str]) -> dict[str, Outline]:
        """Return the outlines of these records, of those that have one and are readable."""
        return dict(self.outlines(ids))

    def placed_mentions(self, names: Sequence[str], kind: str) -> list[tuple[str, Mention]]:
        """Return `definitions` or `references` of names, each with the path of its record."""
        found = getattr(self, kind)(names)
        ids = list(dict.fromkeys(mention.record_id for mention in found))
        paths = dict(self._by_record("r.id, r.path", ids))
        return [(paths[mention.record_id], mention) for mention in found]

    def values(self) -> tuple[dict[str, int], list[tuple[str, str, Any, int]]]:
        """Count the readable records with each key of metadata, and with each of its values."""
        readable = (
            "FROM value v CROSS JOIN record r ON r.number = v.record "
            f"WHERE v.space = ? AND r.class IN ({self._classes})"
        )
        keys = self._query(
            f"SELECT v.key, count(DISTINCT v.record) {readable} GROUP BY v.key", (self._space.id,)
        )
        counted = self._query(
            f"SELECT v.key, v.kind, v.value, count(*) {readable} "
            "AND NOT (v.kind = 'flag' AND v.value < 0) GROUP BY v.key, v.kind, v.value",
            (self._space.id,),
        )
        return dict(keys), [(key, kind, value, count) for key, kind, value, count in counted]

    def room(self) -> tuple[int, int]:
        """Return how many records are readable, and the bytes that a viewer is told of."""
        records = self._count(
            f"SELECT count(*) FROM record WHERE space = ? AND class IN ({self._classes})"
        )
        with self._use as snapshot:
            if self.viewer.owner:
                return records, self._room(snapshot.connection)
            return records, self._readable_bytes()

    # --- what others wrote and did not share --------------------------------------------------

    def member_links(self) -> list[tuple[str, str]]:
        """Return the links `member` of records that are unshared if somebody wrote a target."""
        with self._use as snapshot:
            if not snapshot.owned:
                return []
            owned = ",".join(map(str, sorted(snapshot.owned)))
        found = self._query(
            "SELECT l.source, l.target FROM link l "
            "JOIN record r ON r.space = l.space AND r.id = l.source "
            f"WHERE l.space = ? AND l.kind = 'member' AND r.class IN ({owned}) "
            "AND r.author IS NULL",
            (self._space.id,),
        )
        return [(source, target) for source, target in found]

    def authored(self, ids: Sequence[str]) -> list[str]:
        """Return those of these records that have an author, readable or not."""
        with self._use as snapshot:
            found = (
                snapshot.connection.rows(
                    "SELECT r.id FROM carray(?) v CROSS JOIN record r ON r.space = ? "
                    "AND r.id = v.value WHERE r.author IS NOT NULL",
                    (snapshot.connection.array(tuple(ids)), self._space.id),
                )
                if ids
                else []
            )
        return [name for (name,) in found]

    def set_unshared(self, ids: Iterable[str]) -> None:
        """Count these records as derived from what others wrote: the links are in other shards."""
        with self._use as snapshot:
            snapshot.unshared_sources = tuple(sorted(ids))

    # --- vectors of texts that are gone -------------------------------------------------------

    def unused_vectors(self) -> list[tuple[int, str, str]]:
        """Return age, key and hash of the vectors that no chunk here uses."""
        with self._use as snapshot:
            used = _used_slots(snapshot)
            marks = ages.read_marks(snapshot.connection, self._space.id)
            known = ages.stored(snapshot.connection, self._space.id)
        return [
            (ages.age_of(marks, slot), key, vector)
            for slot, key, vector in known
            if slot not in used
        ]

    def used_vectors(self, wanted: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return those of these vectors, by key and hash, that a chunk here uses."""
        with self._use as snapshot:
            used = _used_slots(snapshot)
            return [
                (key, vector)
                for key, vector in wanted
                for row in snapshot.connection.rows(
                    "SELECT slot FROM vector_slot WHERE space = ? AND key = ? AND hash = ? LIMIT 1",
                    (self._space.id, bytes.fromhex(key), bytes.fromhex(vector)),
                )
                if row[0] in used
            ]

    # --- proofs -------------------------------------------------------------------------------

    def chunk_leaves(self, chunk_ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """Return audience and leaf of those of the chunks that are here and readable."""
        leaves: dict[str, tuple[str, bytes]] = {}
        for chunk_id in filter(rows.ID.fullmatch, chunk_ids):
            found = self._query(
                "SELECT k.acl, l.content FROM chunk c JOIN record r ON r.number = c.record "
                "JOIN class k ON k.id = r.class "
                "JOIN leaf l ON l.space = c.space AND l.class = r.class AND l.key = c.id "
                f"WHERE c.space = ? AND c.id = ? AND r.class IN ({self._classes})",
                (self._space.id, bytes.fromhex(chunk_id)),
            )
            if found:
                leaves[chunk_id] = found[0][0], found[0][1]
        return leaves

    def record_leaf(self, record_id: str) -> tuple[str, bytes, Record, bytes | None] | None:
        """Return audience, leaf and record with the hash of its outline; None as above."""
        found = self._by_record(
            f"k.acl, l.content, {rows.RECORD}",
            [record_id],
            "JOIN class k ON k.id = r.class JOIN leaf l ON l.space = r.space "
            "AND l.class = r.class AND l.key = ? ",
            merkle.record_key(record_id),
        )
        if not found:
            return None
        ((acl, leaf, *row),) = found
        outline = self.outlines([record_id]).get(record_id)
        hashed = None if outline is None else merkle.outline_hash(outline)
        return acl, leaf, rows.record_of(row), hashed

    def leaves_of(self, buckets: Sequence[tuple[str, int]]) -> list[Leaves]:
        """Return the leaves of buckets, by audience and number, that are in this shard."""
        return [self._bucket(acl, number) for acl, number in buckets]

    def _bucket(self, acl: str, number: int) -> Leaves:
        low = number.to_bytes(2, "big")
        return [
            (key, content)
            for key, content in self._query(
                "SELECT l.key, l.content FROM leaf l JOIN class k ON k.id = l.class "
                "WHERE k.space = ? AND k.acl = ? AND l.space = k.space "
                f"AND l.key >= ? AND l.key <= ? AND k.id IN ({self._classes})",
                (self._space.id, acl, low, low + b"\xff" * 16),
            )
        ]


def _used_slots(snapshot: Snapshot) -> frozenset[int]:
    table = snapshot.columns.table
    return frozenset(table[SLOT][table[ACCESS] != DEAD].tolist())


def _rows_of(snapshot: Snapshot, ids: Sequence[str]) -> RowNumbers:
    """Return the rows of chunks."""
    known = snapshot.rows_by_id
    if any(name not in known for name in ids):
        found = snapshot.connection.rows(
            "SELECT c.key FROM carray(?) v CROSS JOIN chunk c ON c.space = ? AND c.id = v.value",
            (snapshot.connection.array(tuple(map(bytes.fromhex, ids))), snapshot.space.id),
        )
        return np.array([rows.row_of(key) for (key,) in found], np.int64)
    return np.array([known[name] for name in ids], np.int64)

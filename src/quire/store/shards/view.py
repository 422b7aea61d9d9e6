"""The view of a sharded store: the answers of all shards, joined to those of one store.

A search is asked in rounds: what the readable rows of all shards come to, then the best of each by
these sums. Hits are joined in the order that they have: score, path, sequence, start, id.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import merge
from typing import Any

import numpy as np

from quire.core import merkle, metadata
from quire.core.types import (
    LITERAL,
    NO_FILTER,
    Chunk,
    Coverage,
    Event,
    Facet,
    Filter,
    Hit,
    Hits,
    Link,
    Mention,
    Outline,
    Proof,
    Record,
    RecordProof,
    Roots,
    Status,
    Viewer,
    Wording,
)
from quire.errors import InputError
from quire.store import access
from quire.store.index import bm25, filters, search, shard_search, vectors
from quire.store.index.totals import Totals
from quire.store.shards.catalog import CatalogView
from quire.store.shards.contract import shard_of
from quire.store.sql.proofs import without
from quire.store.sql.view import CHUNK_CACHE_SIZE

MAX_OWNERS = 20_000
"""Of so many chunks a view knows the shard."""


@dataclass(frozen=True, slots=True)
class Sum:
    """What the readable rows of all shards come to."""

    totals: Totals
    vectors: int
    dims: int


class ShardedView:
    """A snapshot of a space that is split over shards."""

    def __init__(
        self,
        catalog: CatalogView,
        viewer: Viewer,
        *,
        model: str | None,
        count: int,
        ask: Callable[[Sequence[tuple[int, str, tuple[Any, ...]]]], list[Any]],
        told: Callable[[bool], None],
    ) -> None:
        """Make the view of a viewer.

        Args:
            catalog: The catalog in the same state.
            viewer: The viewer with all groups.
            model: The model of the vectors.
            count: How many shards there are.
            ask: Asks the views of shards, each by number, method and arguments.
            told: Is called after each search by vectors: whether the caches knew the results.
        """
        self.viewer = viewer
        self._catalog = catalog
        self._model = model
        self._count = count
        self._call = ask
        self._told = told
        self._closed = False
        self._lock = threading.Lock()
        self._owners: dict[str, int] = {}
        """The shards of chunks that were found or read."""
        self._members_known = False

    def close(self) -> None:
        """Refuse all further calls: the snapshot ends."""
        self._closed = True

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise InputError("the view is closed", hint="open another with `view()`")

    # --- asking -------------------------------------------------------------------------------

    def _ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        self._refuse_if_closed()
        try:
            return self._call(calls)
        except Exception:
            self._refuse_if_closed()  # whatever it was, it is that the view ended meanwhile
            raise

    def _ask_all(self, name: str, *args: Any) -> list[Any]:
        return self._ask([(shard, name, args) for shard in range(self._count)])

    def _ask_owners(self, name: str, ids: Sequence[str], *args: Any) -> list[Any]:
        """Ask the shards of records for those that they have; the answers, in their order."""
        groups = self._group(ids)
        return self._ask([(shard, name, (own, *args)) for shard, own in sorted(groups.items())])

    def _group(self, ids: Iterable[str]) -> dict[int, list[str]]:
        groups: dict[int, list[str]] = {}
        for record_id in dict.fromkeys(ids):
            groups.setdefault(shard_of(record_id, self._count), []).append(record_id)
        return groups or {0: []}  # the shard says if the view is closed

    def _ask_chunks(self, name: str, ids: Sequence[str], *args: Any) -> list[tuple[int, Any]]:
        """Ask for chunks: the shards that they are known to be in, or all of them."""
        known = self._owners
        everywhere = [chunk_id for chunk_id in dict.fromkeys(ids) if chunk_id not in known]
        groups: dict[int, list[str]] = {}
        if everywhere or not ids:
            groups = {shard: [*everywhere] for shard in range(self._count)}
        for chunk_id in dict.fromkeys(ids):
            if chunk_id in known:
                groups.setdefault(known[chunk_id], []).append(chunk_id)
        ordered = sorted(groups.items())
        answers = self._ask([(shard, name, (own, *args)) for shard, own in ordered])
        return [(shard, answer) for (shard, _), answer in zip(ordered, answers, strict=True)]

    def _remember(self, shard: int, chunk_ids: Iterable[str]) -> None:
        with self._lock:
            if len(self._owners) > MAX_OWNERS:
                self._owners = {}
            self._owners.update((chunk_id, shard) for chunk_id in chunk_ids)

    @cached_property
    def _sum(self) -> Sum:
        summaries = self._ask_all("summary")
        languages: Counter[str] = Counter()
        for each in summaries:
            languages.update(each.languages)
        totals = Totals(
            sum(each.chunks for each in summaries),
            sum(each.words for each in summaries),
            dict(sorted(languages.items())),
        )
        return Sum(
            totals,
            sum(each.vectors for each in summaries),
            max(each.dims for each in summaries),
        )

    def _totals(self) -> Totals:
        self._refuse_if_closed()
        return self._sum.totals

    def _join_hits(self, answers: Sequence[Sequence[Hit]], k: int | None) -> tuple[Hit, ...]:
        for shard, hits in enumerate(answers):
            self._remember(shard, (hit.id for hit in hits))
        return tuple(sorted((hit for hits in answers for hit in hits), key=_place)[:k])

    def _know_members(self, where: Filter) -> None:
        """Tell the shards what links to other shards say of records, before a filter needs it."""
        if where.shared_only and self.viewer.owner and not self._members_known:
            links = [pair for pairs in self._ask_all("member_links") for pair in pairs]
            targets = sorted({target for _, target in links})
            written = {name for names in self._ask_owners("authored", targets) for name in names}
            sources = {source for source, target in links if target in written}
            if sources:
                groups = self._group(sources)
                self._ask([(shard, "set_unshared", (own,)) for shard, own in groups.items()])
            self._members_known = True

    # --- search -------------------------------------------------------------------------------

    def lexical(
        self,
        query: str,
        k: int,
        where: Filter = NO_FILTER,
        *,
        reach: int = 0,
        wording: Wording = LITERAL,
    ) -> Hits:
        """Find the k chunks whose words match best, alone or together with their neighbors."""
        self._refuse_if_closed()
        search.check_lexical(k, where, reach, wording)
        self._know_members(where)
        totals = self._count_terms(query, wording)
        asked = shard_search.WordQuery(query, k, where, wording)
        hits = self._join_hits(self._ask_all("best_by_words", asked, totals), k)
        if reach and hits:
            seeds: dict[int, list[str]] = {shard: [] for shard in range(self._count)}
            for hit in hits:
                seeds[self._shard_of_chunk(hit.id)].append(hit.id)
            calls = [
                (shard, "best_nearby", (asked, totals, own, reach)) for shard, own in seeds.items()
            ]
            hits = self._join_hits(self._ask(calls), k)
        return Hits(hits)

    def _shard_of_chunk(self, chunk_id: str) -> int:
        shard = self._owners.get(chunk_id)
        if shard is None:  # forgotten since it was found
            self.chunks([chunk_id])
            shard = self._owners[chunk_id]
        return shard

    def _count_terms(self, query: str, wording: Wording) -> Totals:
        totals = self._totals()
        holding: Counter[str] = Counter()
        for counts in self._ask_all("count_terms", query, wording, totals):
            holding.update(counts)
        return replace(totals, holding=dict(holding))

    def match_all(
        self, names: Sequence[str], limit: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that contain all its words; none if too many do."""
        self._refuse_if_closed()
        filters.check_filter(where)
        self._know_members(where)
        totals = self._totals()
        counted = self._ask_all("count_with_all", names, totals)
        held = [sum(each) for each in zip(*counted, strict=True)]
        wanted = [(name, count) for name, count in zip(names, held, strict=True) if count <= limit]
        asked = ([name for name, _ in wanted], [count for _, count in wanted], where, totals)
        answers = self._ask_all("all_with", *asked) if wanted else []
        joined = iter([self._join_hits(answer, None) for answer in zip(*answers, strict=True)])
        return [next(joined) if count <= limit else () for count in held]

    def rarities(self, query: str) -> dict[str, int]:
        """Return how rare each word of a query is."""
        totals = self._count_terms(query, LITERAL)
        return {
            word: bm25.idf(totals.chunks, max(1, totals.holding[word]))
            for word in sorted(totals.holding)
        }

    def languages(self) -> dict[str, int]:
        """Return how many chunks of each language but English there are."""
        return dict(self._totals().languages)

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        """Find the k chunks whose vectors are nearest (int8 dot product)."""
        self._refuse_if_closed()
        search.check_semantic(k, where)
        whole = self._sum
        if not whole.vectors:
            return Hits(())
        search.check_vector(vector, whole.dims)
        self._know_members(where)
        within: int | None = None
        if not exact and whole.vectors > vectors.SCAN_LIMIT:
            within = self._choose_distance(vector, k, where)
        answers = self._ask_all("nearest", vector, k, where, within)
        self._told(all(known for _, known in answers))
        return Hits(self._join_hits([hits for hits, _ in answers], k), exact=within is None)

    def _choose_distance(self, vector: bytes, k: int, where: Filter) -> int | None:
        """Return how far a code may be from that of the query; None: all vectors are compared."""
        counted = self._ask_all("count_distances", vector, where)
        if sum(count for count, _ in counted) <= vectors.SCAN_LIMIT:
            return None
        at_distance = np.zeros(max(len(counts) for _, counts in counted), np.int64)
        for _, counts in counted:
            at_distance[: len(counts)] += np.array(counts, np.int64)
        return vectors.reached_at(at_distance, vectors.first_pass_size(k))

    # --- reading ------------------------------------------------------------------------------

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return chunks by id, in that order, without absent and unreadable ones."""
        found: dict[str, Chunk] = {}
        for shard, chunks in self._ask_chunks("chunks", ids):
            found.update((chunk.id, chunk) for chunk in chunks)
            if len(chunks) <= CHUNK_CACHE_SIZE:
                self._remember(shard, (chunk.id for chunk in chunks))
        return [found[name] for name in ids if name in found]

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these chunks that are the only one of their record, if readable."""
        answers = self._ask_chunks("single_chunks", ids)
        return frozenset(name for _, names in answers for name in names)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Return records by id, in that order, without absent and unreadable ones."""
        answers = self._ask_owners("records", ids)
        found = {record.id: record for records in answers for record in records}
        return [found[name] for name in ids if name in found]

    def unshared(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these records that other users wrote and shared with nobody here."""
        self._know_members(Filter(shared_only=True))
        return frozenset(name for names in self._ask_owners("unshared", ids) for name in names)

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        """Yield all readable records by path, then id."""
        filters.check_filter(where)
        self._know_members(where)
        listed = self._ask_all("listed", where)
        for record in merge(*listed, key=lambda record: (record.path, record.id)):
            self._refuse_if_closed()
            yield record
        self._refuse_if_closed()

    def count(self, where: Filter = NO_FILTER) -> int:
        """Return how many readable chunks pass a filter."""
        filters.check_filter(where)
        self._know_members(where)
        return sum(self._ask_all("count", where))

    def metadata_keys(self) -> tuple[str, ...]:
        """Return the keys of the metadata of readable records, sorted."""
        return tuple(sorted({key for keys in self._ask_all("metadata_keys") for key in keys}))

    def metadata_kinds(self, key: str) -> tuple[str, ...]:
        """Return the kinds of the values that readable records have under a key, sorted."""
        answers = self._ask_all("metadata_kinds", key)
        return tuple(sorted({kind for kinds in answers for kind in kinds}))

    def facets(self, limit: int) -> tuple[Facet, ...]:
        """Count the values of the metadata of readable records, by key."""
        records: Counter[str] = Counter()
        values: dict[str, Counter[tuple[str, Any]]] = {}
        for keys, counted in self._ask_all("values"):
            records.update(keys)
            for key, kind, value, count in counted:
                values.setdefault(key, Counter())[kind, value] += count
        facets = []
        for key in sorted(records):
            own = values.get(key, Counter())
            best = sorted(own.items(), key=lambda item: (-item[1], *item[0]))[: max(0, limit)]
            shown = tuple((metadata.show(kind, value), count) for (kind, value), count in best)
            facets.append(Facet(key, records[key], len(own), shown))
        return tuple(facets)

    def last_expiry(self, at: int) -> int | None:
        """Return the last moment until `at` at which a readable record expired; None: none has."""
        moments = [moment for moment in self._ask_all("last_expiry", at) if moment is not None]
        return max(moments, default=None)

    def expired(self, at: int) -> list[Record]:
        """Return the readable records that have expired at a moment, by path, then id."""
        answers = self._ask_all("expired", at)
        return list(merge(*answers, key=lambda record: (record.path, record.id)))

    def children(self, parents: Sequence[str]) -> list[Record]:
        """Return the children of these records, parent by parent, by position, then id."""
        order = {parent: number for number, parent in enumerate(dict.fromkeys(parents))}
        found = [record for records in self._ask_all("children", parents) for record in records]
        return sorted(
            found, key=lambda record: (order[record.parent or ""], record.position, record.id)
        )

    def chunks_of(self, record_id: str) -> list[Chunk]:
        """Return the chunks of one record in reading order."""
        shard = shard_of(record_id, self._count)
        chunks: list[Chunk] = self._ask([(shard, "chunks_of", (record_id,))])[0]
        return chunks

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the int8 vectors of chunks by id, of those that have one and are readable."""
        found: dict[str, bytes] = {}
        for _, near in self._ask_chunks("vectors", ids):
            found |= near
        return {name: found[name] for name in dict.fromkeys(ids) if name in found}

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        """Return the links from (or, with `back`, to) these records, if both ends are readable."""
        end = "target" if back else "source"
        if back:
            answers = self._ask_all("half_links", ids, end)
        else:
            answers = self._ask_owners("half_links", ids, end)
        found = [link for links in answers for link in links]
        targets = sorted({link.target for link in found})
        there: set[str] = set()
        for names in self._ask_owners("readable", targets) if targets else ():
            there |= names
        order = {name: number for number, name in enumerate(dict.fromkeys(ids))}
        return sorted(
            (link for link in found if link.target in there),
            key=lambda link: (order[getattr(link, end)], link.source, link.target, link.kind),
        )

    def outlines(self, ids: Sequence[str]) -> Mapping[str, Outline]:
        """Return the outlines of these records, of those that have one and are readable."""
        found: dict[str, Outline] = {}
        for outlined in self._ask_owners("outlined", ids):
            found |= outlined
        return {name: found[name] for name in ids if name in found}

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        """Return the definitions of these names, ordered by name, path and position."""
        return self._mentions(names, "definitions")

    def references(self, names: Sequence[str]) -> list[Mention]:
        """Return the uses of these names, ordered by name, path and position."""
        return self._mentions(names, "references")

    def _mentions(self, names: Sequence[str], kind: str) -> list[Mention]:
        answers = self._ask_all("placed_mentions", names, kind)
        found = [placed for mentions in answers for placed in mentions]
        found.sort(
            key=lambda placed: (
                placed[1].name, placed[0], placed[1].record_id, placed[1].entity, placed[1].kind
            )
        )  # fmt: skip
        return [mention for _, mention in found]

    def latest_activity(self) -> int | None:
        """Return the time of the last readable event, commit, memory or experience."""
        times = [time for time in self._ask_all("latest_activity") if time is not None]
        return max(times, default=None)

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        """Return events on readable records, newest first."""
        answers = self._ask_all("events_of", actor, limit)
        found = sorted(
            (event for events in answers for event in events),
            key=lambda event: (-event.at, event.actor, event.record_id, event.verb),
        )
        return found if limit is None else found[: max(0, limit)]

    def old_vectors(self) -> list[tuple[str, str]]:
        """Return key and hash of the vectors that no chunk of any shard uses, the oldest first."""
        ages: dict[tuple[str, str], int] = {}
        for unused in self._ask_all("unused_vectors"):
            for age, key, vector in unused:
                ages[key, vector] = max(age, ages.get((key, vector), 0))
        for used in self._ask_all("used_vectors", sorted(ages)):
            for known in used:
                ages.pop(known, None)
        return sorted(ages, key=lambda known: (ages[known], known))

    # --- state --------------------------------------------------------------------------------

    def damaged(self) -> tuple[str, ...]:
        """Return the paths of records of which something was left out because it is damaged."""
        return tuple(sorted({path for paths in self._ask_all("damaged") for path in paths}))

    def roots(self) -> Roots:
        """Return the hashes over everything readable."""
        self._refuse_if_closed()
        return self._catalog.roots()

    def coverage(self) -> Coverage:
        """Return how much there is to search."""
        self._refuse_if_closed()
        whole = self._sum
        model = self._model if whole.vectors else None
        return Coverage(whole.totals.chunks, whole.vectors, model)

    def status(self) -> Status:
        """Return how much the space holds."""
        coverage = self.coverage()
        rooms = self._ask_all("room")
        own = self._catalog.room() if self.viewer.owner else 0
        return Status(
            roots=self.roots(),
            records=sum(records for records, _ in rooms),
            chunks=coverage.chunks,
            vectors=coverage.vectors,
            missing_vectors=coverage.chunks - coverage.vectors,
            model=coverage.model,
            bytes=own + sum(size for _, size in rooms),
            languages=self.languages(),
        )

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk is part of this view's content root."""
        return self.prove_all([chunk_id])[0]

    def prove_all(self, chunk_ids: Sequence[str]) -> list[Proof]:
        """Prove it of several chunks, in their order."""
        leaves: dict[str, tuple[str, bytes]] = {}
        for _, found in self._ask_chunks("chunk_leaves", chunk_ids):
            leaves.update(found)
        for chunk_id in chunk_ids:
            if chunk_id not in leaves:
                raise InputError(
                    f"chunk {chunk_id!r} does not exist, or this viewer may not read it",
                    value=chunk_id,
                )
        return self._prove([(bytes.fromhex(name), *leaves[name]) for name in chunk_ids])

    def prove_record(self, record_id: str) -> RecordProof:
        """Prove that a record with its metadata is part of this view's content root."""
        shard = shard_of(record_id, self._count)
        (found,) = self._ask([(shard, "record_leaf", (record_id,))])
        if found is None:
            raise InputError(
                f"record {record_id!r} does not exist, or this viewer may not read it",
                value=record_id,
            )
        acl, leaf, record, outline = found
        return RecordProof(
            record=record,
            readers=access.parse_audience(acl),
            outline=None if outline is None else outline.hex(),
            proof=self._prove([(merkle.record_key(record_id), acl, leaf)])[0],
        )

    def _prove(self, leaves: Sequence[tuple[bytes, str, bytes]]) -> list[Proof]:
        """Prove that leaves, each with key and audience, are part of the root over all shards."""
        if not leaves:
            return []
        wanted = sorted({(acl, merkle.bucket_of(key)) for key, acl, _ in leaves})
        buckets: dict[tuple[str, int], dict[bytes, bytes]] = {place: {} for place in wanted}
        for answers in self._ask_all("leaves_of", wanted):
            for place, own in zip(wanted, answers, strict=True):
                buckets[place].update(own)
        classes = tuple(sorted(root.hex() for root in self._catalog.class_roots()))
        proofs: list[Proof] = []
        for key, acl, leaf in leaves:
            number = merkle.bucket_of(key)
            node, bucket = divmod(number, merkle.FAN)
            nodes, top = self._catalog.tree(acl, node)
            inside = buckets[acl, number]
            proofs.append(
                Proof(
                    chunk_id=key.hex(),
                    leaf=leaf.hex(),
                    bucket=tuple((name.hex(), inside[name].hex()) for name in sorted(inside)),
                    nodes=without(nodes, bucket),
                    top=without(top, node),
                    classes=classes,
                )
            )
        return proofs


def _place(hit: Hit) -> tuple[int, str, int, int, str]:
    return -hit.score, hit.path, hit.sequence, hit.start, hit.id

"""The reference implementation of a store.

The whole contract of a store in dictionaries and Python's own integers: nothing is indexed,
nothing is cached, every answer is computed from everything. It is the definition that every
engine must equal, byte for byte. It shares with the engines only what is a definition itself:
the hashes, the leaves of the trees and the words of a text.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from quire.core import hashing, merkle, metadata
from quire.core.languages import language_of
from quire.core.types import (
    LITERAL,
    MAIN,
    NO_FILTER,
    OWNER,
    TIMED_KINDS,
    AccessRule,
    Chunk,
    Coverage,
    Entry,
    Event,
    Facet,
    Filter,
    Hit,
    HitCount,
    Hits,
    Link,
    Mention,
    Outline,
    Problem,
    Proof,
    Record,
    RecordProof,
    Reembedding,
    Roots,
    SpaceState,
    Stamp,
    Status,
    Viewer,
    Wording,
)
from quire.errors import InputError, StoreBusyError, StoreError
from quire.store.index import analyzer, lexicon

from .closable import Closable
from .definitions import (
    ORIGINS,
    Acl,
    Tree,
    access_list,
    check_document,
    check_filter,
    check_k,
    check_key,
    check_numbers,
    check_origin,
    check_outline,
    check_reach,
    check_rule,
    check_texts,
    check_vector,
    check_wording,
    distance,
    dot,
    idf,
    matches_filter,
    may_read,
    weight,
)
from .space import Class, EventAudience, Space

# --- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """How many vectors are scanned without a first pass, and how many that selects."""

    scan: int = 200_000
    first_pass: int = 10_000
    per_hit: int = 100


class ReferenceView(Closable):
    """A snapshot of a space as one viewer may read it."""

    def __init__(self, space: Space, viewer: Viewer, limits: Limits) -> None:
        self.viewer = viewer
        self._limits = limits
        self._space = space
        self._records = {
            record.id: record
            for record in space.records.values()
            if may_read(viewer, space.acl(record))
        }
        self._chunks = {chunk.id: chunk for name in self._records for chunk in space.chunks[name]}

    @cached_property
    def _trees(self) -> dict[Class, tuple[Tree, Tree]]:
        trees = self._space.trees()
        return {key: both for key, both in trees.items() if self._may_read(key)}

    def _may_read(self, audience: Class) -> bool:
        if isinstance(audience, EventAudience):
            is_actor = self.viewer.owner or self.viewer.name == audience.actor
            return is_actor and may_read(self.viewer, audience.acl)
        return may_read(self.viewer, audience)

    def roots(self) -> Roots:
        trees = self._trees
        roots = sorted(tree.root for tree, _ in trees.values())
        content = hashing.digest("view", tuple(roots))
        vectors = sorted(tree.root for _, tree in trees.values() if tree.leaves)
        model = self._space.model if vectors else None
        state = hashing.digest("state", content, tuple(vectors), model)
        return Roots(content.hex(), state.hex())

    def coverage(self) -> Coverage:
        vectors = sum(self._space.vector(chunk) is not None for chunk in self._chunks.values())
        return Coverage(len(self._chunks), vectors, self._space.model if vectors else None)

    def status(self) -> Status:
        coverage = self.coverage()
        return Status(
            roots=self.roots(),
            records=len(self._records),
            chunks=coverage.chunks,
            vectors=coverage.vectors,
            missing_vectors=coverage.chunks - coverage.vectors,
            model=coverage.model,
            bytes=0
            if self.viewer.owner  # the size of a file that the reference does not have
            else sum(chunk.end - chunk.start for chunk in self._chunks.values()),
            languages=self.languages(),
        )

    @cached_property
    def _counted(self) -> dict[str, tuple[Counter[str], int]]:
        return {
            name: analyzer.count_chunk_words(chunk, self._language(chunk))
            for name, chunk in self._chunks.items()
        }

    def _language(self, chunk: Chunk) -> str:
        return language_of(self._records[chunk.record_id])

    def languages(self) -> dict[str, int]:
        codes = Counter(self._language(chunk) for chunk in self._chunks.values())
        return {code: codes[code] for code in sorted(codes) if code}

    @cached_property
    def _stemmed(self) -> list[str]:
        return [code for code in self.languages() if code in analyzer.STEMMERS]

    def _matching(self, term: analyzer.QueryTerm) -> int:
        """Return how many chunks contain a word."""
        return sum(self._count(counts, term) > 0 for counts, _ in self._counted.values())

    @staticmethod
    def _count(counts: Mapping[str, int], term: analyzer.QueryTerm) -> int:
        """Return how often a chunk contains a word, in the form in which it has it most often."""
        return max(counts.get(form, 0) for form in term.forms)

    def lexical(
        self,
        query: str,
        k: int,
        where: Filter = NO_FILTER,
        *,
        reach: int = 0,
        wording: Wording = LITERAL,
    ) -> Hits:
        check_k(k)
        check_filter(where)
        check_reach(reach)
        check_wording(wording)
        weights = self._weights(query, wording)
        totals = {name: sum(each.values()) for name, each in weights.items()}
        best = self._best({name: score for name, score in totals.items() if score}, k, where)
        if not reach:
            return Hits(best)
        scores: dict[str, int] = {}
        for seed in best:
            for name in self._neighbors(seed.id, reach):
                scores[name] = sum(
                    max(
                        weights.get(other, {}).get(word, 0) * (4 - apart) // 4
                        for other, apart in self._neighbors(name, reach).items()
                    )
                    for word in {word for each in weights.values() for word in each}
                )
        return Hits(self._best(scores, k, where))

    def match_all(
        self, names: Sequence[str], limit: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        check_filter(where)
        results = []
        for name in names:
            terms = analyzer.all_terms(name, self._stemmed).values()
            matching = [
                chunk
                for chunk, (counts, _) in self._counted.items()
                if terms and all(self._count(counts, term) for term in terms)
            ]
            score = idf(len(self._counted), len(matching))
            scores = dict.fromkeys(matching, score) if len(matching) <= limit else {}
            results.append(self._best(scores, len(matching), where))
        return results

    def rarities(self, query: str) -> dict[str, int]:
        return {
            word: idf(
                len(self._counted),
                max(1, sum(self._count(counts, term) > 0 for counts, _ in self._counted.values())),
            )
            for word, term in analyzer.query_terms(query, self._stemmed).items()
        }

    def _neighbors(self, name: str, reach: int) -> dict[str, int]:
        """Return a chunk and its neighbors in its record, with their distances."""
        chunk = self._chunks[name]
        if chunk.kind == "code":
            return {name: 0}
        return {
            other.id: abs(other.sequence - chunk.sequence)
            for other in self._chunks.values()
            if other.record_id == chunk.record_id
            and other.kind != "code"
            and abs(other.sequence - chunk.sequence) <= reach
        }

    def _weights(self, query: str, wording: Wording) -> dict[str, dict[str, int]]:
        """Return the weight of each word of a query in each chunk that contains it.

        A chunk that does not contain it counts for the rarest word that is used in its place.
        """
        counted = self._counted
        total = sum(length for _, length in counted.values())
        average = max(1, 16 * total // max(1, len(counted)))
        words, asked = lexicon.load(), analyzer.query_terms(query, self._stemmed)
        terms: list[tuple[int, str, analyzer.QueryTerm]] = []
        with_related = wording.related and len(asked) <= 64
        for word, term in asked.items():
            if (matching := self._matching(term)) or with_related:
                terms.append((matching, word, term))
        weights: dict[str, dict[str, int]] = {}
        for matching, word, term in sorted(terms, key=lambda each: each[:2])[:1024]:
            own = idf(len(counted), matching)
            forms = [(term, own * (wording.common if word in words.common else 100) // 100)]
            others = [other for other in words.related.get(word, ()) if other not in asked]
            if word not in words.common and with_related:
                alike = [analyzer.QueryTerm(term.count, (other,)) for other in others]
                for each in sorted(alike, key=lambda each: (self._matching(each), each.forms)):
                    rarity = idf(len(counted), self._matching(each))
                    rarity = min(rarity, own) if matching else rarity
                    forms.append((each, rarity * wording.related // 100))
            for name, (counts, length) in counted.items():
                held = [(each, value) for each, value in forms if self._count(counts, each)]
                for each, value in held[:1]:
                    count = self._count(counts, each)
                    added = weight(count, length, term.count, value, average)
                    weights.setdefault(name, {})[word] = added
        return weights

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        check_k(k)
        check_filter(where)
        stored = {
            name: data
            for name, chunk in self._chunks.items()
            if (data := self._space.vector(chunk)) is not None
        }
        if not stored:
            return Hits(())
        check_vector("the question", vector, self._space.dims)
        candidates = {name: data for name, data in stored.items() if self._passes(name, where)}
        complete = exact or len(candidates) <= self._limits.scan
        if not complete:
            distances = {name: distance(data, vector) for name, data in candidates.items()}
            size = max(self._limits.first_pass, self._limits.per_hit * k)
            limit = sorted(distances.values())[: max(1, size)][-1]
            candidates = {
                name: data for name, data in candidates.items() if distances[name] <= limit
            }
        scores = {name: dot(data, vector) for name, data in candidates.items()}
        return Hits(self._best(scores, k, where), exact=complete)

    def _passes(self, name: str, where: Filter) -> bool:
        chunk = self._chunks[name]
        record = self._records[chunk.record_id]
        if where.shared_only and self._is_unshared(record):
            return False
        return matches_filter(where, chunk.kind, chunk.path, record)

    def _is_unshared(self, record: Record) -> bool:
        audience = self._space.acl(record)
        members = [
            self._space.records[link.target]
            for link in self._space.links[record.id]
            if link.kind == "member" and link.target in self._space.records
        ]
        return (
            self.viewer.owner
            and not may_read(replace(self.viewer, owner=False), audience)
            and (
                record.path.startswith(".quire/")
                or (bool(record.origin) and record.path.startswith("@"))
            )
            and any(one.author is not None for one in (record, *members))
        )

    def unshared(self, ids: Sequence[str]) -> frozenset[str]:
        check_texts(*ids)
        return frozenset(
            name for name in ids if name in self._records and self._is_unshared(self._records[name])
        )

    def _best(self, scores: Mapping[str, int], k: int, where: Filter) -> tuple[Hit, ...]:
        hits = [
            Hit(name, score, chunk.path, chunk.sequence, chunk.start)
            for name, score in scores.items()
            if self._passes(name, where)
            for chunk in [self._chunks[name]]
        ]
        return tuple(sorted(hits, key=lambda hit: hit.order)[:k])

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        return [self._chunks[name] for name in ids if name in self._chunks]

    def damaged(self) -> tuple[str, ...]:
        return ()

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(
            chunk.id
            for chunk in self.chunks(ids)
            if self._space.chunks[chunk.record_id] == (chunk,)
        )

    def records(self, ids: Sequence[str]) -> list[Record]:
        check_texts(*ids)
        return [self._records[name] for name in ids if name in self._records]

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        check_filter(where)
        for record in sorted(self._records.values(), key=lambda record: (record.path, record.id)):
            if where.shared_only and self._is_unshared(record):
                continue
            if matches_filter(where, record.kind, record.path, record):
                yield record

    def count(self, where: Filter = NO_FILTER) -> int:
        check_filter(where)
        return sum(self._passes(name, where) for name in self._chunks)

    def metadata_keys(self) -> tuple[str, ...]:
        return tuple(sorted({key for each in self._records.values() for key in each.metadata}))

    def metadata_kinds(self, key: str) -> tuple[str, ...]:
        return tuple(
            sorted(
                {
                    kind
                    for each in self._records.values()
                    for name, kind, value in metadata.entries(each.metadata)
                    if name == key and (kind, value) != ("flag", -1)
                }
            )
        )

    def facets(self, limit: int) -> tuple[Facet, ...]:
        facets = []
        for key in self.metadata_keys():
            having = [each for each in self._records.values() if key in each.metadata]
            counts = Counter(
                (kind, value)
                for record in having
                for kind, value in {
                    (kind, value)
                    for name, kind, value in metadata.entries(record.metadata)
                    if name == key and (kind, value) != ("flag", -1)
                }
            )
            by_count = sorted(counts.items(), key=lambda item: item[0])
            by_count.sort(key=lambda item: -item[1])
            shown = tuple((metadata.show(*value), count) for value, count in by_count[:limit])
            facets.append(Facet(key, len(having), len(counts), shown))
        return tuple(facets)

    def last_expiry(self, at: int) -> int | None:
        return max((each.expires or 0 for each in self.expired(at)), default=None)

    def expired(self, at: int) -> list[Record]:
        gone = [
            each
            for each in self._records.values()
            if each.expires is not None and each.expires <= at
        ]
        return sorted(gone, key=lambda record: (record.path, record.id))

    def children(self, parents: Sequence[str]) -> list[Record]:
        check_texts(*parents)
        return [
            record
            for name in dict.fromkeys(parents)
            for record in sorted(
                self._records.values(), key=lambda record: (record.position, record.id)
            )
            if record.parent == name
        ]

    def chunks_of(self, record_id: str) -> list[Chunk]:
        check_texts(record_id)
        chunks = [chunk for chunk in self._chunks.values() if chunk.record_id == record_id]
        return sorted(chunks, key=lambda chunk: (chunk.sequence, chunk.start, chunk.id))

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        return {
            name: data
            for name in ids
            if name in self._chunks and (data := self._space.vector(self._chunks[name])) is not None
        }

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        check_texts(*ids)
        readable = [
            link
            for source in self._records
            for link in self._space.links[source]
            if link.target in self._records
        ]
        readable.sort(key=lambda link: (link.source, link.target, link.kind))
        return [
            link
            for name in dict.fromkeys(ids)
            for link in readable
            if (link.target if back else link.source) == name
        ]

    def outlines(self, ids: Sequence[str]) -> dict[str, Outline]:
        check_texts(*ids)
        stored = self._space.outlines
        return {name: stored[name] for name in ids if name in self._records and name in stored}

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        kinds = {"module", "class", "interface", "type", "function", "method"}
        return self._mentions(
            names,
            (
                Mention(entity.name, "define", name, place)
                for name in self._records
                if name in self._space.outlines
                for place, entity in enumerate(self._space.outlines[name].entities)
                if entity.kind in kinds and entity.name
            ),
        )

    def references(self, names: Sequence[str]) -> list[Mention]:
        counts: Counter[tuple[str, str, str, int]] = Counter()
        for name in self._records:
            if name in self._space.outlines:
                for use in self._space.outlines[name].references:
                    counts[use.name, use.kind, name, use.within] += use.count
        return self._mentions(names, (Mention(*at, count) for at, count in counts.items()))

    def _mentions(self, names: Sequence[str], mentions: Iterable[Mention]) -> list[Mention]:
        check_texts(*names)
        return sorted(
            (mention for mention in mentions if mention.name in names),
            key=lambda mention: (
                mention.name,
                self._records[mention.record_id].path,
                mention.record_id,
                mention.entity,
                mention.kind,
            ),
        )

    def latest_activity(self) -> int | None:
        times = [event.at for event in self.events(limit=1)]
        timed = (record for record in self._records.values() if record.kind in TIMED_KINDS)
        times += [record.modified for record in timed if record.modified is not None]
        return max(times, default=None)

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        check_texts(actor)
        events = [
            event
            for event in self._space.events
            if event.record_id in self._records
            and (self.viewer.owner or event.actor == self.viewer.name)
            and (actor is None or event.actor == actor)
        ]
        events.sort(key=lambda event: (-event.at, event.actor, event.record_id, event.verb))
        return events if limit is None else events[: max(0, limit)]

    def prove(self, chunk_id: str) -> Proof:
        if chunk_id not in self._chunks:
            raise InputError(f"chunk {chunk_id!r} does not exist, or this viewer may not read it")
        chunk = self._chunks[chunk_id]
        return self._proof(self._records[chunk.record_id], *merkle.chunk_leaf(chunk))

    def prove_all(self, chunk_ids: Sequence[str]) -> list[Proof]:
        return [self.prove(chunk_id) for chunk_id in chunk_ids]

    def prove_record(self, record_id: str) -> RecordProof:
        check_texts(record_id)
        if record_id not in self._records:
            raise InputError(f"record {record_id!r} does not exist, or this viewer may not read it")
        record, outline = self._records[record_id], self._space.outlines.get(record_id)
        audience = self._space.acl(record)
        return RecordProof(
            record=record,
            readers=audience,
            outline=None if outline is None else merkle.outline_hash(outline).hex(),
            proof=self._proof(record, *merkle.record_leaf(record, audience, outline)),
        )

    def _proof(self, record: Record, key: bytes, leaf: bytes) -> Proof:
        trees = self._trees
        tree, _ = trees[self._space.acl(record)]
        place = merkle.bucket_of(key)
        buckets = sorted(tree.buckets.items())
        return Proof(
            chunk_id=key.hex(),
            leaf=leaf.hex(),
            bucket=tuple((name.hex(), value.hex()) for name, value in tree.bucket(place)),
            nodes=tuple(
                (other % 256, value.hex())
                for other, value in buckets
                if other // 256 == place // 256 and other != place
            ),
            top=tuple(
                (other, value.hex())
                for other, value in sorted(tree.nodes.items())
                if other != place // 256
            ),
            classes=tuple(sorted(content.root.hex() for content, _ in trees.values())),
        )


class ReferenceExport(Closable):
    """A snapshot of all that a space holds."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def roots(self) -> Roots:
        return ReferenceView(self._space, OWNER, Limits()).roots()

    def count(self) -> Coverage:
        chunks = [chunk for each in self._space.chunks.values() for chunk in each]
        vectors = sum(self._space.vector(chunk) is not None for chunk in chunks)
        return Coverage(len(chunks), vectors, self._space.model)

    def state(self) -> SpaceState:
        space = self._space
        return SpaceState(
            rules=space.rules,
            groups=space.groups,
            access_default=space.default,
            model=space.model,
            notes=dict(sorted(space.notes.items())),
            stamps=dict(sorted(space.stamps.items())),
            events=tuple(
                sorted(
                    space.events,
                    key=lambda event: (event.at, event.actor, event.record_id, event.verb),
                )
            ),
        )

    def places(self) -> Iterator[tuple[str, str]]:
        yield from sorted((record.path, record.id) for record in self._space.records.values())

    def entries(self, after: tuple[str, str] | None = None) -> Iterator[Entry]:
        space = self._space
        for place in self.places():
            if after is None or place > after:
                name = place[1]
                chunks = sorted(
                    space.chunks[name], key=lambda chunk: (chunk.sequence, chunk.start, chunk.id)
                )
                vectors = {chunk.id: space.vector(chunk) for chunk in chunks}
                yield Entry(
                    space.records[name],
                    tuple(chunks),
                    tuple(sorted(space.links[name], key=lambda link: (link.target, link.kind))),
                    space.outlines.get(name),
                    {key: vector for key, vector in vectors.items() if vector is not None},
                )


# --- writing -----------------------------------------------------------------------------------


class ReferenceWriter(Closable):
    """One transaction on a copy of a space."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> bool:
        check_document(record, chunks, links)
        check_outline(outline)
        own = None if record.acl is None else access_list(record.acl)
        before = self._space.copy()
        self._space.records[record.id] = replace(record, acl=own)
        self._space.chunks[record.id] = tuple(chunks)
        self._space.links[record.id] = frozenset(links)
        self._space.outlines.pop(record.id, None)
        if outline is not None:
            self._space.outlines[record.id] = outline
        self._space.carry_vectors(before)
        return self._differs(before, record.id)

    def _differs(self, before: Space, name: str) -> bool:
        stored = ("records", "outlines")
        if any(
            getattr(before, each).get(name) != getattr(self._space, each).get(name)
            for each in stored
        ):
            return True
        same_links = before.links.get(name) == self._space.links.get(name)
        chunks = set(before.chunks[name]), set(self._space.chunks[name])
        return not same_links or chunks[0] != chunks[1]

    def update(self, record: Record) -> bool:
        check_document(record, (), ())
        known = self._space.records.get(record.id)
        if known is None:
            return False
        if (known.kind, known.path) != (record.kind, record.path):
            raise InputError("kind and path change with the chunks")
        if language_of(known) != language_of(record):
            raise InputError("the language changes with the chunks")
        own = None if record.acl is None else access_list(record.acl)
        before = self._space.copy()
        self._space.records[record.id] = replace(record, acl=own)
        self._space.carry_vectors(before)
        return known != replace(record, acl=own)

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        check_texts(*times)
        check_numbers(*(time for time in times.values() if time is not None))
        for name, modified in times.items():
            if name in self._space.records:
                record = self._space.records[name]
                self._space.records[name] = replace(record, modified=modified)

    def remove(self, ids: Iterable[str]) -> int:
        space = self._space
        removed = 0
        for name in ids:
            if name in space.records:
                del space.records[name], space.chunks[name], space.links[name]
                space.outlines.pop(name, None)
                space.events = frozenset(event for event in space.events if event.record_id != name)
                removed += 1
        return removed

    def put_vectors(
        self, model: str, vectors: Mapping[str, bytes], chunks: Collection[str] | None = None
    ) -> None:
        space = self._space
        if not vectors:
            return
        if space.model not in (None, model):
            raise StoreError(f"the store holds vectors of {space.model}: --reembed")
        dims = space.dims or len(next(iter(vectors.values())))
        for key, vector in vectors.items():
            check_key(key)
            check_vector(key, vector, dims)
        added = {
            (acl, key): vectors[key]
            for acl, key in space.needed_vectors(chunks)
            if key in vectors and (acl, key) not in space.vectors
        }
        if added:
            space.model, space.dims = model, dims
            space.vectors |= added

    def drop_vectors(self) -> None:
        self._space.vectors, self._space.model, self._space.dims = {}, None, 0

    def put_waiting_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        space = self._space
        if space.waiting_model != model:
            space.waiting, space.waiting_model = {}, None
        dims = len(next(iter({**space.waiting, **vectors}.values()), b""))
        for key, vector in vectors.items():
            check_key(key)
            check_vector(key, vector, dims)
        held = {chunk.vector_key for chunks in space.chunks.values() for chunk in chunks}
        space.waiting |= {key: vector for key, vector in vectors.items() if key in held}
        space.waiting_model = model if space.waiting else None

    def switch_vectors(self, model: str) -> bool:
        space = self._space
        held = {chunk.vector_key for chunks in space.chunks.values() for chunk in chunks}
        if held - space.waiting.keys() or (held and space.waiting_model != model):
            return False
        waiting = dict(space.waiting)
        self.drop_vectors()
        self.put_vectors(model, waiting)
        self.drop_waiting_vectors()
        return True

    def drop_waiting_vectors(self) -> None:
        self._space.waiting, self._space.waiting_model = {}, None

    def put_events(self, events: Iterable[Event]) -> None:
        for event in events:
            access_list([f"user:{event.actor}"])
            check_texts(event.actor, event.verb, event.record_id)
            check_numbers(event.at)
            self._space.events |= {event}

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> None:
        check_origin(origin)
        for rule in rules:
            check_rule(rule)
        before = self._space.copy()
        self._space.rules[origin] = tuple(
            AccessRule(rule.glob, access_list(rule.principals)) for rule in rules
        )
        self._space.carry_vectors(before)

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        check_origin(origin)
        for group, users in groups.items():
            access_list([f"group:{group}", *(f"user:{user}" for user in users)])
        self._space.groups[origin] = {
            group: tuple(sorted(set(users))) for group, users in sorted(groups.items()) if users
        }

    def set_default(self, acl: Acl) -> None:
        before = self._space.copy()
        self._space.default = access_list(acl)
        self._space.carry_vectors(before)

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        self._space.stamps.update((stamp.path, stamp) for stamp in stamps)

    def unstamp(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._space.stamps.pop(path, None)

    def set_note(self, key: str, value: str | None) -> None:
        check_texts(key, value)
        if value is None:
            self._space.notes.pop(key, None)
        else:
            self._space.notes[key] = value


# --- the store ---------------------------------------------------------------------------------


@dataclass
class Place:
    """What a file is to an engine: stores that are opened on one place share its spaces."""

    spaces: dict[str, Space] = field(default_factory=dict)
    turns: defaultdict[str, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )
    writing: set[tuple[str, int]] = field(default_factory=set)
    """Spaces with the threads that write to them."""


class ReferenceStore:
    """A store that keeps spaces in dictionaries."""

    def __init__(
        self, limits: Limits | None = None, place: Place | None = None, wait: float = 30.0
    ) -> None:
        self.limits = limits or Limits()
        self._place = place or Place()
        self._wait = wait
        self._closed = False

    def space(self, name: str = MAIN) -> Space:
        """Return everything in a space."""
        if self._closed:
            raise InputError("the store is closed")
        return self._place.spaces.get(name) or Space()

    @contextmanager
    def view(self, viewer: Viewer, space: str = MAIN) -> Iterator[ReferenceView]:
        content = self.space(space)
        stored_groups = {
            group
            for origin in ORIGINS
            for group, users in content.groups[origin].items()
            if viewer.name in users
        }
        groups = tuple(sorted({*viewer.groups, *stored_groups}))
        view = ReferenceView(content, replace(viewer, groups=groups), self.limits)
        try:
            yield view
        finally:
            view.close()

    @contextmanager
    def write(self, space: str = MAIN) -> Iterator[ReferenceWriter]:
        if not space or len(space) > 200 or not space.isprintable():
            raise InputError(f"{space!r} is not a name for a space")
        with self._turn(space):
            writer = ReferenceWriter(self.space(space).copy())
            try:
                yield writer
            finally:
                writer.close()
            self._place.spaces[space] = writer._space

    @contextmanager
    def _turn(self, space: str) -> Iterator[None]:
        """Wait until nobody else writes to a space."""
        me = (space, threading.get_ident())
        if me in self._place.writing:
            raise StoreBusyError("this thread is already writing to this space")
        if not self._place.turns[space].acquire(timeout=self._wait):
            raise StoreBusyError("another thread is writing to this space")
        self._place.writing.add(me)
        try:
            yield
        finally:
            self._place.writing.remove(me)
            self._place.turns[space].release()

    def spaces(self) -> tuple[str, ...]:
        self.space()  # refuses a closed store
        return tuple(sorted(self._place.spaces))

    @contextmanager
    def export(self, space: str = MAIN) -> Iterator[ReferenceExport]:
        export = ReferenceExport(self.space(space))
        try:
            yield export
        finally:
            export.close()

    def model(self, space: str = MAIN) -> str | None:
        return self.space(space).model

    def reembedding(self, space: str = MAIN) -> Reembedding | None:
        content = self.space(space)
        if content.waiting_model is None:
            return None
        chunks = [chunk for chunks in content.chunks.values() for chunk in chunks]
        made = sum(chunk.vector_key in content.waiting for chunk in chunks)
        return Reembedding(content.waiting_model, made, len(chunks))

    def missing_vectors(
        self, space: str = MAIN, waiting_for: str | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        content = self.space(space)
        waiting = content.waiting if content.waiting_model == waiting_for else {}
        lacking = {
            chunk.vector_key: f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
            for chunks in content.chunks.values()
            for chunk in chunks
            if (
                content.vector(chunk) is None
                if waiting_for is None
                else chunk.vector_key not in waiting
            )
        }
        if lacking:
            yield list(lacking.items())

    def stamps(self, space: str = MAIN, under: str = "") -> dict[str, Stamp]:
        return {
            path: stamp
            for path, stamp in self.space(space).stamps.items()
            if not under or path == under or path.startswith(under + "/")
        }

    def rules(self, space: str = MAIN) -> dict[str, tuple[AccessRule, ...]]:
        return dict(self.space(space).rules)

    def groups(self, space: str = MAIN) -> dict[str, dict[str, tuple[str, ...]]]:
        return dict(self.space(space).groups)

    def note(self, key: str, space: str = MAIN) -> str | None:
        return self.space(space).notes.get(key)

    def merge(self, space: str = MAIN) -> None:
        """Delete vectors that nothing uses; with the last one goes the model."""
        with self._turn(space):
            content = self.space(space).copy()
            used = content.needed_vectors()
            living = {key: vector for key, vector in content.vectors.items() if key in used}
            if len(living) < len(content.vectors):
                content.vectors = living
                content.model, content.dims = (content.model, content.dims) if living else (None, 0)
            held = {chunk.vector_key for chunks in content.chunks.values() for chunk in chunks}
            content.waiting = {key: data for key, data in content.waiting.items() if key in held}
            content.waiting_model = content.waiting_model if content.waiting else None
            self._place.spaces[space] = content

    def old_vectors(self, space: str = MAIN) -> int:
        return len(self._old(self.space(space)))

    def _old(self, content: Space) -> list[tuple[str, bytes]]:
        """Return the vectors that no chunk uses, the oldest first; equal ones of a text are one."""
        used = content.needed_vectors()
        pairs = {
            (key, vector) for (acl, key), vector in content.vectors.items() if (acl, key) in used
        }
        every = dict.fromkeys((key, vector) for (_, key), vector in content.vectors.items())
        return [pair for pair in every if pair not in pairs]

    def prune_vectors(self, keep: int, space: str = MAIN) -> int:
        with self._turn(space):
            content = self.space(space).copy()
            old = self._old(content)
            gone = old[: max(0, len(old) - keep)]
            content.vectors = {
                (acl, key): vector
                for (acl, key), vector in content.vectors.items()
                if (key, vector) not in gone
            }
            if not content.vectors:
                content.model, content.dims = None, 0
            self._place.spaces[space] = content
        return len(gone)

    def shrink(self) -> None:
        self.space()  # refuses a closed store

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        with self.write(space) as writer:
            removed = writer.remove(ids)
            content = writer._space
            content.stamps = {
                path: stamp for path, stamp in content.stamps.items() if stamp.record_id not in ids
            }
        self.merge(space)
        return removed

    def index_problem(self, space: str = MAIN) -> str | None:
        self.space(space)  # refuses a closed store
        return None

    @property
    def search_count(self) -> HitCount:
        return HitCount()

    def check(self, *, repair: bool = False) -> list[Problem]:  # noqa: ARG002 - nothing to repair
        self.space()  # refuses a closed store
        with ExitStack() as turns:
            for space in sorted(self._place.spaces):
                turns.enter_context(self._turn(space))
        return []

    def close(self) -> None:
        self._closed = True

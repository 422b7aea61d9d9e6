"""The contracts between packages: embedder, reranker, counter, searcher, judge, writer, store.

`tests/store/contract.py` is the conformance suite of the store: every engine must pass it.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    Awaitable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from typing import Protocol

from quire.core.types import (
    LITERAL,
    NO_FILTER,
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
    Place,
    Problem,
    Proof,
    Record,
    RecordProof,
    Reembedding,
    RetrievalResult,
    Roots,
    Situation,
    SpaceState,
    Stamp,
    Status,
    Verdict,
    Viewer,
    Wording,
    WriteResult,
    WriteTask,
)


class Embedder(Protocol):
    """Turns text into int8 vectors, the same ones every time."""

    @property
    def model(self) -> str:
        """The name that identifies these vectors: model, its hash, dimensions, scale."""

    @property
    def dims(self) -> int:
        """The number of dimensions of a vector."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one int8 vector for each text, in order."""

    def embed_query(self, text: str) -> bytes:
        """Return the int8 vector of a query (some models need a prefix for those)."""

    def close(self) -> None:
        """Release sessions and connections."""


class Reranker(Protocol):
    """Scores texts by how well they answer a query, such as a cross-encoder does."""

    @property
    def name(self) -> str:
        """The name that identifies these scores; part of a receipt."""

    def rerank(self, query: str, texts: Sequence[str], /) -> Sequence[float]:
        """Return one score for each text, in order; a higher one is better, on any scale."""


class Counter(Protocol):
    """Counts the tokens of a text as a model does."""

    @property
    def name(self) -> str:
        """The name that identifies these counts; part of a receipt."""

    @property
    def exact(self) -> bool:
        """Whether the model itself would count the same."""

    @property
    def note(self) -> str | None:
        """What a user should know about a counter that is not exact."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""


class Searcher(Protocol):
    """A retriever of the caller's own, for `ContextAssembler`."""

    def search(
        self, query: str, k: int, /
    ) -> (
        Iterable[RetrievalResult]
        | AsyncIterable[RetrievalResult]
        | Awaitable[Iterable[RetrievalResult]]
    ):
        """Return up to k results for a query, in any order; it may be a coroutine."""


class Judge(Protocol):
    """Decides whether sentences hold in a situation."""

    @property
    def name(self) -> str:
        """The name that identifies these verdicts: model, threshold, prompt."""

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Return one verdict for each sentence, in order; one may say that judging failed.

        The situation comes without its time: a cached verdict must not depend on it.
        """

    def close(self) -> None:
        """Release connections."""


class TextWriter(Protocol):
    """Writes texts about other texts: summaries and principles."""

    @property
    def name(self) -> str:
        """The name that identifies the model and its prompt."""

    def write(self, tasks: Sequence[WriteTask]) -> list[WriteResult]:
        """Return one result for each task, in order; one that failed says why."""

    def close(self) -> None:
        """Release connections."""


class View(Protocol):
    """One consistent snapshot of a space as one viewer may read it.

    Every count, statistic, neighbor and root in it is computed over readable rows only.

    State: a view shows the last committed state at the moment of its opening, whatever is written
    or committed afterwards, also by a writer of the same store, and also if the view was opened
    while that writer was open. A later view sees the commit.

    Threads: any number of threads may call any methods of one view at the same time.

    Lifetime: a view lasts as long as the `with` block of `Store.view`. Afterwards every method,
    and every iterator that `listing` returned, raises `InputError`; `viewer` and all values that
    were returned stay valid. The end of the block does not wait for calls that other threads have
    begun: each of them returns what the snapshot says, or raises the same `InputError`.

    Errors: whatever goes wrong is a `QuireError`, in any thread; never an error of the engine.
    """

    @property
    def viewer(self) -> Viewer:
        """The viewer, with all groups."""

    def roots(self) -> Roots:
        """Return the hashes over everything readable."""

    def coverage(self) -> Coverage:
        """Return how much there is to search."""

    def status(self) -> Status:
        """Return how much the space holds."""

    def lexical(
        self,
        query: str,
        k: int,
        where: Filter = NO_FILTER,
        *,
        reach: int = 0,
        wording: Wording = LITERAL,
    ) -> Hits:
        """Find the k chunks whose words match best (integer BM25).

        With a reach (up to 3), the neighbors of the k best chunks in their records are scored,
        too: each word counts where its weight is highest, and loses a quarter of it with each
        position of distance. Chunks of code have no neighbors.

        By the `wording`, common words of questions count less, and words that are used for those of
        the query count as well, in chunks that do not hold the word itself.
        """

    def match_all(
        self, names: Sequence[str], limit: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that contain all its words; none if over `limit` do."""

    def rarities(self, query: str) -> dict[str, int]:
        """Return how rare each word of a query is (integer idf over the readable chunks).

        A word that no chunk holds is as rare as one that a single chunk holds.
        """

    def languages(self) -> dict[str, int]:
        """Return how many readable chunks there are of each language but English, by its code."""

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        """Find the k chunks whose vectors are nearest (int8 dot product)."""

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return chunks by id, in that order, without absent, unreadable and damaged ones."""

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these chunks that are the only one of their record, if readable."""

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Return records by id, in that order, without absent and unreadable ones."""

    def unshared(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these records that other users wrote and shared with nobody here.

        These are the memories, experiences and blocks (below `.quire/`) with an author that the
        viewer may read as the owner alone, and what was derived from them (links `member`).
        """

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        """Yield all readable records by path, then id."""

    def count(self, where: Filter = NO_FILTER) -> int:
        """Return how many readable chunks pass a filter."""

    def metadata_keys(self) -> tuple[str, ...]:
        """Return the keys of the metadata of readable records, sorted."""

    def metadata_kinds(self, key: str) -> tuple[str, ...]:
        """Return the kinds of the values that readable records have under a key, sorted."""

    def facets(self, limit: int) -> tuple[Facet, ...]:
        """Count the values of the metadata of readable records, by key.

        Of each key, the `limit` most frequent values; of equally frequent ones the first in the
        order of kinds and values.
        """

    def last_expiry(self, at: int) -> int | None:
        """Return the last moment until `at` at which a readable record expired; None: none has."""

    def expired(self, at: int) -> list[Record]:
        """Return the readable records that have expired at a moment, by path, then id."""

    def children(self, parents: Sequence[str]) -> list[Record]:
        """Return the children of these records, parent by parent, by position, then id."""

    def chunks_of(self, record_id: str) -> list[Chunk]:
        """Return the chunks of one record in reading order; `StoreDamagedError` if one is damaged.

        Whoever asks for a whole record must not take a part of it for the whole.
        """

    def damaged(self) -> tuple[str, ...]:
        """Return the paths of which something was left out so far because it is damaged, in order.

        Searches and reads of several chunks or records leave out what cannot be read, or is not as
        it was written, and name it here. If that is not asked for afterwards, the end of the view's
        block raises `StoreDamagedError`: nobody takes less for the whole without knowing.
        """

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the int8 vectors of chunks by id, of those that have one and are readable."""

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        """Return the links from (or, with `back`, to) these records, if both ends are readable."""

    def outlines(self, ids: Sequence[str]) -> Mapping[str, Outline]:
        """Return the outlines of these records, of those that have one and are readable.

        A damaged outline may raise only when it is looked up in the result.
        """

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        """Return the definitions of these names, ordered by name, path and position."""

    def references(self, names: Sequence[str]) -> list[Mention]:
        """Return the uses of these names, ordered by name, path and position."""

    def latest_activity(self) -> int | None:
        """Return the time of the last readable event, commit, memory or experience."""

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        """Return events on readable records, newest first.

        Everybody but the owner sees only their own events.
        """

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk is part of this view's content root."""

    def prove_all(self, chunk_ids: Sequence[str]) -> list[Proof]:
        """Prove it of several chunks, in their order: of many, with few questions to the store."""

    def prove_record(self, record_id: str) -> RecordProof:
        """Prove that a record with its metadata is part of this view's content root.

        The hash of a record covers who may read it, and so does the proof.
        """


class Writer(Protocol):
    """One write transaction on one space.

    All of it is committed when the `with` block of `Store.write` ends, or none of it if the block
    raises. Until then only the writer itself knows of it: no view sees it.

    A writer is not thread-safe: the thread that opened it uses it and ends its block. After the
    block every method raises `InputError`.
    """

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> bool:
        """Add a record with its chunks, outgoing links and outline, or replace it.

        Returns whether anything changed.
        """

    def update(self, record: Record) -> bool:
        """Replace what is said of a record, but not its chunks, links and outline.

        Its kind, path and language must stay. Returns whether anything changed; an absent record
        is left out.
        """

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        """Set the modification times of records; absent ones are skipped."""

    def remove(self, ids: Iterable[str]) -> int:
        """Remove records with all that belongs to them; return how many existed."""

    def put_vectors(
        self, model: str, vectors: Mapping[str, bytes], chunks: Collection[str] | None = None
    ) -> None:
        """Store vectors by their key; the first ones set the space's model.

        A vector serves all chunks of its text. With `chunks`, it serves the access lists of these
        chunks alone: who embeds what they wrote must change nothing for others who hold the same
        text, or they could tell that it was written.
        """

    def drop_vectors(self) -> None:
        """Delete all vectors and the model."""

    def put_waiting_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors, by their key, that will replace all others.

        No search sees them, and no root covers them, before they are switched to. Those of another
        model are deleted, and those of texts that the space does not hold are not kept.
        """

    def switch_vectors(self, model: str) -> bool:
        """Replace all vectors by the waiting ones of a model, if no text lacks one.

        Returns whether it was done; if not, nothing changed.
        """

    def drop_waiting_vectors(self) -> None:
        """Delete the vectors that wait."""

    def put_events(self, events: Iterable[Event]) -> None:
        """Add events; a repeated event is stored once."""

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules of one origin (`config`, then `command`) with effect now."""

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups of one origin."""

    def set_default(self, acl: tuple[str, ...]) -> None:
        """Set who may read what no rule matches."""

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        """Record the state of files."""

    def unstamp(self, paths: Iterable[str]) -> None:
        """Forget the state of files."""

    def set_note(self, key: str, value: str | None) -> None:
        """Store a setting of the space that is not part of its state (its root directory).

        None deletes it.
        """


class Export(Protocol):
    """One consistent snapshot of all that a space holds, whoever may read it, to be copied.

    It lasts as long as the `with` block of `Store.export`, and one thread uses it. It shows the
    last committed state at the moment of its opening, whatever is written meanwhile.
    """

    def roots(self) -> Roots:
        """Return the hashes over everything, which are the owner's."""

    def count(self) -> Coverage:
        """Return how many chunks and vectors there are."""

    def state(self) -> SpaceState:
        """Return what the space holds beside its records."""

    def places(self) -> Iterator[Place]:
        """Yield path and id of each record by path, then id."""

    def entries(self, after: Place | None = None) -> Iterator[Entry]:
        """Yield all records with all that belongs to them, by path, then id.

        With `after`, only those that follow it in this order. Raises `StoreDamagedError` for what
        is not as it was written: a copy must not pass damage on.
        """


class Store(Protocol):
    """Holds spaces, and shows each viewer only what they may read.

    A store may be used by any number of threads at once, and its place by several processes. The
    methods that read without a viewer (`spaces`, `model`, `stamps`, `rules`, `groups`, `note`)
    return the last committed state; they, like views, may be called while a writer is open.
    """

    def view(self, viewer: Viewer, space: str = "main") -> AbstractContextManager[View]:
        """Open a snapshot for a viewer.

        Any number of views may be open at once, in one thread or in many, of different states,
        and beside an open writer, also in the same thread and in either order. A space that does
        not exist is empty.
        """

    def write(self, space: str = "main") -> AbstractContextManager[Writer]:
        """Open the write transaction of a space, which is created if it does not exist.

        At most one writer of a space is open at a time (an engine may allow only one for the
        whole store). Another thread or process waits for its turn, then sees what the first one
        committed; if it waits too long it raises `StoreBusyError`, and so does a thread that
        already has a writer open. Open views never wait, and are never waited for.
        """

    def spaces(self) -> tuple[str, ...]:
        """Return the names of the spaces, sorted."""

    def export(self, space: str = "main") -> AbstractContextManager[Export]:
        """Open a snapshot of all that a space holds, to be copied.

        It asks for no viewer: whoever calls it is the owner.
        """

    def model(self, space: str = "main") -> str | None:
        """Return the model of the space's vectors, or None if it has none."""

    def reembedding(self, space: str = "main") -> Reembedding | None:
        """Return how many chunks have a waiting vector, or None if there is none."""

    def missing_vectors(
        self, space: str = "main", waiting_for: str | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """Yield the texts without a vector, in batches of (key, text to embed).

        With `waiting_for`, those without a waiting vector of this model.

        Nothing is held open between batches: the caller may write each before asking for more.
        """

    def stamps(self, space: str = "main", under: str = "") -> dict[str, Stamp]:
        """Return the recorded states of files, by path."""

    def rules(self, space: str = "main") -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules by origin."""

    def groups(self, space: str = "main") -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups and their members by origin."""

    def note(self, key: str, space: str = "main") -> str | None:
        """Return a setting of the space, or None if it is not set."""

    def merge(self, space: str = "main") -> None:
        """Merge small writes; no result changes. It takes its turn like a writer."""

    def old_vectors(self, space: str = "main") -> int:
        """Return how many vectors of texts are kept that are gone; they may come back."""

    def prune_vectors(self, keep: int, space: str = "main") -> int:
        """Delete vectors of texts that are gone, the oldest first, but for the `keep` newest.

        Returns how many were deleted. It takes its turn like a writer; no result changes.
        """

    def shrink(self) -> None:
        """Give the room of what was deleted back, where an engine can; no result changes."""

    def purge(self, ids: Sequence[str], space: str = "main") -> int:
        """Remove records so that no byte of them is left; return how many existed.

        It takes its turn like a writer. While a view is open, an engine may be unable to erase
        the last bytes: the records are removed, and `StoreBusyError` says to call it again.
        """

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything, and repair what can be derived again; takes its turn like a writer."""

    def index_problem(self, space: str = "main") -> str | None:
        """Return why an index of vectors outside the store is not asked; None if nothing is wrong.

        There may be no such index: then nothing is.
        """

    @property
    def search_count(self) -> HitCount:
        """How many semantic searches there were since the store was opened.

        Hits are those that a cache answered. An engine without one has no hits. A closed store
        still tells.
        """

    def close(self) -> None:
        """Close the store; calling it again does nothing.

        Views and writers that are open stay usable until their block ends, and release what they
        hold then. Everything else raises `InputError`: a closed store is opened again by
        `open_store`. Closing one opened store does not affect another one of the same place.
        """

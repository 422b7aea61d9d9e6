"""The contracts between packages: embedder, counter, judge, writer and store.

`tests/store/contract.py` is the conformance suite of the store: every engine must pass it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from quire.core.types import (
    NO_FILTER,
    AccessRule,
    Chunk,
    Coverage,
    Event,
    Filter,
    Hit,
    Hits,
    Link,
    Mention,
    Outline,
    Problem,
    Proof,
    Record,
    Roots,
    Situation,
    Stamp,
    Status,
    Verdict,
    Viewer,
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

    def lexical(self, query: str, k: int, where: Filter = NO_FILTER, *, reach: int = 0) -> Hits:
        """Find the k chunks whose words match best (integer BM25).

        With a reach (up to 3), the neighbors of the k best chunks in their records are scored,
        too: each word counts where its weight is highest, and loses a quarter of it with each
        position of distance. Chunks of code have no neighbors.
        """

    def match_all(
        self, names: Sequence[str], limit: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that contain all its words; none if over `limit` do."""

    def rarities(self, query: str) -> dict[str, int]:
        """Return how rare each word of a query is (integer idf over the readable chunks).

        A word that no chunk holds is as rare as one that a single chunk holds.
        """

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
    ) -> None:
        """Add a record with its chunks, outgoing links and outline, or replace it."""

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

    def set_note(self, key: str, value: str) -> None:
        """Store a setting of the space that is not part of its state (its root directory)."""


class Store(Protocol):
    """Holds spaces, and shows each viewer only what they may read.

    A store may be used by any number of threads at once, and its place by several processes. The
    methods that read without a viewer (`model`, `stamps`, `rules`, `groups`, `note`) return the
    last committed state; they, like views, may be called while a writer is open.
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

    def model(self, space: str = "main") -> str | None:
        """Return the model of the space's vectors, or None if it has none."""

    def missing_vectors(self, space: str = "main") -> Iterator[list[tuple[str, str]]]:
        """Yield the texts without a vector, in batches of (key, text to embed).

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

    def purge(self, ids: Sequence[str], space: str = "main") -> int:
        """Remove records so that no byte of them is left; return how many existed.

        It takes its turn like a writer. While a view is open, an engine may be unable to erase
        the last bytes: the records are removed, and `StoreBusyError` says to call it again.
        """

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything, and repair what can be derived again; takes its turn like a writer."""

    def close(self) -> None:
        """Close the store; calling it again does nothing.

        Views and writers that are open stay usable until their block ends, and release what they
        hold then. Everything else raises `InputError`: a closed store is opened again by
        `open_store`. Closing one opened store does not affect another one of the same place.
        """

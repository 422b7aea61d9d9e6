"""What a room promises to the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        """The name that stands for these very vectors: model, its hash, dimensions, scale."""

    @property
    def dims(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give one int8 vector for each text, in order."""

    def embed_query(self, text: str) -> bytes:
        """Give the int8 vector of a question (some models want a prefix for those)."""

    def close(self) -> None:
        """Let go of sessions and connections."""


class Counter(Protocol):
    """Tells how long a text is for a model."""

    @property
    def name(self) -> str:
        """The name that stands for these very counts; part of a receipt."""

    @property
    def exact(self) -> bool:
        """Whether the model itself would count the same."""

    @property
    def note(self) -> str | None:
        """What a user should know of a counter that is not exact."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""


class Judge(Protocol):
    """Tells whether sentences hold in a situation."""

    @property
    def name(self) -> str:
        """The name that stands for these very verdicts: model, threshold, wording."""

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Give one verdict for each sentence, in order; what cannot be judged is one that failed.

        The situation comes without its time: a verdict that is kept must not depend on it.
        """

    def close(self) -> None:
        """Let go of connections."""


class TextWriter(Protocol):
    """Writes texts of texts."""

    @property
    def name(self) -> str:
        """The name that stands for what writes, and how it is asked."""

    def write(self, orders: Sequence[WriteTask]) -> list[WriteResult]:
        """Give one text for each order, in order; what failed says why."""

    def close(self) -> None:
        """Let go of connections."""


class View(Protocol):
    """One consistent snapshot of a space as one viewer may read it.

    Every count, statistic, neighbour and root in it is computed over readable rows only.
    """

    @property
    def viewer(self) -> Viewer:
        """Who reads, with all groups."""

    def roots(self) -> Roots:
        """The hashes over everything readable."""

    def coverage(self) -> Coverage:
        """How much there is to search."""

    def status(self) -> Status:
        """How much is here."""

    def lexical(self, query: str, k: int, where: Filter = NO_FILTER, *, reach: int = 0) -> Hits:
        """Find the k chunks whose words match best (integer BM25).

        With a reach (up to 3), the chunks around the k best of a record count, too: each word is
        taken where it is worth most, and loses a quarter of its worth with each chunk further
        away. Code stands alone.
        """

    def match_all(
        self, names: Sequence[str], most: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that hold all its words; none if more than `most` do."""

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        """Find the k chunks whose vectors are nearest (int8 dot product)."""

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Fetch chunks by id, in that order; what is absent or not readable is left out."""

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Tell which of these chunks are all that their record has; no unreadable ones."""

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Fetch records by id, in that order; what is absent or not readable is left out."""

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        """Go through all readable records by path, then id."""

    def children(self, parents: Sequence[str]) -> list[Record]:
        """Fetch the records that stand in these, parent by parent, by position, then id.

        The parent itself need be neither readable nor there.
        """

    def chunks_of(self, record_id: str) -> list[Chunk]:
        """Fetch the chunks of one record in reading order."""

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Fetch the int8 vectors of chunks by id; what has none or is not readable is left out."""

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        """Fetch the links from (or, with `back`, to) these records; both ends readable."""

    def outlines(self, ids: Sequence[str]) -> Mapping[str, Outline]:
        """Fetch the outlines of these records; what has none or is not readable is left out.

        One that is damaged may say so only when it is looked at.
        """

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        """Find what these names may mean, in the order of name, path and place."""

    def references(self, names: Sequence[str]) -> list[Mention]:
        """Find who uses these names, in the order of name, path and place."""

    def latest_activity(self) -> int | None:
        """Tell when the last event, commit, memory or experience was that this viewer may read."""

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        """Fetch events on readable records, newest first."""

    def prove(self, chunk_id: str) -> Proof:
        """Show that a chunk is under this view's content root."""


class Writer(Protocol):
    """One transaction. All of it is kept when the block ends, or none of it."""

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> None:
        """Add a record with its chunks, outgoing links and outline, or replace it."""

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        """Say when these records were modified; all else of them stays, absent ones are passed."""

    def remove(self, ids: Iterable[str]) -> int:
        """Remove records with all that belongs to them; gives how many there were."""

    def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by their key; the first ones set the space's model."""

    def drop_vectors(self) -> None:
        """Forget all vectors and the model."""

    def put_events(self, events: Iterable[Event]) -> None:
        """Add events; the same event twice is one event."""

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules of one origin (`config`, then `command`); takes effect now."""

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups of one origin."""

    def set_default(self, acl: tuple[str, ...]) -> None:
        """Say who may read files that no rule matches."""

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        """Remember what files looked like."""

    def unstamp(self, paths: Iterable[str]) -> None:
        """Forget files."""

    def set_note(self, key: str, value: str) -> None:
        """Keep a setting of the space that is not part of its state (its root directory)."""


class Store(Protocol):
    """Keeps spaces; answers only with what a viewer may read."""

    def view(self, viewer: Viewer, space: str = "main") -> AbstractContextManager[View]:
        """Open a snapshot for a viewer."""

    def write(self, space: str = "main") -> AbstractContextManager[Writer]:
        """Open the one write transaction; waits for another writer, then gives up clearly."""

    def model(self, space: str = "main") -> str | None:
        """Tell which model's vectors the space holds."""

    def missing_vectors(self, space: str = "main") -> Iterator[list[tuple[str, str]]]:
        """Go through what has no vector yet: batches of (key, text to embed)."""

    def stamps(self, space: str = "main", under: str = "") -> dict[str, Stamp]:
        """Tell what files looked like when they were indexed."""

    def rules(self, space: str = "main") -> dict[str, tuple[AccessRule, ...]]:
        """Tell the access rules by origin."""

    def groups(self, space: str = "main") -> dict[str, dict[str, tuple[str, ...]]]:
        """Tell the groups by origin."""

    def note(self, key: str, space: str = "main") -> str | None:
        """Read a setting of the space."""

    def merge(self, space: str = "main") -> None:
        """Fold small writes together; changes no result."""

    def purge(self, ids: Sequence[str], space: str = "main") -> int:
        """Remove records so that no byte of them is left in the file."""

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything; repair what can be derived again."""

    def close(self) -> None:
        """Close the store."""

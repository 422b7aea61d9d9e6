"""What does a search find, and how is it shown to be right?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quire.core.types.outline import Entity, category
from quire.core.types.recipe import Section
from quire.core.types.records import Chunk, Record
from quire.core.types.rules import ActiveContext


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found, with all that its place in a total order needs."""

    id: str
    score: int
    path: str
    sequence: int
    start: int

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Sort key: score (descending), then path, sequence, offset, id."""
        return (-self.score, self.path, self.sequence, self.start, self.id)


@dataclass(frozen=True, slots=True)
class Hits:
    """What one search found, best first, and whether the search was exhaustive."""

    hits: tuple[Hit, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class FusionStats:
    """Facts about the hits and the query that change how much a ranking counts."""

    truncated: frozenset[str] = frozenset()
    """Sources that returned as many hits as they were asked for: more may match, none better."""
    single_chunks: frozenset[str] = frozenset()
    """Chunks that are the only one of their record."""
    query_words: int = 0
    """Number of different words in the query."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk with the signals that speak for it and the score that they add up to."""

    chunk: Chunk
    score: int
    signals: Mapping[str, int]
    entity: Entity | None = None
    """What it is a part of, where that was looked up."""
    language: str = ""
    """The programming language that it is written in, likewise."""
    record: Record | None = None
    """What it was cut from, likewise."""
    crumbs: tuple[str, ...] = ()
    """The titles of the pages that it stands in, the outermost first, likewise."""
    place: tuple[tuple[int, str], ...] = ()
    """Where it stands in the tree: position and id of what it stands in, then its own; likewise."""
    context: ActiveContext | None = None
    """The context that it is, and how much that counts, where rules were asked."""
    section: Section | None = None
    """The part of the page that it was found for, if the page has parts."""

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Sort key: score (descending), then path, sequence, offset, id."""
        chunk = self.chunk
        return (-self.score, chunk.path, chunk.sequence, chunk.start, chunk.id)

    boosted: int = 0
    """The part of the score that boosts added: it is new, or can be trusted."""

    @property
    def path(self) -> str:
        """The path of the record that the chunk is part of."""
        return self.chunk.path

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the chunk."""
        return self.chunk.lines

    @property
    def title(self) -> str:
        """The title of the chunk."""
        return self.chunk.title

    @property
    def text(self) -> str:
        """The text of the chunk."""
        return self.chunk.text

    @property
    def relevance(self) -> int:
        """The score without what boosts added."""
        return self.score - self.boosted


def category_of(candidate: Candidate) -> str:
    """Tell to which group of a context a candidate belongs: `code`, `documentation`, …"""
    kind = candidate.chunk.kind if candidate.entity is None else candidate.entity.kind
    return category(kind)


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not answer, and why; the rest still does."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Roots:
    """Two hashes over all that a viewer may read: the content, and the content with vectors."""

    content: str
    state: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many chunks there are to search, and how many of them have vectors, of which model."""

    chunks: int
    vectors: int
    model: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """Shows that a chunk is under a content root, without the rest of the store.

    `bucket` holds the (key, hash) pairs of the chunk's bucket, the chunk's own included;
    `nodes` the (position, hash) pairs of the buckets beside it and `top` those of the nodes
    above; `classes` the roots of all access classes that the viewer may read. Nothing in it
    stems from what the viewer may not read.
    """

    chunk_id: str
    leaf: str
    bucket: tuple[tuple[str, str], ...]
    nodes: tuple[tuple[int, str], ...]
    top: tuple[tuple[int, str], ...]
    classes: tuple[str, ...]

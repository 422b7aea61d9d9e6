"""Hits, candidates and failures of a search; roots and proofs of what a viewer may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types.outline import Entity, Unit, category
from quire.core.types.recipe import Section
from quire.core.types.records import Chunk, MetadataValue, Record
from quire.core.types.rules import ActiveContext


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found, with all fields of the total order."""

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
    """The hits of one search, best first, and whether every vector was compared."""

    hits: tuple[Hit, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Wording:
    """How far a search by words goes beyond the words of the query, in percent of their weight."""

    common: int = 100
    """What words count that people use whatever they ask about."""
    related: int = 0
    """What words count that people use in place of those of the query."""


LITERAL = Wording()
"""Only the words of the query count, each by its rarity."""
ALL_COVERED = 1000


@dataclass(frozen=True, slots=True)
class FusionStats:
    """Facts about the hits and the query that change how much a ranking counts."""

    truncated: frozenset[str] = frozenset()
    """Sources that returned as many hits as they were asked for: more may match, none better."""
    single_chunks: frozenset[str] = frozenset()
    """Chunks that are the only one of their record."""
    query_words: int = 0
    """Number of different words in the query."""
    covered: int = ALL_COVERED
    """Thousandths of the readable chunks that have a vector."""
    languages: Mapping[str, str] = field(default_factory=dict)
    """The languages of chunks that are not English."""
    english_model: bool = False
    """Whether the model of the vectors was made for English."""
    code_chunks: frozenset[str] = frozenset()
    """Chunks of source code."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk with its score and the signals that the score is made of."""

    chunk: Chunk
    score: int
    signals: Mapping[str, int]
    entity: Entity | None = None
    """The entity that it belongs to, if that was looked up."""
    language: str = ""
    """Its programming language, likewise."""
    record: Record | None = None
    """The record that it is a chunk of, likewise."""
    crumbs: tuple[str, ...] = ()
    """The titles of the pages that contain it, the outermost first, likewise."""
    heading: str = ""
    """The title of the heading that it stands under on its page, likewise."""
    place: tuple[tuple[int, str], ...] = ()
    """Its place in the hierarchy: position and id of each ancestor, then its own; likewise."""
    relations: tuple[str, ...] = ()
    """What relates it to other pages: a line for each relation, with their titles; likewise."""
    recurs: int = 0
    """How many experiences have its root cause, if several do; likewise."""
    reading: tuple[int, int] | None = None
    """Its place among the blocks of the page that the user is viewing, and their number."""
    context: ActiveContext | None = None
    """The context that it is, with its priority, if rules were evaluated."""
    section: Section | None = None
    """The section that it was found for, if the recipe has sections."""
    author: str = ""
    """Who wrote it, if it was another user than the viewer and that was looked up."""
    unit: Unit | None = None
    """The definition that it is shown as, if it is code and that was looked up."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)
    """The metadata of its document, if that was looked up."""

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Sort key: score (descending), then path, sequence, offset, id."""
        chunk = self.chunk
        return (-self.score, chunk.path, chunk.sequence, chunk.start, chunk.id)

    document: str = ""
    """The file and line that it was imported from, if it is a block and that was looked up."""
    likely: bool = True
    """Whether it is likely to help, as far as a search can tell."""
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
    def content(self) -> str:
        """Everything that it says: the text of the chunk, or the whole of a context."""
        return self.chunk.text if self.context is None else self.context.context.content

    @property
    def relevance(self) -> int:
        """The score without what boosts added."""
        return self.score - self.boosted


def category_of(candidate: Candidate) -> str:
    """Return the category of a candidate: `code`, `documentation`, `conversation` or `other`."""
    kind = candidate.chunk.kind if candidate.entity is None else candidate.entity.kind
    return category(kind)


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that failed, and the reason; the others still answer."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Roots:
    """Two hashes over everything that a viewer may read: content, and content with vectors."""

    content: str
    state: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of chunks to search, and of those with vectors, with the model of the vectors."""

    chunks: int
    vectors: int
    model: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """Proof that a chunk is under a content root, without the rest of the store.

    `bucket` holds the (key, hash) pairs of the chunk's bucket, including its own; `nodes` the
    (position, hash) pairs of the buckets beside it and `top` those of the nodes above; `classes`
    the roots of all access classes that the viewer may read. Nothing in it depends on what the
    viewer may not read.
    """

    chunk_id: str
    """The key of the leaf: the chunk's id, or in a `RecordProof` one made of the record's id."""
    leaf: str
    bucket: tuple[tuple[str, str], ...]
    nodes: tuple[tuple[int, str], ...]
    top: tuple[tuple[int, str], ...]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordProof:
    """Proof that a record with its metadata, expiry and readers is under a content root.

    It has everything that the hash of a record covers, and none of its text.
    """

    record: Record
    readers: tuple[str, ...] | tuple[tuple[str, ...], ...]
    """Who may read it; of several lists, those who are on each of them."""
    outline: str | None
    """The hash of its outline, where it has one."""
    proof: Proof

"""What crosses from room to room: frozen values, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from quire import hashes

MAIN = "main"
PUBLIC = "public"
NO_ATTRS: Mapping[str, str | int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was ingested: a document, a source file, a commit, a memory.

    The text itself is kept by the record's chunks, which together cover it.
    """

    id: str
    kind: str
    path: str
    title: str = ""
    parent: str | None = None
    position: int = 0
    modified: int | None = None
    """Seconds since 1970, UTC; from git, front matter or the caller, never from the disk."""
    author: str | None = None
    acl: tuple[str, ...] | None = None
    """Who may read it (`public`, `user:NAME`, `group:NAME`); None: the space's rules decide."""
    attrs: Mapping[str, str | int] = field(default_factory=lambda: NO_ATTRS)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a record's text, with its place in it."""

    id: str
    record_id: str
    kind: str
    path: str
    title: str
    """The headings (or enclosing definitions) above it, joined by ` > `; never the path."""
    sequence: int
    start: int
    """Offset of the first byte in the record's text as UTF-8."""
    end: int
    lines: tuple[int, int]
    """First and last line, counted from 1; (0, 0) where lines mean nothing."""
    text: str

    @property
    def vector_key(self) -> str:
        """The name of the vector that stands for this text."""
        return hashes.vector_key(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Link:
    """A directed tie between two records; the target need not exist (yet)."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a person did to a record at a time: an edit, a view."""

    actor: str
    verb: str
    record_id: str
    at: int


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks. The owner reads everything; others what their name and groups allow."""

    name: str
    groups: tuple[str, ...] = ()
    owner: bool = False

    @property
    def principals(self) -> frozenset[str]:
        """All names under which access may have been given to this viewer."""
        named = {f"user:{self.name}"} if self.name else set()
        return frozenset({PUBLIC, *named, *(f"group:{group}" for group in self.groups)})

    def may_read(self, acl: tuple[str, ...]) -> bool:
        """Tell whether an access list lets this viewer read."""
        return self.owner or not self.principals.isdisjoint(acl)


OWNER = Viewer(name="", owner=True)


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Files that match the glob may be read by these principals; the last match decides."""

    glob: str
    principals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks may answer at all. Filters never change how the others are scored."""

    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs as in .gitignore; a chunk passes if the last one that matches is not negated."""
    since: int | None = None
    until: int | None = None


NO_FILTER = Filter()


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
class Candidate:
    """A chunk with the signals that speak for it and the score that they add up to."""

    chunk: Chunk
    score: int
    signals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How two rankings become one."""

    lexical: int = 1
    """The weight of the ranking by words."""
    semantic: int = 1
    """The weight of the ranking by meaning."""
    constant: int = 60
    """Added to each rank before it is inverted (reciprocal rank fusion)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not answer, and why; the rest still does."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search gives: the candidates, best first, and all that must be known of them."""

    results: tuple[Candidate, ...]
    state_root: str
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    """What the asker should know though nothing failed: vectors are missing, say."""
    exact: bool = True
    """Whether every readable vector was compared."""


@dataclass(frozen=True, slots=True)
class IndexResult:
    """What became of the files of a directory."""

    indexed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    chunks: int
    vectors: int
    missing_vectors: int
    state_root: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work has come."""

    stage: str
    """`read`, `embed` or `check`."""
    done: int
    total: int | None = None
    paths: tuple[str, ...] = ()
    """The files that have just been written for good."""


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
class Status:
    """What a store holds, as far as one viewer may know."""

    roots: Roots
    records: int
    chunks: int
    vectors: int
    missing_vectors: int
    model: str | None
    bytes: int
    """The owner: the size of the files on disk. Anyone else: the text that they may read."""


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


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looked like when it was indexed: enough to see that it has not changed."""

    path: str
    size: int
    mtime: int
    """Nanoseconds; -1 when the file was too fresh to be trusted and must be read again."""
    digest: str
    record_id: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of one file: the record, its chunks and its links."""

    record: Record
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file met on a walk: its path in the space (with `/`) and where it lies on disk."""

    path: str
    location: str
    size: int
    mtime: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a check of the store found, and whether it was repaired."""

    check: str
    detail: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """What is read from a directory, and how it is cut."""

    max_bytes: int = 16 * 1024 * 1024
    """Larger files are skipped and listed."""
    secrets: bool = False
    """Also read files that look like secrets."""
    ignore: tuple[str, ...] = ()
    """More patterns to leave out, as in .gitignore."""
    whole: int = 1600
    """A document of at most so many characters stays in one piece."""
    target: int = 800
    """A piece of prose is filled up to about so many characters."""
    code_max: int = 1500
    """A piece of source code has at most about so many characters."""
    use_mtime: bool = False
    """Let the file system's time stand for a record that has no other; part of the state then."""


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which embedder is used."""

    provider: str = "local"
    """`local`, `http` (OpenAI-compatible) or `none`."""
    folder: str | None = None
    """local: a folder with model.onnx and tokenizer.json in place of the shipped model."""
    model: str | None = None
    """http: the model's name."""
    url: str | None = None
    """http: the address up to and including the version, as in https://host/v1."""
    key_env: str = "QUIRE_EMBED_KEY"
    """http: the environment variable that holds the key."""
    query_prefix: str | None = None
    """Put before a question; None: what the model is known to want."""
    batch: int = 64
    """http: texts in one request."""
    timeout: float = 30.0
    """http: seconds for one request."""
    retries: int = 4
    """http: further tries after a failure that may pass."""
    threads: int = 0
    """local: texts embedded at the same time; 0: as many as there are cores."""

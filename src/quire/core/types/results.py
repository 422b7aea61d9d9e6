"""Results of commands: of a search, of indexing, of a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import overload

from quire.core.frozen import dataclass
from quire.core.types.candidates import Candidate, Failure, Roots
from quire.core.types.documents import Redaction, Skipped


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The candidates that a search found, best first."""

    results: tuple[Candidate, ...]
    state_root: str
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    """What the caller should know although nothing failed, such as missing vectors."""
    exact: bool = True
    """Whether every readable vector was compared."""

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        return self.results[index]


@dataclass(frozen=True, slots=True)
class IndexResult:
    """How many files were indexed, skipped and removed."""

    indexed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    chunks: int
    vectors: int
    missing_vectors: int
    state_root: str
    notes: tuple[str, ...] = ()
    commits: int = 0
    """How many commits are new in the store."""
    redacted: tuple[Redaction, ...] = ()
    """The secrets that were taken out of the texts that were read."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a long task."""

    stage: str
    """`history`, `read`, `put`, `embed`, `check`, `backup` or `copy`."""
    done: int
    total: int | None = None
    paths: tuple[str, ...] = ()
    """The files that were just committed to the store."""
    chunks: int = 0
    """Chunks, or vectors of chunks, that were written since the stage began."""
    workers: int = 1
    """How many workers do this at the same time."""


@dataclass(frozen=True, slots=True)
class HitCount:
    """How often something was asked for, and how often it was in a cache."""

    hits: int = 0
    total: int = 0

    @property
    def rate(self) -> float:
        """The share of hits, to a thousandth; 0 if nothing was asked for."""
        return round(self.hits / self.total, 3) if self.total else 0.0

    def plus(self, hits: int, total: int = 1) -> HitCount:
        """Return the count with more of both."""
        return HitCount(self.hits + hits, self.total + total)


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How often answers were in a cache."""

    contexts: HitCount = HitCount()
    searches: HitCount = HitCount()
    """Semantic searches that scored nothing but what had changed."""
    query_vectors: HitCount = HitCount()
    verdicts: HitCount = HitCount()
    """Verdicts of the judge on the sentences of rules."""


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What is kept on disk beside the texts; each has a limit among the settings."""

    old_vectors: int
    """Number of vectors of texts that are gone (`[embed] keep`)."""
    audit_log: int
    """Bytes of the log of what was handed out (`[audit] max_bytes`)."""
    verdicts: int
    """Bytes of the kept verdicts of the judge (`[judge] cache_bytes`)."""


@dataclass(frozen=True, slots=True)
class Facet:
    """The values that the metadata of readable records have under one key."""

    key: str
    records: int
    """How many records have it."""
    distinct: int
    """How many different values there are."""
    values: tuple[tuple[str | int | float | bool, int], ...]
    """The most frequent values, and how many records have each."""


@dataclass(frozen=True, slots=True)
class Reembedding:
    """New vectors that are being made, and replace all others when they are complete."""

    model: str
    """The model that makes them."""
    vectors: int
    """How many chunks have one."""
    chunks: int
    old_answer: bool = True
    """Whether the vectors that they replace answer until then; if not, words alone do."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a store contains, as far as one viewer may know."""

    roots: Roots
    records: int
    chunks: int
    vectors: int
    missing_vectors: int
    model: str | None
    bytes: int
    """For the owner the size of the files on disk, for others of the text that they may read."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """Number of readable chunks in each language but English, by its code."""
    notes: tuple[str, ...] = ()
    """What to know about it."""
    branch: str | None = None
    """The branch that was checked out when the directory was indexed; for the owner alone."""
    facets: tuple[Facet, ...] | None = None
    """The values of metadata by key, if they were asked for."""
    disk: DiskUse | None = None
    """What is kept beside the texts; for the owner alone."""
    caches: CacheUse | None = None
    """How often answers were in a cache, in all processes; for the owner alone."""
    reembedding: Reembedding | None = None
    """How far the vectors of another model are that will replace these; for the owner alone."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that a check of the store found, and whether it was repaired."""

    check: str
    detail: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """What verifying a receipt showed; iterate over it for the problems."""

    problems: tuple[str, ...]
    """What is wrong, one sentence each."""
    checked: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    """What was not checked, and why."""
    signature: str = "unsigned"
    """`yours`, `known` (of the key that was named), `foreign`, `invalid` or `unsigned`."""
    key: str = ""
    """The id of the key that signed it."""
    binds: bool = False
    """Whether the text is bound to its sources: it was rendered again from them, or a known key
    signed the receipt. Anyone can write a receipt that merely agrees with itself."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong, and the text is bound to its sources."""
        return self.binds and not self.problems

    def __iter__(self) -> Iterator[str]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

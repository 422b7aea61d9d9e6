"""What is a caller told in the end?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

from quire.core.types.candidates import Candidate, Failure, Roots
from quire.core.types.documents import Skipped


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
    commits: int = 0
    """How many commits are new in the store."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work has come."""

    stage: str
    """`history`, `read`, `embed` or `check`."""
    done: int
    total: int | None = None
    paths: tuple[str, ...] = ()
    """The files that have just been written for good."""


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
class Problem:
    """Something that a check of the store found, and whether it was repaired."""

    check: str
    detail: str
    repaired: bool = False

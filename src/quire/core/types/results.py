"""Results of commands: of a search, of indexing, of a check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

from quire.core.types.candidates import Candidate, Failure, Roots
from quire.core.types.documents import Skipped


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


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a long task."""

    stage: str
    """`history`, `read`, `embed` or `check`."""
    done: int
    total: int | None = None
    paths: tuple[str, ...] = ()
    """The files that were just committed to the store."""


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

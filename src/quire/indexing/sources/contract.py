"""What a source of documents is: what it yields, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from quire.core.types import IngestSettings, NewDocument, Skipped
from quire.errors import QuireError

DEFAULTS = IngestSettings()


class SourceError(QuireError):
    """A source of documents could not be read."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing of a source: a document as it is now, or the path of one that is deleted."""

    path: str
    document: NewDocument | None = None
    """None: it was deleted."""
    cursor: str | None = None
    """How far the source has been read with this; None: the source has no cursor."""
    row: int = 0
    """The number of its row or line, from 1; 0: it is no row."""
    mark: str = ""
    """What tells that it is as it was (size and time, an etag, a hash); empty: nothing does."""
    load: Callable[[], NewDocument | Skipped | None] | None = None
    """Reads the document, if it is not known by its mark; None is returned if it is gone."""


class Source(Protocol):
    """Where documents come from."""

    @property
    def resumable(self) -> bool:
        """Whether `changes` continues at a cursor; else it yields everything, each time."""

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield what changed since a cursor, or everything, in the order of the cursors.

        What is there and cannot be read is `Skipped`, by its path in the store. A row that is wrong
        is a `SkippedRow`.
        """

"""Documents that a caller puts into a store, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import Any

from quire.core.frozen import dataclass
from quire.core.types.documents import Redaction, Skipped, SkippedRow
from quire.core.types.records import NO_METADATA, MetadataValue

ADDED, CHANGED, UNCHANGED = "added", "changed", "unchanged"


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document that is not a file, to be put into a store."""

    content: Any
    """A text, the bytes of a file, a list of messages (`role`, `content`, `at`), or an object."""
    path: str
    """Its name, like that of a file: `crm/42`. The same path names the same document."""
    type: str = ""
    """`text`, `markdown`, `html`, `pdf`, `chat`, `json` or another format; empty: as the content
    and the ending of the path say, else `markdown`."""
    title: str = ""
    author: str = ""
    modified: int | str | date | None = None
    """When it was written: a date, or seconds since 1970."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires: int | str | date | None = None
    """When it is no longer shown: a moment, or the last day on which it is."""
    share: Sequence[str] = ()
    """Who may read it: names, `@group`, `public` or `owner`."""
    template: str = ""
    """The text of an object, with its members in braces: `{title} ({owner.name})`."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as a store has it."""

    id: str
    path: str
    kind: str
    title: str
    text: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=lambda: NO_METADATA)
    author: str | None = None
    modified: int | None = None
    expires: int | None = None
    share: tuple[str, ...] | None = None
    """Who may read it, as far as the viewer may know; None: the access rules decide."""
    origin: str = ""
    """`put`, `sync:NAME`; empty: it is a file, or belongs to another domain."""


@dataclass(frozen=True, slots=True)
class PutResult:
    """What became of a document that was put."""

    path: str
    id: str
    state: str
    """`added`, `changed` or `unchanged`."""
    redacted: tuple[Redaction, ...] = ()
    """The secrets that were taken out of it."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutSummary:
    """What became of many documents."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    redacted: tuple[Redaction, ...] = ()
    vectors: int = 0
    """How many texts were embedded."""
    notes: tuple[str, ...] = ()
    failed: str = ""
    """Why a source could not be read to its end; empty: it was."""

    @property
    def complete(self) -> bool:
        """Whether a source was read to its end, and each of its rows could be."""
        return not self.failed and not any(isinstance(each, SkippedRow) for each in self.skipped)

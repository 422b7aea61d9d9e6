"""Results that a caller brings from a retriever of their own, and how they are assembled.

The names are those of the specifications: `RetrievalResult`, `AssemblyConfig`, `PackingStrategy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from quire.core.frozen import dataclass
from quire.core.types.options import Options

RECENT_PERCENT = 20
"""What a record of this moment gains if recent ones are preferred, in percent."""


class PackingStrategy(StrEnum):
    """How pieces are chosen that fit the budget: the values of the option `pack`."""

    GREEDY = "greedy"
    """Document by document, the best one first."""
    INTERLEAVED = "interleaved"
    """One piece of each document in turn."""
    SCORE_WEIGHTED = "score_weighted"
    """Strictly by score."""
    OPTIMAL = "optimal"
    """The choice with the highest sum of scores."""


@dataclass(frozen=True, slots=True)
class AssemblyConfig:
    """How results are assembled, in the words of specification 0; each is an option of a context.

    `options` returns them as such.
    """

    packing_strategy: PackingStrategy | str = PackingStrategy.GREEDY
    dedup_threshold: float = 0.8
    """A piece of which more than this share is in a better one is a duplicate."""
    max_chunks_per_doc: int | None = None
    prefer_recent: bool = False
    """Raise the scores of results that were modified lately."""
    include_metadata: bool = False
    """Show lines, title and score of each piece."""

    @property
    def options(self) -> Options:
        """The options of a context that mean the same."""
        return {
            "pack": str(self.packing_strategy),
            "dedup": self.dedup_threshold,
            "per_document": 0 if self.max_chunks_per_doc is None else self.max_chunks_per_doc,
            "recent": RECENT_PERCENT if self.prefer_recent else 0,
            "metadata": self.include_metadata,
        }


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A text that a retriever found, with its score and where it stands."""

    text: str
    path: str
    """The document that it is a part of: a path, a URL, any name. Texts of one document are shown
    together."""
    score: float
    """The higher, the better; of any scale."""
    id: str = ""
    """The caller's own id of it, which `ContextChunk.source_id` returns."""
    sequence: int | None = None
    """Its place among the chunks of its document; None: not known. Consecutive ones are shown
    without a mark of a gap between them."""
    start: int | None = None
    """The offset of its first byte in the document as UTF-8; None: not known."""
    line: int = 0
    """Its first line in the document, counted from 1; 0: not known."""
    title: str = ""
    """The headings above it, joined by ` > `."""
    kind: str = ""
    """`document`, `code`, `conversation`, or what it is more exactly: `function`, `class`,
    `section`, `message`. Empty: as the ending of the path says."""
    name: str = ""
    """The name of the function, section or message that it is; empty: that of the document."""
    summary: str = ""
    """What it says, in a sentence; shown with its name in the entity formats."""
    language: str = ""
    """The programming language of code; empty: as the ending of the path says."""
    modified: int | str | None = None
    """When the document was changed: a date (`2026-01-31`), or seconds since 1970."""
    semantic_score: float | None = None
    """How similar it is to the query by its vector, from 0 to 1, if that is known."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Whatever the caller wants to find again at `ContextChunk.metadata`; it is not shown."""

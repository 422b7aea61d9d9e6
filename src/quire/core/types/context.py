"""What is a context, and why is it as it is?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from quire.core.types.candidates import Candidate, Failure
from quire.core.types.recipe import Section
from quire.core.types.rules import RuleEvaluation, Verdict


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a candidate: at which step, and why."""

    chunk_id: str
    path: str
    lines: tuple[int, int]
    step: str
    """`rank`, `depth`, `dedup`, `group`, `pack` or `fit`."""
    verdict: str
    """`kept`, `cut`, `dropped` or `failed`."""
    reason: str
    tokens: int
    score: int
    signals: Mapping[str, int]


FULL = "full"
CUT = "cut"
SIGNATURE = "signature"
OUTLINE = "outline"
CAPPED = "capped"
SUMMARIZED = "summarized"
LEVELS = (FULL, SIGNATURE, OUTLINE)
"""How much of an entity is shown: its text; how it is declared and what it says of itself; that it
is there. What is cut, or capped as one item among many, shows a part of its text; what is
summarized, what a language model wrote of it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate with what it costs, on its way into the budget."""

    candidate: Candidate
    tokens: int
    text: str
    """What would be shown: the chunk's text, or less."""
    level: str = FULL
    instead: tuple[Piece, ...] = ()
    """The same candidate with less detail, for when this is too long; the most detail first."""
    group: str = ""
    """The document or entity under whose heading it stands; empty: its document."""

    @property
    def whole(self) -> bool:
        """Whether it is shown as its recipe wants it, and not for want of room with less."""
        return self.level == FULL

    @property
    def described(self) -> bool:
        """Whether words about it stand in for its text."""
        told = self.level in {SIGNATURE, OUTLINE}
        return told or not self.candidate.chunk.text.startswith(self.text)

    @property
    def heading(self) -> str:
        """The name of the group that it stands in."""
        return self.group or self.candidate.chunk.record_id

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Sort key: score (descending), then path, sequence, offset, id."""
        return self.candidate.order


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring pieces of a document, joined to one text."""

    pieces: tuple[Piece, ...]
    text: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A heading (a document's, or an entity's) with what stands below it."""

    record_id: str
    path: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Piece:
        """The piece that stands first in it."""
        return self.runs[0].pieces[0]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a piece of the context comes from."""

    chunk_id: str
    record_id: str
    path: str
    lines: tuple[int, int]
    title: str
    score: int
    tokens: int
    name: str = ""
    """The entity that it is a part of, where that was looked up."""
    kind: str = ""
    """What that entity is."""
    section: str = ""
    """The part of the page that it stands in, if the page has parts."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a page is made of beside its pieces."""

    sections: tuple[Section, ...] = ()
    query: str = ""
    history: tuple[tuple[str, str], ...] = ()
    """What fits of the conversation so far, the oldest first."""
    system: str = ""
    situation: str = ""
    rules: RuleEvaluation | None = None
    """Which rules apply, and which contexts count, where that was asked."""
    warnings: tuple[str, ...] = ()
    """What its reader must know first: a source that did not answer."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on a page, as it is said there."""

    section: str
    kind: str
    """`memory`, `code`, `experience`, `value`, `commit`, …"""
    text: str
    chunk_id: str
    record_id: str
    score: int
    tokens: int
    about: Mapping[str, object]
    """What its kind says of it: a memory's category, a commit's author."""


@dataclass(frozen=True, slots=True)
class Context:
    """One context: the text, where it comes from, what it costs, and its receipt."""

    text: str
    sources: tuple[Source, ...]
    tokens: int
    """The tokens of the whole text, as counted."""
    content_tokens: int
    """The tokens of the pieces alone, without markers."""
    available: int
    truncated: bool
    omitted: int
    """How many candidates did not fit."""
    limit_exceeded: int
    """By how many tokens a soft budget was passed."""
    decisions: tuple[Decision, ...]
    failed: tuple[Failure, ...]
    notes: tuple[str, ...]
    items: tuple[Item, ...] = ()
    """What stands on a page that has parts."""
    receipt: Mapping[str, object] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an earlier run met, so that it can be run again without it: as a receipt says."""

    vectors: Mapping[str, bytes]
    """The vectors of questions."""
    embedder: str | None
    """Whose vector it is; it is no use among vectors of another model."""
    failed: tuple[Failure, ...] = ()
    """The sources that failed; they fail again."""
    judge: str = ""
    """Who judged the conditions of rules."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """What was judged, by its key."""
    writer: str = ""
    """Who wrote summaries."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """What was written of texts that had to be cut, by their names."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells this from other runs."""
        judged = tuple((key, self.verdicts[key]) for key in sorted(self.verdicts))
        vectors = tuple(sorted(self.vectors.items()))
        written = tuple(sorted(self.summaries.items()))
        return (vectors, self.embedder, self.failed, self.judge, judged, self.writer, written)

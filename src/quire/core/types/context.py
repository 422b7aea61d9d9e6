"""Contexts: what they contain, what they cost, and why each candidate is in or out."""

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
"""The levels of detail: the whole text; the signature and summary of an entity; its name alone. A
piece that is cut, or capped as one item among many, shows a part of its text; one that is
summarized shows what a language model wrote."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate as it would be shown, with its cost in tokens."""

    candidate: Candidate
    tokens: int
    text: str
    """The text that would be shown: the chunk's, or less."""
    level: str = FULL
    variants: tuple[Piece, ...] = ()
    """The same candidate with less detail, for when this is too long; the most detail first."""
    group: str = ""
    """The document or entity under whose heading it is shown; empty: its document."""
    room: int = 0
    """The number of tokens that it was cut to, so that it can be cut again; 0: it was not."""

    @property
    def is_full(self) -> bool:
        """Whether it is shown in full, and not shortened for lack of room."""
        return self.level == FULL

    @property
    def is_described(self) -> bool:
        """Whether it shows a description in place of its text."""
        described = self.level in {SIGNATURE, OUTLINE}
        return described or not self.candidate.chunk.text.startswith(self.text)

    @property
    def is_cut_off(self) -> bool:
        """Whether it shows only the beginning of its text."""
        unit = self.candidate.unit
        wholes = [self.candidate.chunk.text]
        if unit is not None:
            wholes += [unit.text, unit.outline]
        if not self.text or self.text in wholes or self.level in {SIGNATURE, OUTLINE, SUMMARIZED}:
            return False
        return any(
            whole.startswith(self.text) and bool(whole[len(self.text) :].strip())
            for whole in wholes
        )

    @property
    def is_extract(self) -> bool:
        """Whether it shows parts of its text, with marks of its own where others are left out."""
        return self.level in {CUT, CAPPED} and self.is_described

    @property
    def heading(self) -> str:
        """The name of the group that it is shown in."""
        return self.group or self.candidate.chunk.record_id

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Sort key: score (descending), then path, sequence, offset, id."""
        return self.candidate.order


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent pieces of a document, joined to one text."""

    pieces: tuple[Piece, ...]
    text: str
    lines: tuple[int, int]

    @property
    def is_cut_off(self) -> bool:
        """Whether its text ends before that of its last piece does."""
        return self.pieces[-1].is_cut_off


@dataclass(frozen=True, slots=True)
class Passage:
    """A heading, of a document or an entity, with the text below it."""

    record_id: str
    path: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Piece:
        """The first piece in it."""
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
    """The entity that it is a part of, if outlines were read."""
    kind: str = ""
    """The kind of that entity."""
    section: str = ""
    """The section that it is in, if the recipe has sections."""
    level: str = FULL
    """Its level of detail: `full`, `cut`, `capped`, `summarized`, `signature` or `outline`."""
    room: int = 0
    """The number of tokens that it was cut to; 0: it was not."""
    line: int = 0
    """The first line of the entity that it is shown as; 0: that of the chunk."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a page contains beside its pieces."""

    sections: tuple[Section, ...] = ()
    query: str = ""
    history: tuple[tuple[str, str], ...] = ()
    """The messages of the conversation that fit, oldest first."""
    system: str = ""
    situation: str = ""
    rules: RuleEvaluation | None = None
    """Which rules and contexts apply, if the recipe evaluates rules."""
    warnings: tuple[str, ...] = ()
    """What its reader must know first, such as a source that failed."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a page."""

    section: str
    kind: str
    """`memory`, `code`, `experience`, `value`, `commit`, …"""
    text: str
    chunk_id: str
    record_id: str
    score: int
    tokens: int
    about: Mapping[str, object]
    """Metadata of its kind, such as a memory's category or a commit's author."""
    relevance: float | None = None
    """How likely it is that it is about what the query asks, from 0 to 1; None: not known."""
    similarity: float | None = None
    """How similar it is to the query by its vector, from 0 to 1; None: it has none."""


@dataclass(frozen=True, slots=True)
class Context:
    """One context: its text, sources, cost and receipt."""

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
    """By how many tokens a soft budget was exceeded."""
    decisions: tuple[Decision, ...]
    failed: tuple[Failure, ...]
    notes: tuple[str, ...]
    items: tuple[Item, ...] = ()
    """The items of a page, if the recipe has sections."""
    receipt: Mapping[str, object] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Source]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A context that was made again from the pieces that its receipt names."""

    text: str
    sources: tuple[Source, ...]
    decisions: tuple[Decision, ...]
    """The decisions on the pieces that are in, in the order of preference."""
    altered: tuple[str, ...] = ()
    """What its recipe says in other words than the shipped one of its name."""
    own_words: tuple[str, ...] = ()
    """The words of the page that come from the receipt, and from no source."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an earlier run recorded, so that it can be run again without models: as in a receipt."""

    vectors: Mapping[str, bytes]
    """The vectors of queries."""
    embedder: str | None
    """The model of the vectors, which cannot be compared with those of another."""
    failed: tuple[Failure, ...] = ()
    """The sources that failed; they fail again."""
    judge: str = ""
    """The name of the judge of rules."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdicts of the judge, by key."""
    writer: str = ""
    """The name of the writer of summaries."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """The summaries of texts that had to be cut, by key."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What distinguishes this run from others."""
        verdicts = tuple((key, self.verdicts[key]) for key in sorted(self.verdicts))
        vectors = tuple(sorted(self.vectors.items()))
        summaries = tuple(sorted(self.summaries.items()))
        return (vectors, self.embedder, self.failed, self.judge, verdicts, self.writer, summaries)

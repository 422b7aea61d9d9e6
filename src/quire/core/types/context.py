"""Contexts: what they contain, what they cost, and why each candidate is in or out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field

from quire.core import hashing
from quire.core.frozen import dataclass
from quire.core.types.candidates import Candidate, Failure
from quire.core.types.messages import Message, Role, Style, make_messages
from quire.core.types.recipe import Section
from quire.core.types.records import MetadataValue
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


UNRECORDED = {"recorded": False}
"""The metadata of a field that receipts leave out: the decision on a source has its signals."""
RECEIPT_PARTS = ("excluded", "proofs")
"""The long fields of a receipt, which it names by their hashes: it is the same one without them."""
FULL = "full"
CUT = "cut"
MATCH = "match"
SIGNATURE = "signature"
OUTLINE = "outline"
CAPPED = "capped"
SUMMARIZED = "summarized"
LEVELS = (FULL, MATCH, SIGNATURE, OUTLINE)
"""The levels of detail: the whole text; the lines of code that match the query; the signature and
summary of an entity; its name alone. A piece that is cut, or capped as one item among many, shows a
part of its text; one that is summarized shows what a language model wrote."""


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
            wholes += [unit.text, unit.outline, unit.source]
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
    stale: str = ""
    """What became of its file since it was indexed: `changed`, `deleted`; empty: nothing."""

    @property
    def first(self) -> Piece:
        """The first piece in it."""
        return self.runs[0].pieces[0]

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from the other passages of the same candidates."""
        shown = [
            (piece.candidate.chunk.id, piece.level, piece.text)
            for run in self.runs
            for piece in run.pieces
        ]
        return (self.stale, *shown)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a piece of the context comes from."""

    chunk_id: str
    record_id: str
    path: str
    lines: tuple[int, int]
    title: str
    score: int
    """By what it was ranked: a whole number that orders the pieces of one context, and means
    nothing beside another's. The best hit of a search adds a million times its weight."""
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
    metadata: Mapping[str, MetadataValue] = field(
        default_factory=dict, hash=False, metadata=UNRECORDED
    )
    """The metadata of its document, which the roots prove."""
    relevance: float | None = field(default=None, metadata=UNRECORDED)
    """How likely it is that it is about what the query asks, from 0 to 1; None: the recipe does not
    weigh that."""
    similarity: float | None = field(default=None, metadata=UNRECORDED)
    """How similar it is to the query by its vector, from 0 to 1; None: no search compared it."""

    @property
    def entity_id(self) -> str:
        """The id of the entity that it is a part of: that of its record, and its name in it."""
        return f"{self.record_id}#{self.name}" if self.name else self.record_id


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """A piece of the context with its text, as specification 0 has it."""

    chunk_id: str
    document_path: str
    text: str
    """The text that is shown: the chunk's, or less."""
    score: int
    """By what it was ranked, as `Source.score`."""
    sequence: int
    """The place of the chunk in its document."""
    summary: str = ""
    """The summary of the entity that it is shown as, if one is known."""
    source_id: str = ""
    """The caller's own id, of a result that the caller brought."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """The metadata of its document; of a result that the caller brought, the caller's own."""
    document_name: str = ""
    """The name of its document, as a person would say it: `docs/guide.md`, `notes/Heron.md:12` of
    an imported note, `commit 2881d93, David Lord, 2020-05-12`."""
    relevance: float | None = None
    """How likely it is that it helps, as `Source.relevance`."""
    similarity: float | None = None
    """How similar it is to the query, as `Source.similarity`."""


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
    stale: tuple[tuple[str, str], ...] = ()
    """The files that are not as they were indexed, and what became of each."""
    tasks: frozenset[str] = frozenset()
    """The records of all tasks that the query asks for, whether they are shown or not."""
    texts: dict[tuple[object, ...], str] | None = field(default=None, compare=False, repr=False)
    """What passages were rendered as, kept while pieces are tried; None: nothing is kept."""


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
    """By what it was ranked, as `Source.score`."""
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
    chunks: tuple[ContextChunk, ...] = ()
    """The pieces with their texts, in the order of the sources."""
    created: str = field(default="", compare=False)
    """The day on which it was handed out, in UTC: `2026-01-31`. Nothing else depends on it."""
    receipt: Mapping[str, object] = field(default_factory=dict)

    @property
    def why_empty(self) -> str:
        """Why it has no piece; empty if it has one, or if a note says why."""
        if self.sources:
            return ""
        if not self.decisions:
            return "nothing found"
        return "nothing fits" if self.omitted else ""

    def as_messages(
        self,
        style: Style = "openai",
        *,
        question: str | None = None,
        role: Role | None = None,
        cache: bool = False,
    ) -> list[Message]:
        """Return the context and the question as the messages that a provider takes.

        Args:
            style: `openai` (chat completions) or `anthropic` (messages).
            question: What to ask; None for the query, empty for nothing.
            role: Whose part the context is, `system` or `user`; None for the system's with OpenAI,
                the user's with Anthropic, whose lists have no system message.
            cache: Whether to mark the context for Anthropic's prompt cache.
        """
        return make_messages(
            self.text,
            self._query if question is None else question,
            style=style,
            role=role,
            cache=cache,
        )

    @property
    def _query(self) -> str:
        request = self.receipt.get("request")
        return str(request["query"]) if isinstance(request, Mapping) else ""

    @property
    def query_hash(self) -> str:
        """The hash of the query (BLAKE3), in hexadecimal digits; empty without a receipt."""
        request = self.receipt.get("request")
        query = request["query"] if isinstance(request, Mapping) else None
        return hashing.text_hash(query).hex() if isinstance(query, str) else ""

    @property
    def state_root(self) -> str:
        """The hash of everything that the viewer could read; empty without a receipt."""
        return str(self.receipt.get("view_root", ""))

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
    from_chunks: bool = False
    """Whether nothing in a store but the chunks themselves can change it."""


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
    reranker: str = ""
    """The name of the reranker."""
    reranks: Mapping[str, int] = field(default_factory=dict)
    """What the reranker gave the chunks that it saw, by their ids."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What distinguishes this run from others."""
        verdicts = tuple((key, self.verdicts[key]) for key in sorted(self.verdicts))
        vectors = tuple(sorted(self.vectors.items()))
        summaries = tuple(sorted(self.summaries.items()))
        reranks = (self.reranker, tuple(sorted(self.reranks.items())))
        models = (self.judge, verdicts, self.writer, summaries, reranks)
        return (vectors, self.embedder, self.failed, *models)

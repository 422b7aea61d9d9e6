"""The draft of a context: the value that the steps pass on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from quire import embed, rendering
from quire.core.frozen import dataclass
from quire.core.protocols import Counter as TokenCounter
from quire.core.types import (
    ActiveContext,
    Candidate,
    Chunk,
    Decision,
    Entity,
    Frame,
    FusionStats,
    Hits,
    Outline,
    Passage,
    Piece,
    Recipe,
    Record,
    Request,
    Unit,
)
from quire.errors import BudgetError, InputError
from quire.packing import WordNumbers
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.ranking import FeatureTable
from quire.retrieval import SEMANTIC
from quire.rules.evaluator import JUDGE
from quire.rules.verdicts import NOT_SET_UP

SEPARATOR_TOKENS = 2
"""What separates two messages, in tokens."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A candidate that repeats better ones, and how a decision words that for each of them."""

    candidate: Candidate
    better: tuple[tuple[Candidate, str], ...]
    """The better ones, and the reason to be formatted with the place and the id of one."""
    same_text: bool = True
    """Whether its text is in theirs; otherwise they are about the same thing."""


@dataclass(frozen=True, slots=True)
class Block:
    """What the pieces under one heading are shown as, and what that counts on a page."""

    passage: Passage
    category: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CandidateCache:
    """What is worked out of a candidate alone: neither the budget nor the others change it.

    All drafts of a question over one state of the store may share one, whatever their budgets are
    and however deep was searched. A receipt can be verified for the same reason: a piece is made
    again from its chunk, without those it competed with.
    """

    entities: dict[str, tuple[Entity, Unit | None, str]] = field(default_factory=dict)
    """The entity that a chunk belongs to, the unit that it is shown as, and its language."""
    pieces: dict[tuple[str, str], Piece] = field(default_factory=dict)
    """Pieces in full with their variants, by chunk and section, before an item is limited."""
    headings: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """What headings cost, by chunk, level and text."""
    texts: dict[tuple[object, ...], str] = field(default_factory=dict)
    """What passages were rendered as."""
    counts: dict[str, int] = field(default_factory=dict)
    """What the paragraphs of pages count."""
    blocks: dict[tuple[object, ...], Block | None] = field(default_factory=dict)
    """What groups of pieces are shown as, on pages that are counted by blocks."""
    definitions: dict[str, Counter[str]] = field(default_factory=dict)
    """The words of the definition that a chunk holds."""
    words: WordNumbers = field(default_factory=WordNumbers)
    """The words of the texts of candidates, to find repeats."""
    twins: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    """Which of some candidates say nearly what a better one of them says."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A context in the making: what was retrieved, and what the steps made of it so far."""

    request: Request
    recipe: Recipe
    counter: TokenCounter
    hits: Mapping[str, Hits]
    """The hits of each source."""
    fusion_stats: FusionStats
    chunks: Mapping[str, Chunk]
    """The chunks of all hits, by id."""
    records: Mapping[str, Record]
    """The records of the chunks, if the recipe needs them."""
    outlines: Mapping[str, Outline]
    """The outlines of the records, likewise."""
    features: FeatureTable = field(default_factory=FeatureTable)
    """What ranking weighs beside the scores of the sources."""
    similarities: Mapping[str, int] = field(default_factory=dict)
    """How similar chunks are to the query that the search by vectors found, in thousandths."""
    crumbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The titles of the pages that contain a record, if they were looked up."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The headings that records stand under, likewise."""
    places: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """The places of records in the tree, likewise."""
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What relates records to other pages, likewise."""
    recurring: Mapping[str, int] = field(default_factory=dict)
    """How many experiences have the root cause of one, if several do."""
    reading: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The places of blocks on the viewed page, likewise."""
    authors: Mapping[str, str] = field(default_factory=dict)
    """Who wrote a record, if it was another user."""
    contexts: Mapping[str, ActiveContext] = field(default_factory=dict)
    """The active contexts, by record, if the recipe evaluates rules."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """The section that each chunk was found for, if the recipe has sections."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """The summaries of texts that are too long, by their keys."""
    reranks: Mapping[str, int] = field(default_factory=dict)
    """What a reranker gave the chunks that it saw, by their ids."""
    frame: Frame = field(default_factory=Frame)
    candidates: tuple[Candidate, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    """The candidates that repeat better ones."""
    repeated: tuple[Piece, ...] = ()
    """The pieces of an entity that a better piece already shows."""
    restored: frozenset[str] = frozenset()
    """The chunks of repeats that compete after all: what they repeat did not fit at first."""
    ungrouped: frozenset[str] = frozenset()
    """The chunks of repeated pieces that compete after all, likewise."""
    pieces: tuple[Piece, ...] = ()
    """The pieces that are in, as they will be shown."""
    left_out: tuple[Piece, ...] = ()
    """The pieces that did not fit."""
    preferred: tuple[Piece, ...] = ()
    """All pieces in full, in the order of preference."""
    footer: bool = True
    """Whether sources are listed at the end, if the recipe says so."""
    passages: tuple[Passage, ...] = ()
    text: str = ""
    tokens: int = 0
    truncated: bool = False
    gap: int = 0
    """How much score the best choice could have more, at most."""
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    allow_empty: bool = False
    token_counts: dict[tuple[object, ...], int] = field(default_factory=dict, compare=False)
    """A cache of counts of pages, shared by all drafts that are made of one."""
    cache: CandidateCache = field(default_factory=CandidateCache, compare=False)


def start_draft(
    resolved: ResolvedRequest, retrieved: Retrieved, cache: CandidateCache | None = None
) -> Draft:
    """Return the first draft of what was retrieved.

    A cache may be that of another draft for the same question and state of the store.
    """
    cache = CandidateCache() if cache is None else cache
    request, recipe = resolved.request, resolved.recipe
    history = _fitting_history(resolved)
    dropped = len(request.history) - len(history) if recipe.budget.history else 0
    evaluation = retrieved.active_rules.evaluation
    return Draft(
        request=request,
        recipe=recipe,
        counter=resolved.counter,
        hits=retrieved.hits,
        fusion_stats=retrieved.fusion_stats,
        chunks=retrieved.chunks,
        records=retrieved.records,
        outlines=retrieved.outlines,
        features=retrieved.features.table,
        similarities=_similarities(request, retrieved),
        crumbs=retrieved.features.crumbs,
        headings=retrieved.features.headings,
        places=retrieved.features.places,
        relations=retrieved.features.relations,
        recurring=retrieved.features.recurring,
        reading=retrieved.features.reading,
        authors=retrieved.authors,
        contexts={
            retrieved.active_rules.records[active.context.path].id: active
            for active in evaluation.contexts
        },
        sections=retrieved.sections,
        summaries=retrieved.summaries,
        reranks=retrieved.reranks,
        frame=Frame(
            recipe.sections,
            query=request.query,
            history=history,
            system=_checked_instructions(resolved),
            situation=request.situation,
            rules=evaluation,
            warnings=tuple(
                f"{failure.source}: {failure.reason}"
                for failure in retrieved.failed
                if not (failure.source == JUDGE and failure.reason.startswith(NOT_SET_UP))
            ),
            stale=request.stale,
            tasks=retrieved.tasks,
            texts=cache.texts,
        ),
        notes=(f"{dropped} older messages of the conversation did not fit",) if dropped else (),
        allow_empty=resolved.allow_empty,
        cache=cache,
    )


def _similarities(request: Request, retrieved: Retrieved) -> dict[str, int]:
    """Return how similar what the search by vectors found is to the query.

    Sections have queries of their own, and weigh their candidates by it.
    """
    vector = retrieved.vectors.get(request.query)
    if vector is None or retrieved.sections or SEMANTIC not in retrieved.hits:
        return {}
    model = retrieved.coverage.model
    hits = retrieved.hits[SEMANTIC].hits
    return {hit.id: embed.similarity(model, hit.score, len(vector)) for hit in hits}


def _fitting_history(resolved: ResolvedRequest) -> tuple[tuple[str, str], ...]:
    """Return the newest messages of the conversation, whole ones, that fit their budget."""
    room = resolved.recipe.budget.history
    speakers = {role for role, _ in resolved.request.history}
    messages: list[tuple[str, str]] = []
    for role, text in reversed(resolved.request.history):
        message = rendering.message_text(role, text, speakers)
        room -= resolved.counter.count(message) + SEPARATOR_TOKENS
        if room < 0:
            break
        messages.append((role, text))
    return tuple(reversed(messages))


def _checked_instructions(resolved: ResolvedRequest) -> str:
    """Return the caller's instructions; refuse what exceeds their budget."""
    instructions = resolved.request.system
    if not instructions:
        return ""  # a counter is not loaded for nothing
    cost, limit = resolved.counter.count(instructions), resolved.recipe.budget.system
    if not limit:
        raise InputError(
            f"the recipe {resolved.recipe.name!r} takes no instructions",
            field="system",
            hint="use a recipe that does, such as 'workspace'",
        )
    if cost > limit:
        raise BudgetError(
            f"has {cost} tokens, at most {limit} are allowed",
            field="system",
            value=cost,
            hint="shorten it",
        )
    return instructions

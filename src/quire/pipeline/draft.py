"""What flows from step to step?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire import rendering
from quire.core.protocols import Counter
from quire.core.types import (
    ActiveContext,
    Candidate,
    Chunk,
    Decision,
    Frame,
    FusionStats,
    Hits,
    Outline,
    Passage,
    Piece,
    Recipe,
    Record,
    Request,
)
from quire.errors import BudgetError, InputError
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.ranking import FeatureTable

APART = 2
"""What stands between two messages, in tokens."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What flows from step to step."""

    request: Request
    recipe: Recipe
    counter: Counter
    found: Mapping[str, Hits]
    """What each source found."""
    bearing: FusionStats
    chunks: Mapping[str, Chunk]
    """All that was found, by id."""
    records: Mapping[str, Record]
    """What the chunks were cut from, by record, where that matters."""
    outlines: Mapping[str, Outline]
    """What the records of the chunks are made of, by record, where that matters."""
    known: FeatureTable = field(default_factory=FeatureTable)
    """What is known of the chunks beside what the sources say."""
    crumbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The titles of the pages that records stand in, where that was looked up."""
    places: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """Where records stand in the tree, likewise."""
    contexts: Mapping[str, ActiveContext] = field(default_factory=dict)
    """The contexts that count, by record, where rules were asked."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """The part of the page that each chunk was found for, by its name, if the page has parts."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """What was written of texts that are too long, by their names."""
    frame: Frame = field(default_factory=Frame)
    candidates: tuple[Candidate, ...] = ()
    pieces: tuple[Piece, ...] = ()
    """What is in, as it will be shown."""
    left: tuple[Piece, ...] = ()
    preferred: tuple[Piece, ...] = ()
    """All that could be in, in full, in the order of preference."""
    footer: bool = True
    """Whether sources are named at the end, if the recipe wants it."""
    passages: tuple[Passage, ...] = ()
    text: str = ""
    tokens: int = 0
    truncated: bool = False
    gap: int = 0
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    allow_empty: bool = False
    counted: dict[tuple[object, ...], int] = field(default_factory=dict, compare=False)
    """What was counted so far, by what it is made of: shared by all drafts that come of one."""


def _heard(asked: ResolvedRequest) -> tuple[tuple[str, str], ...]:
    """Keep the newest messages of a conversation, whole ones, as many as may be told."""
    room = asked.recipe.budget.history
    kept: list[tuple[str, str]] = []
    for who, text in reversed(asked.request.history):
        room -= asked.counter.count(rendering.message_text(who, text)) + APART
        if room < 0:
            break
        kept.append((who, text))
    return tuple(reversed(kept))


def _told(asked: ResolvedRequest) -> str:
    """Give the caller's instructions, if they keep to what they may take."""
    if not asked.request.system:
        return ""  # a counter is not loaded for nothing
    cost, most = asked.counter.count(asked.request.system), asked.recipe.budget.system
    if not most:
        raise InputError(
            f"the recipe {asked.recipe.name!r} takes no instructions",
            field="system",
            hint="use a recipe that does, such as 'workspace'",
        )
    if cost > most:
        raise BudgetError(
            f"has {cost} tokens, at most {most} are allowed",
            field="system",
            value=cost,
            hint="shorten it",
        )
    return asked.request.system


def start(asked: ResolvedRequest, gathered: Retrieved) -> Draft:
    """Make the first draft of what was gathered."""
    heard = _heard(asked)
    dropped = len(asked.request.history) - len(heard) if asked.recipe.budget.history else 0
    return Draft(
        request=asked.request,
        recipe=asked.recipe,
        counter=asked.counter,
        found=gathered.found,
        bearing=gathered.bearing,
        chunks=gathered.chunks,
        records=gathered.records,
        outlines=gathered.outlines,
        known=gathered.features.known,
        crumbs=gathered.features.crumbs,
        places=gathered.features.places,
        contexts={
            gathered.situated.records[each.context.path].id: each
            for each in gathered.situated.evaluation.contexts
        },
        sections=gathered.sections,
        summaries=gathered.summaries,
        frame=Frame(
            asked.recipe.sections,
            query=asked.request.query,
            history=heard,
            system=_told(asked),
            situation=asked.request.situation,
            ruled=gathered.situated.evaluation,
            warnings=tuple(f"{failure.source}: {failure.reason}" for failure in gathered.failed),
        ),
        notes=(f"{dropped} older messages of the conversation did not fit",) if dropped else (),
        allow_empty=asked.allow_empty,
    )

"""What flows from step to step?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.asking import Gathered
from quire.contracts import Counter
from quire.request import Asked
from quire.values import (
    Block,
    Candidate,
    Chunk,
    Decision,
    Frame,
    Hits,
    Outline,
    Piece,
    Recipe,
    Record,
    Request,
    Section,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What flows from step to step."""

    request: Request
    recipe: Recipe
    counter: Counter
    found: Mapping[str, Hits]
    """What each source found."""
    chunks: Mapping[str, Chunk]
    """All that was found, by id."""
    records: Mapping[str, Record]
    """What the chunks were cut from, by record, where that matters."""
    outlines: Mapping[str, Outline]
    """What the records of the chunks are made of, by record, where that matters."""
    as_of: int | None
    sections: Mapping[str, Section] = field(default_factory=dict)
    """The part of the page that each chunk was found for, if the page has parts."""
    frame: Frame = field(default_factory=Frame)
    feedback: Mapping[str, int] = field(default_factory=dict)
    """How useful records were to whoever asks, in thousandths."""
    candidates: tuple[Candidate, ...] = ()
    pieces: tuple[Piece, ...] = ()
    """What is in, as it will be shown."""
    left: tuple[Piece, ...] = ()
    preferred: tuple[Piece, ...] = ()
    """All that could be in, in full, in the order of preference."""
    footer: bool = True
    """Whether sources are named at the end, if the recipe wants it."""
    blocks: tuple[Block, ...] = ()
    text: str = ""
    tokens: int = 0
    truncated: bool = False
    gap: int = 0
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    allow_empty: bool = False


def start(asked: Asked, gathered: Gathered) -> Draft:
    """Make the first draft of what was gathered."""
    return Draft(
        request=asked.request,
        recipe=asked.recipe,
        counter=asked.counter,
        found=gathered.found,
        chunks=gathered.chunks,
        records=gathered.records,
        outlines=gathered.outlines,
        as_of=gathered.as_of,
        sections=gathered.sections,
        feedback=gathered.feedback,
        frame=Frame(
            asked.recipe.sections,
            tuple(f"{failure.source}: {failure.reason}" for failure in gathered.failed),
        ),
        allow_empty=asked.allow_empty,
    )

"""What is told of a draft in the end?"""

from __future__ import annotations

from collections.abc import Sequence

from quire import rendering
from quire.core.types import Context, Failure, Item, Piece, Source
from quire.pipeline.draft import Draft


def told(draft: Draft, failed: Sequence[Failure], notes: Sequence[str]) -> Context:
    """Tell what came of all steps."""
    available = draft.recipe.budget.available
    sources = tuple(
        _source(piece) for passage in draft.passages for run in passage.runs for piece in run.pieces
    )
    remarks = [*notes, *draft.notes]
    if draft.counter.note:
        remarks.append(draft.counter.note)
    if draft.gap:
        remarks.append(f"the choice is within {draft.gap} points of score of the best")
    return Context(
        text=draft.text,
        sources=sources,
        tokens=draft.tokens,
        content_tokens=sum(source.tokens for source in sources),
        available=available,
        truncated=draft.truncated,
        omitted=len(draft.left),
        limit_exceeded=max(0, draft.tokens - available),
        decisions=draft.decisions,
        failed=tuple(failed),
        notes=tuple(remarks),
        items=_items(draft) if draft.recipe.sections else (),
    )


def _source(piece: Piece) -> Source:
    chunk, entity = piece.candidate.chunk, piece.candidate.entity
    return Source(
        chunk_id=chunk.id,
        record_id=chunk.record_id,
        path=chunk.path,
        lines=chunk.lines,
        title=chunk.title,
        score=piece.candidate.score,
        tokens=piece.tokens,
        name="" if entity is None else entity.qualified,
        kind="" if entity is None else entity.kind,
        section="" if piece.candidate.section is None else piece.candidate.section.name,
    )


def _items(draft: Draft) -> tuple[Item, ...]:
    pieces = [piece for passage in draft.passages for run in passage.runs for piece in run.pieces]
    return tuple(
        Item(
            section="" if candidate.section is None else candidate.section.name,
            kind=candidate.chunk.kind if candidate.record is None else candidate.record.kind,
            text=piece.text,
            chunk_id=candidate.chunk.id,
            record_id=candidate.chunk.record_id,
            score=candidate.score,
            tokens=piece.tokens,
            about=rendering.item_metadata(candidate),
        )
        for piece, candidate in ((each, each.candidate) for each in pieces)
    )

"""Make the context of a finished draft."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from quire import rendering
from quire.core.types import Context, ContextChunk, Failure, Item, Piece, Record, Source
from quire.core.types.records import MetadataValue
from quire.pipeline.draft import Draft
from quire.ranking import CERTAIN, RELEVANCE, SIMILARITY
from quire.receipts import FrozenDict

_EMPTY: FrozenDict[MetadataValue] = FrozenDict()


def make_context(draft: Draft, failed: Sequence[Failure], notes: Sequence[str]) -> Context:
    """Return the context that a draft has become after all steps."""
    available = draft.recipe.budget.available
    pieces = [piece for passage in draft.passages for run in passage.runs for piece in run.pieces]
    sources = tuple(
        replace(source, relevance=_relevance(piece), similarity=_similarity(draft, piece))
        for piece, source in zip(pieces, map(make_source, pieces), strict=True)
    )
    all_notes = [*notes, *draft.notes]
    all_notes += _missing_notes(draft, {source.record_id for source in sources})
    all_notes += _context_notes(draft)
    if draft.counter.note:
        all_notes.append(draft.counter.note)
    if draft.gap:
        all_notes.append(f"the choice is within {draft.gap} points of score of the best")
    return Context(
        text=draft.text,
        sources=sources,
        tokens=draft.tokens,
        content_tokens=sum(source.tokens for source in sources),
        available=available,
        truncated=draft.truncated,
        omitted=len(draft.left_out),
        limit_exceeded=max(0, draft.tokens - available),
        decisions=draft.decisions,
        failed=tuple(failed),
        notes=tuple(all_notes),
        items=tuple(map(_item, pieces, sources)) if draft.recipe.sections else (),
        chunks=tuple(map(_context_chunk, pieces, sources)),
    )


def _missing_notes(draft: Draft, shown: Collection[str]) -> list[str]:
    """Name the records that had to be in and are not; what repeats another piece is in with it."""
    repeated = {
        draft.chunks[decision.chunk_id].record_id
        for decision in draft.decisions
        if decision.verdict == "dropped" and decision.step == "dedup"
    }
    missing = [name for name in draft.request.include if name in draft.records]
    return [
        f"`include`: {draft.records[name].title or name!r} is not in; raise `budget`, or the share "
        "of its section"
        for name in missing
        if name not in shown and name not in repeated
    ]


def _context_notes(draft: Draft) -> list[str]:
    """Name the contexts that are not shown in full."""
    shortened = [piece for piece in draft.pieces if not piece.is_full]
    notes = []
    for what, pieces in (("shortened", shortened), ("left out", draft.left_out)):
        paths = [piece.candidate.path for piece in pieces if piece.candidate.context is not None]
        if paths:
            notes.append(f"{what} for lack of room: {', '.join(paths)}; raise `budget`")
    return notes


def make_source(piece: Piece) -> Source:
    """Return where a piece comes from."""
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
        level=piece.level,
        room=piece.room,
        line=rendering.first_line(piece.candidate),
    )


def with_metadata(context: Context, records: Iterable[Record]) -> Context:
    """Return a context whose sources and chunks have the metadata of their records."""
    known = {record.id: FrozenDict(record.metadata) for record in records if record.metadata}
    if not known:
        return context
    pairs = zip(context.sources, context.chunks, strict=True)
    shown = [(known.get(source.record_id, _EMPTY), source, chunk) for source, chunk in pairs]
    return replace(
        context,
        sources=tuple(replace(source, metadata=values) for values, source, _ in shown),
        chunks=tuple(replace(chunk, metadata=values) for values, _, chunk in shown),
    )


def _relevance(piece: Piece) -> float | None:
    return _share(piece.candidate.signals.get(RELEVANCE))


def _similarity(draft: Draft, piece: Piece) -> float | None:
    """Return how similar a piece is to the query: as it was weighed, or as the search found it."""
    candidate = piece.candidate
    return _share(candidate.signals.get(SIMILARITY, draft.similarities.get(candidate.chunk.id)))


def _context_chunk(piece: Piece, source: Source) -> ContextChunk:
    chunk, entity = piece.candidate.chunk, piece.candidate.entity
    return ContextChunk(
        chunk_id=chunk.id,
        document_path=chunk.path,
        text=piece.text,
        score=piece.candidate.score,
        sequence=chunk.sequence,
        summary="" if entity is None else entity.summary,
        metadata=_EMPTY,
        relevance=source.relevance,
        similarity=source.similarity,
        document_name=rendering.source_name(piece.candidate),
    )


def _item(piece: Piece, source: Source) -> Item:
    candidate = piece.candidate
    return Item(
        section="" if candidate.section is None else candidate.section.name,
        kind=candidate.chunk.kind if candidate.record is None else candidate.record.kind,
        text=piece.text,
        chunk_id=candidate.chunk.id,
        record_id=candidate.chunk.record_id,
        score=candidate.score,
        tokens=piece.tokens,
        about=rendering.item_metadata(candidate),
        relevance=source.relevance,
        similarity=source.similarity,
    )


def _share(thousandths: int | None) -> float | None:
    return None if thousandths is None else thousandths / CERTAIN

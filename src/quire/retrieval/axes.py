"""Experiences are found on any axis, and shown as a whole.

The axes of an experience repeat parts of its full text, so that a question about surprises finds
surprises. Where no axis was asked for, each is replaced by the full text.
"""

from __future__ import annotations

from collections.abc import Mapping

from quire.core.protocols import View
from quire.core.types import Chunk, Hit, Hits

AXIS_PREFIX = "experience."
FULL_AXIS = f"{AXIS_PREFIX}full"


def follow_axes(view: View, hits: Hits, chunks: Mapping[str, Chunk]) -> Hits:
    """Replace the axes of experiences by the beginning of their full texts."""
    axes = {
        hit.id: chunks[hit.id].record_id
        for hit in hits.hits
        if hit.id in chunks and _is_part(chunks[hit.id].kind)
    }
    if not axes:
        return hits
    whole = {record_id: _full_text(view, record_id) for record_id in sorted({*axes.values()})}
    found: dict[str, Hit] = {}
    for hit in hits.hits:  # best first
        full = whole[axes[hit.id]] if hit.id in axes else None
        shown = hit if full is None else _hit(full, hit.score)
        found.setdefault(shown.id, shown)
    return Hits(tuple(sorted(found.values(), key=lambda hit: hit.order)), hits.exact)


def _hit(chunk: Chunk, score: int) -> Hit:
    return Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)


def _is_part(kind: str) -> bool:
    return kind.startswith(AXIS_PREFIX) and kind != FULL_AXIS


def _full_text(view: View, record_id: str) -> Chunk | None:
    return next((chunk for chunk in view.chunks_of(record_id) if chunk.kind == FULL_AXIS), None)

"""Decisions: what became of a candidate, at which step, and why."""

from __future__ import annotations

from collections.abc import Mapping

from quire import receipts
from quire.core.types import (
    CAPPED,
    CUT,
    FULL,
    MATCH,
    OUTLINE,
    SIGNATURE,
    SUMMARIZED,
    Candidate,
    Chunk,
    Decision,
    Piece,
)

LEVEL_REASONS = {
    FULL: "fits",
    CUT: "cut to what was left",
    CAPPED: "cut to what one item may take",
    SUMMARIZED: "summarized by a language model",
    MATCH: "shown by the lines around the words of the query: all of it are {} tokens",
    SIGNATURE: "shown by its signature and summary: all of it are {} tokens",
    OUTLINE: "only named: all of it are {} tokens",
}
"""The reason that a decision gives for a piece that is in, by its level of detail."""
CONTEXT_REASONS = {
    **LEVEL_REASONS,
    SIGNATURE: "shown by its rules, without its text: all of it are {} tokens",
    OUTLINE: "only named: all of it are {} tokens",
}
"""The same for a context file."""


def decide_included(piece: Piece, full_cost: int | None) -> Decision:
    """Return the decision on a piece that is in, by its level of detail."""
    verdict = "kept" if piece.is_full else "cut"
    reasons = LEVEL_REASONS if piece.candidate.context is None else CONTEXT_REASONS
    reason = reasons[piece.level].format(full_cost)
    return decide(piece.candidate, "fit", verdict, reason, piece.tokens)


def drop(candidate: Candidate, step: str, reason: str, cost: int = 0) -> Decision:
    """Return the decision to leave a candidate out at a step."""
    return decide(candidate, step, "dropped", reason, cost)


def drop_chunk(
    chunk: Chunk, score: int, signals: Mapping[str, int], step: str, reason: str
) -> Decision:
    """Return the decision to leave out a chunk that never became a candidate."""
    return Decision(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        step=step,
        verdict="dropped",
        reason=reason,
        tokens=0,
        score=score,
        signals=_frozen(signals),
    )


def decide(candidate: Candidate, step: str, verdict: str, reason: str, cost: int) -> Decision:
    """Return a decision on a candidate."""
    chunk = candidate.chunk
    return Decision(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        step=step,
        verdict=verdict,
        reason=reason,
        tokens=cost,
        score=candidate.score,
        signals=_frozen(candidate.signals),
    )


def _frozen(signals: Mapping[str, int]) -> Mapping[str, int]:
    """Return signals by name; no caller may change what the next one gets from the cache."""
    return receipts.FrozenDict(sorted(signals.items()))

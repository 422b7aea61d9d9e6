"""Which pieces go in, taken for what they cost one by one?

Every way of packing walks the pieces in its own order of preference and takes what fits. A
document's first piece also pays for its marker. What a way of packing leaves out it leaves out for
a reason that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from quire.errors import InputError
from quire.fit.optimal import optimal
from quire.values import Piece

Marker = Callable[[str], int]
"""What the marker of a path costs."""

Cut = Callable[[Piece, int], Piece | None]
"""Cut a piece to so many tokens; None if nothing sensible is left."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen, in the order of preference, and what was left out, likewise."""

    chosen: tuple[Piece, ...]
    left: tuple[Piece, ...]
    truncated: bool = False
    """A piece was cut, or packing stopped at the budget."""
    gap: int = 0
    """By how many points of score, at most, a better choice would beat this one (`optimal`)."""


def groups(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Group pieces by document, the one with the best piece first; best pieces first in each."""
    found: dict[str, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.order):
        found.setdefault(piece.candidate.chunk.record_id, []).append(piece)
    return list(found.values())


def greedy(pieces: Sequence[Piece]) -> list[Piece]:
    """Prefer documents by their best piece, and finish one before the next."""
    return [piece for group in groups(pieces) for piece in group]


def interleaved(pieces: Sequence[Piece]) -> list[Piece]:
    """Take turns: the best piece of each document, then the second of each."""
    return [piece for turn in zip_longest(*groups(pieces)) for piece in turn if piece is not None]


def score_weighted(pieces: Sequence[Piece]) -> list[Piece]:
    """Prefer pieces strictly by their score."""
    return sorted(pieces, key=lambda piece: piece.order)


PREFERENCES: dict[str, Callable[[Sequence[Piece]], list[Piece]]] = {
    "greedy": greedy,
    "interleaved": interleaved,
    "score_weighted": score_weighted,
    "optimal": score_weighted,
}


def pack(
    pieces: Sequence[Piece],
    available: int,
    *,
    way: str,
    overflow: str,
    marker: Marker,
    cut: Cut,
    hard: bool = True,
) -> Packed:
    """Choose what fits into the available tokens."""
    if way not in PREFERENCES:
        raise InputError(f"{way!r} is no way of packing; there are {', '.join(PREFERENCES)}")
    if overflow not in {"skip", "cut", "stop"}:
        raise InputError(f"{overflow!r} is no overflow; there are skip, cut and stop")
    preferred = PREFERENCES[way](pieces)
    if way == "optimal":
        chosen, gap = optimal(groups(pieces), available, marker)
        names = {piece.candidate.chunk.id for piece in chosen}
        left = [piece for piece in preferred if piece.candidate.chunk.id not in names]
        return Packed(tuple(chosen), tuple(left), gap=gap)
    taken: list[Piece] = []
    left = []
    opened: set[str] = set()
    used = 0
    stopped = False
    for piece in preferred:
        chunk = piece.candidate.chunk
        extra = 0 if chunk.record_id in opened else marker(chunk.path)
        if not stopped and used + extra + piece.tokens <= available:
            taken.append(piece)
            opened.add(chunk.record_id)
            used += extra + piece.tokens
            continue
        if stopped or (overflow == "skip" and hard):
            left.append(piece)
            continue
        stopped = True
        part = piece if not hard else None
        if hard and overflow == "cut":
            part = cut(piece, available - used - extra)
        if part is None:
            left.append(piece)
        else:
            taken.append(part)
    return Packed(tuple(taken), tuple(left), truncated=stopped)


def limited(pieces: Sequence[Piece], per_document: int) -> tuple[list[Piece], list[Piece]]:
    """Part pieces into the best few of each document and the rest."""
    if not per_document:
        return list(pieces), []
    kept = [piece for group in groups(pieces) for piece in group[:per_document]]
    rest = [piece for group in groups(pieces) for piece in group[per_document:]]
    return kept, rest


def as_cut(piece: Piece, text: str, tokens: int) -> Piece:
    """Give a piece that shows less of its text."""
    return replace(piece, text=text, tokens=tokens, whole=False)

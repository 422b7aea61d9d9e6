"""Which pieces go in, taken for what they cost one by one?

Every way of packing walks the pieces in its own order of preference and takes what fits. A
heading's first piece also pays for the heading. What a piece costs in the whole is measured
afterwards (`settle`), and only there is one cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from quire.core.types import CUT, Piece
from quire.errors import InputError
from quire.packing.optimal import optimal

OVERFLOWS = ("skip", "cut", "stop")

Opening = Callable[[Piece], int]
"""What the heading of a piece's group costs, for the first piece in it."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen, in the order of preference, and what was left out, likewise."""

    chosen: tuple[Piece, ...]
    left: tuple[Piece, ...]
    gap: int = 0
    """By how many points of score, at most, a better choice would beat this one (`optimal`)."""


def groups(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Group pieces by heading, the one with the best piece first; best pieces first in each."""
    found: dict[str, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.order):
        found.setdefault(piece.heading, []).append(piece)
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


def preferred(pieces: Sequence[Piece], way: str) -> list[Piece]:
    """Give pieces in the order in which a way of packing prefers them."""
    if way not in PREFERENCES:
        raise InputError(f"{way!r} is no way of packing; there are {', '.join(PREFERENCES)}")
    return PREFERENCES[way](pieces)


def pack(
    pieces: Sequence[Piece], available: int, *, way: str, overflow: str, opening: Opening
) -> Packed:
    """Choose what fits into the available tokens.

    A piece that is too long is taken with less detail if it may be. With `skip`, one that does not
    fit at all is passed over; otherwise nothing is taken after it.
    """
    if overflow not in OVERFLOWS:
        raise InputError(f"{overflow!r} is no overflow; there are {', '.join(OVERFLOWS)}")
    ordered = preferred(pieces, way)
    if way == "optimal":
        chosen, gap = optimal(groups(pieces), available, opening)
        names = {piece.candidate.chunk.id for piece in chosen}
        rest = [piece for piece in ordered if piece.candidate.chunk.id not in names]
        return Packed(tuple(chosen), tuple(rest), gap)
    taken: list[Piece] = []
    left: list[Piece] = []
    opened: set[str] = set()
    used = 0
    for piece in ordered:
        start = 0 if piece.heading in opened else opening(piece)
        room = available - used - start
        fitting = next((each for each in options(piece) if each.tokens <= room), None)
        if fitting is None or (left and overflow != "skip"):
            left.append(piece)
            continue
        taken.append(fitting)
        opened.add(piece.heading)
        used += start + fitting.tokens
    return Packed(tuple(taken), tuple(left))


def pack_shares(
    pieces: Sequence[Piece],
    available: int,
    shares: Mapping[str, int],
    *,
    way: str,
    overflow: str,
    opening: Opening,
) -> tuple[Packed, list[Piece]]:
    """Choose for each section what fits into its share; gives the order of preference, too.

    First comes what the shares hold, by turns, the best of each section first. What a section
    leaves unused goes to the best of what is left, whichever section that was found for.
    """
    by_section: dict[str, list[Piece]] = {name: [] for name in shares}
    for piece in pieces:
        by_section["" if piece.candidate.section is None else piece.candidate.section.name].append(
            piece
        )
    made = [
        pack(
            by_section[name],
            available * share // max(1, sum(shares.values())),
            way=way,
            overflow=overflow,
            opening=opening,
        )
        for name, share in shares.items()
    ]
    turns = zip_longest(*(packed.chosen for packed in made))
    chosen = [piece for turn in turns for piece in turn if piece is not None]
    full = {piece.candidate.chunk.id: piece for piece in pieces}
    inside = [full[piece.candidate.chunk.id] for piece in chosen]
    left = score_weighted([piece for packed in made for piece in packed.left])
    gap = sum(packed.gap for packed in made)
    return Packed(tuple(chosen), tuple(left), gap), [*inside, *left]


def options(piece: Piece) -> tuple[Piece, ...]:
    """Give all ways to show a piece, the most detail first."""
    return (piece, *piece.instead)


def limited(pieces: Sequence[Piece], per_document: int) -> tuple[list[Piece], list[Piece]]:
    """Part pieces into the best few of each document and the rest."""
    if not per_document:
        return list(pieces), []
    counts: Counter[str] = Counter()
    kept: list[Piece] = []
    rest: list[Piece] = []
    for piece in greedy(pieces):
        document = piece.candidate.chunk.record_id
        (kept if counts[document] < per_document else rest).append(piece)
        counts[document] += 1
    return kept, rest


def as_cut(piece: Piece, text: str, tokens: int) -> Piece:
    """Give a piece that shows less of its text."""
    return replace(piece, text=text, tokens=tokens, level=CUT, instead=())

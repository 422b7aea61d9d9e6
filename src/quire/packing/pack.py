"""Choosing pieces by what each of them costs alone.

Every strategy walks the pieces in its own order of preference and takes what fits. The first piece
under a heading also pays for the heading. What the pieces cost together is measured afterwards
(`refine`), and only there is a piece cut.

A piece may be covered: another one that is chosen shows all of what it says. Then it is not chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from quire.core.types import CUT, Piece
from quire.errors import unknown
from quire.packing.optimal import pack_optimal

NEARLY = 2
"""A piece is nearly as good as another with at most so many times its score."""
OVERFLOWS = ("skip", "cut", "stop")

HeadingCost = Callable[[Piece], int]
"""What the heading of a piece's group costs, for the first piece in it."""

Covered = Callable[[Piece, Sequence[Piece]], bool]
"""Tells whether chosen pieces show all that another piece says; none is covered by itself."""


def never_covered(_piece: Piece, _chosen: Sequence[Piece]) -> bool:
    """Tell that no piece repeats another."""
    return False


def without_covered(chosen: Sequence[Piece], covered: Covered) -> list[Piece]:
    """Return chosen pieces without those that others show; the preferred ones stay."""
    left = list(chosen)
    if covered is not never_covered:
        for piece in reversed(chosen):
            if covered(piece, left):
                left.remove(piece)
    return left


@dataclass(frozen=True, slots=True)
class Packed:
    """The chosen pieces and the rest, both in the order of preference."""

    chosen: tuple[Piece, ...]
    rest: tuple[Piece, ...]
    gap: int = 0
    """Upper bound of the score that a better choice would add (`optimal`)."""


def group_by_heading(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Group pieces by heading: groups by their best piece, the best piece first in each."""
    groups: dict[str, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.order):
        groups.setdefault(piece.heading, []).append(piece)
    return list(groups.values())


def greedy(pieces: Sequence[Piece]) -> list[Piece]:
    """Order documents by their best piece, and finish one before the next."""
    return [piece for group in group_by_heading(pieces) for piece in group]


def interleaved(pieces: Sequence[Piece]) -> list[Piece]:
    """Take turns: the best piece of each document, then the second best of each."""
    turns = zip_longest(*group_by_heading(pieces))
    return [piece for turn in turns for piece in turn if piece is not None]


def score_weighted(pieces: Sequence[Piece]) -> list[Piece]:
    """Order pieces strictly by their score."""
    return sorted(pieces, key=lambda piece: piece.order)


STRATEGIES: dict[str, Callable[[Sequence[Piece]], list[Piece]]] = {
    "greedy": greedy,
    "interleaved": interleaved,
    "score_weighted": score_weighted,
    "optimal": score_weighted,
}
"""The order of preference of each strategy."""


def sort_by_preference(pieces: Sequence[Piece], strategy: str) -> list[Piece]:
    """Return pieces in the order of preference of a strategy."""
    if strategy not in STRATEGIES:
        raise unknown("packing strategy", strategy, STRATEGIES, field="fit.pack")
    return STRATEGIES[strategy](pieces)


def pack(
    pieces: Sequence[Piece],
    available: int,
    *,
    strategy: str,
    overflow: str,
    heading_cost: HeadingCost,
    covered: Covered = never_covered,
) -> Packed:
    """Choose what fits into the available tokens.

    A piece that is too long is taken at a lower level of detail if it has one. With `skip`, a piece
    that does not fit is passed over; otherwise nothing is taken after it.
    """
    if overflow not in OVERFLOWS:
        raise unknown("overflow", overflow, OVERFLOWS, field="budget.overflow")
    ordered = sort_by_preference(pieces, strategy)
    if strategy == "optimal":
        optimum, gap = pack_optimal(group_by_heading(pieces), available, heading_cost)
        return _packed(without_covered(optimum, covered), ordered, gap)
    chosen: list[Piece] = []
    headings: set[str] = set()
    used = 0
    ended = False
    for piece in ordered:
        if ended or covered(piece, chosen):
            continue
        cost = 0 if piece.heading in headings else heading_cost(piece)
        room = available - used - cost
        fitting = next((variant for variant in variants(piece) if variant.tokens <= room), None)
        if fitting is None:
            ended = overflow != "skip"
            continue
        chosen.append(fitting)
        headings.add(piece.heading)
        used += cost + fitting.tokens
    return _packed(without_covered(chosen, covered), ordered)


def _packed(chosen: Sequence[Piece], ordered: Sequence[Piece], gap: int = 0) -> Packed:
    ids = {piece.candidate.chunk.id for piece in chosen}
    rest = (piece for piece in ordered if piece.candidate.chunk.id not in ids)
    return Packed(tuple(chosen), tuple(rest), gap)


def pack_shares(
    pieces: Sequence[Piece],
    available: int,
    shares: Mapping[str, int],
    *,
    strategy: str,
    overflow: str,
    heading_cost: HeadingCost,
    covered: Covered = never_covered,
) -> tuple[Packed, list[Piece]]:
    """Choose for each section what fits into its share; returns the order of preference as well.

    The pieces that fit the shares come first, by turns, the best of each section first. What a
    section leaves unused goes to the best of the rest, whichever section it was found for. So does
    the room of a section whose best piece does not fit its share, unless what fits is nearly as
    good.
    """
    by_section: dict[str, list[Piece]] = {name: [] for name in shares}
    for piece in pieces:
        by_section["" if piece.candidate.section is None else piece.candidate.section.name].append(
            piece
        )
    sections = [
        pack(
            by_section[name],
            available * share // max(1, sum(shares.values())),
            strategy=strategy,
            overflow=overflow,
            heading_cost=heading_cost,
            covered=covered,
        )
        for name, share in shares.items()
    ]
    turns = zip_longest(*map(_without_stopgaps, sections))
    turn_by_turn = [piece for turn in turns for piece in turn if piece is not None]
    chosen = without_covered(turn_by_turn, covered)
    ids = {piece.candidate.chunk.id for piece in chosen}
    in_full = {piece.candidate.chunk.id: piece for piece in pieces}
    preferred = [in_full[piece.candidate.chunk.id] for piece in chosen]
    rest = score_weighted([piece for piece in pieces if piece.candidate.chunk.id not in ids])
    gap = sum(packed.gap for packed in sections)
    return Packed(tuple(chosen), tuple(rest), gap), [*preferred, *rest]


def _without_stopgaps(packed: Packed) -> list[Piece]:
    """Return what fits a share, without pieces far behind one that was passed over for its length.

    They do not lose their chance: they compete with the rest.
    """
    passed_over = [piece.candidate.score for piece in packed.rest if not piece.candidate.context]
    best = max(passed_over, default=0)
    return [
        piece
        for piece in packed.chosen
        if piece.candidate.context is not None or NEARLY * piece.candidate.score >= best
    ]


def variants(piece: Piece) -> tuple[Piece, ...]:
    """Return a piece at all its levels of detail, the most detail first."""
    return (piece, *piece.variants)


def rules_first(piece: Piece) -> Piece:
    """Return a context without its prose: the rules of all contexts come before any prose."""
    if piece.candidate.context is None or not piece.variants:
        return piece
    return replace(piece.variants[0], variants=piece.variants[1:])


def limit_per_document(pieces: Sequence[Piece], limit: int) -> tuple[list[Piece], list[Piece]]:
    """Split pieces into the best few of each document and the rest; 0: no limit."""
    if not limit:
        return list(pieces), []
    counts: Counter[str] = Counter()
    best: list[Piece] = []
    rest: list[Piece] = []
    for piece in greedy(pieces):
        document = piece.candidate.chunk.record_id
        (best if counts[document] < limit else rest).append(piece)
        counts[document] += 1
    return best, rest


def with_cut_text(piece: Piece, text: str, tokens: int) -> Piece:
    """Return a piece that shows less of its text."""
    return replace(piece, text=text, tokens=tokens, level=CUT, variants=())

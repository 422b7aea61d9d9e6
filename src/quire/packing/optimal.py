"""Which choice holds the most score?

A knapsack in which the first piece under a heading also pays for the heading, and in which a piece
with less detail holds less of its score, solved by dynamic programming over the budget: exact while
the table stays below `LARGEST`, and above that on a coarser scale of tokens, rounded up so that the
budget holds, with the gap to a bound reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from quire.core.types import OUTLINE, SIGNATURE, Piece

LARGEST = 60_000_000
"""Cells of the table: pieces times budget."""
WORTH = {SIGNATURE: 40, OUTLINE: 15}
"""The percentage of its score that a piece holds with less detail."""

Scores = npt.NDArray[np.int64]
Choices = list[tuple[npt.NDArray[np.bool_], list[npt.NDArray[np.int8]]]]


def worth(piece: Piece) -> int:
    """Tell how much of its score a piece holds as it is shown."""
    return piece.candidate.score * WORTH.get(piece.level, 100) // 100


def optimal(
    groups: Sequence[Sequence[Piece]], available: int, opening: Callable[[Piece], int]
) -> tuple[list[Piece], int]:
    """Choose the pieces with the greatest sum of scores; gives also the most that is missed."""
    pieces = [piece for group in groups for piece in group]
    openings = [opening(group[0]) for group in groups]
    if sum(openings) + sum(piece.tokens for piece in pieces) <= available:
        return sorted(pieces, key=lambda piece: piece.order), 0
    if available < 0:
        return [], 0
    scale = max(1, -(-len(pieces) * (available + 1) // LARGEST))
    room = available // scale
    best: Scores = np.zeros(room + 1, np.int64)
    starts = [-(-start // scale) for start in openings]
    choices: Choices = []
    for group, start in zip(groups, starts, strict=True):
        inside = _shifted(best, start, 0)
        taken: list[npt.NDArray[np.int8]] = []
        for piece in group:
            without, choice = inside, np.zeros(room + 1, np.int8)
            for place, option in enumerate((piece, *piece.instead), start=1):
                with_it = _shifted(without, -(-option.tokens // scale), worth(option))
                better = with_it > inside
                choice[better] = place
                inside = np.where(better, with_it, inside)
            taken.append(choice)
        opened = inside > best
        choices.append((opened, taken))
        best = np.where(opened, inside, best)
    chosen = _trace(groups, choices, starts, room, scale)
    reached = sum(map(worth, chosen))
    missed = 0 if scale == 1 else max(0, _bound(pieces, available) - reached)
    return sorted(chosen, key=lambda piece: piece.order), missed


def _shifted(best: Scores, by: int, gain: int) -> Scores:
    moved = np.full(best.size, np.iinfo(np.int64).min // 2, np.int64)
    if by < best.size:
        moved[by:] = best[: best.size - by] + gain
    return moved


def _trace(
    groups: Sequence[Sequence[Piece]],
    choices: Choices,
    starts: Sequence[int],
    room: int,
    scale: int,
) -> list[Piece]:
    chosen: list[Piece] = []
    at = room
    ways = zip(reversed(groups), reversed(choices), reversed(starts), strict=True)
    for group, (opened, taken), start in ways:
        if not opened[at]:
            continue
        for piece, choice in zip(reversed(group), reversed(taken), strict=True):
            if choice[at]:
                chosen.append((piece, *piece.instead)[choice[at] - 1])
                at -= -(-chosen[-1].tokens // scale)
        at -= start
    return chosen


def _bound(pieces: Sequence[Piece], available: int) -> int:
    """Give what could be reached if pieces could be split and markers were free."""
    left, total = available, 0
    for piece in sorted(pieces, key=_worth, reverse=True):
        share = min(piece.tokens, left)
        whole = share == piece.tokens  # one that costs nothing is always in
        total += (
            piece.candidate.score if whole else -(-piece.candidate.score * share // piece.tokens)
        )
        left -= share
    return total


def _worth(piece: Piece) -> tuple[bool, Fraction]:
    return not piece.tokens, Fraction(piece.candidate.score, max(1, piece.tokens))

"""Which choice holds the most score?

A knapsack in which the first piece of a document also pays for the document's marker, solved by
dynamic programming over the budget: exact while the table stays below `LARGEST`, and above that on
a coarser scale of tokens, rounded up so that the budget holds, with the gap to a bound reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from quire.values import Piece

LARGEST = 60_000_000
"""Cells of the table: pieces times budget."""

Scores = npt.NDArray[np.int64]


def optimal(
    groups: Sequence[Sequence[Piece]], available: int, marker: Callable[[str], int]
) -> tuple[list[Piece], int]:
    """Choose the pieces with the greatest sum of scores; gives also the most that is missed."""
    pieces = [piece for group in groups for piece in group]
    markers = sum(marker(group[0].candidate.chunk.path) for group in groups)
    if markers + sum(piece.tokens for piece in pieces) <= available:
        return sorted(pieces, key=lambda piece: piece.order), 0
    if available < 0:
        return [], 0
    scale = max(1, -(-len(pieces) * (available + 1) // LARGEST))
    room = available // scale
    best: Scores = np.zeros(room + 1, np.int64)
    choices: list[tuple[npt.NDArray[np.bool_], list[npt.NDArray[np.bool_]]]] = []
    for group in groups:
        start = -(-marker(group[0].candidate.chunk.path) // scale)
        inside = _shifted(best, start, 0)
        taken: list[npt.NDArray[np.bool_]] = []
        for piece in group:
            weight = -(-piece.tokens // scale)
            with_it = _shifted(inside, weight, piece.candidate.score)
            better = with_it > inside
            taken.append(better)
            inside = np.where(better, with_it, inside)
        opened = inside > best
        choices.append((opened, taken))
        best = np.where(opened, inside, best)
    chosen = _trace(groups, choices, room, scale, marker)
    reached = sum(piece.candidate.score for piece in chosen)
    missed = 0 if scale == 1 else max(0, _bound(pieces, available) - reached)
    return sorted(chosen, key=lambda piece: piece.order), missed


def _shifted(best: Scores, by: int, gain: int) -> Scores:
    moved = np.full(best.size, np.iinfo(np.int64).min // 2, np.int64)
    if by < best.size:
        moved[by:] = best[: best.size - by] + gain
    return moved


def _trace(
    groups: Sequence[Sequence[Piece]],
    choices: list[tuple[npt.NDArray[np.bool_], list[npt.NDArray[np.bool_]]]],
    room: int,
    scale: int,
    marker: Callable[[str], int],
) -> list[Piece]:
    chosen: list[Piece] = []
    at = room
    for group, (opened, taken) in zip(reversed(groups), reversed(choices), strict=True):
        if not opened[at]:
            continue
        for piece, better in zip(reversed(group), reversed(taken), strict=True):
            if better[at]:
                chosen.append(piece)
                at -= -(-piece.tokens // scale)
        at -= -(-marker(group[0].candidate.chunk.path) // scale)
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

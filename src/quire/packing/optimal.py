"""The `optimal` strategy: the choice of pieces with the highest total score.

It solves a knapsack in which the first piece under a heading also pays for the heading, and in
which a piece at a lower level of detail counts for less of its score. Dynamic programming over the
budget is exact while the table has at most `MAX_CELLS`. Above that it counts tokens on a coarser
scale, rounded up so that the budget holds, and reports the gap to an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from quire.core.types import MATCH, OUTLINE, SIGNATURE, Piece

MAX_CELLS = 60_000_000
"""Largest size of the table: pieces times budget."""
LEVEL_PERCENT = {MATCH: 60, SIGNATURE: 40, OUTLINE: 15}
"""Percent of its score that a piece has at a lower level of detail."""

Scores = npt.NDArray[np.int64]
Choices = list[tuple[npt.NDArray[np.bool_], list[npt.NDArray[np.int8]]]]
"""For each group and each budget: whether the group is opened, and the variant of each piece."""


def level_score(piece: Piece) -> int:
    """Return the score of a piece at its level of detail."""
    return piece.candidate.score * LEVEL_PERCENT.get(piece.level, 100) // 100


def pack_optimal(
    groups: Sequence[Sequence[Piece]], available: int, heading_cost: Callable[[Piece], int]
) -> tuple[list[Piece], int]:
    """Choose the pieces with the highest total score; returns them and the gap to the optimum."""
    pieces = [piece for group in groups for piece in group]
    heading_costs = [heading_cost(group[0]) for group in groups]
    if sum(heading_costs) + sum(piece.tokens for piece in pieces) <= available:
        return sorted(pieces, key=lambda piece: piece.order), 0
    if available < 0:
        return [], 0
    scale = max(1, -(-len(pieces) * (available + 1) // MAX_CELLS))
    budget = available // scale
    best: Scores = np.zeros(budget + 1, np.int64)
    costs = [-(-cost // scale) for cost in heading_costs]
    choices: Choices = []
    for group, cost in zip(groups, costs, strict=True):
        opened = _shift(best, cost, 0)
        variants: list[npt.NDArray[np.int8]] = []
        for piece in group:
            without, variant = opened, np.zeros(budget + 1, np.int8)
            for number, option in enumerate((piece, *piece.variants), start=1):
                with_option = _shift(without, -(-option.tokens // scale), level_score(option))
                better = with_option > opened
                variant[better] = number
                opened = np.where(better, with_option, opened)
            variants.append(variant)
        is_opened = opened > best
        choices.append((is_opened, variants))
        best = np.where(is_opened, opened, best)
    chosen = _trace(groups, choices, costs, budget, scale)
    total = sum(map(level_score, chosen))
    gap = 0 if scale == 1 else max(0, _upper_bound(pieces, available) - total)
    return sorted(chosen, key=lambda piece: piece.order), gap


def _shift(best: Scores, cost: int, gain: int) -> Scores:
    shifted = np.full(best.size, np.iinfo(np.int64).min // 2, np.int64)
    if cost < best.size:
        shifted[cost:] = best[: best.size - cost] + gain
    return shifted


def _trace(
    groups: Sequence[Sequence[Piece]],
    choices: Choices,
    costs: Sequence[int],
    budget: int,
    scale: int,
) -> list[Piece]:
    """Follow the choices back from the full budget."""
    chosen: list[Piece] = []
    at = budget
    rows = zip(reversed(groups), reversed(choices), reversed(costs), strict=True)
    for group, (is_opened, variants), cost in rows:
        if not is_opened[at]:
            continue
        for piece, variant in zip(reversed(group), reversed(variants), strict=True):
            if variant[at]:
                chosen.append((piece, *piece.variants)[variant[at] - 1])
                at -= -(-chosen[-1].tokens // scale)
        at -= cost
    return chosen


def _upper_bound(pieces: Sequence[Piece], available: int) -> int:
    """Return the total score if pieces could be split and headings were free."""
    left, total = available, 0
    for piece in sorted(pieces, key=_density, reverse=True):
        share = min(piece.tokens, left)
        whole = share == piece.tokens  # a piece that costs nothing always fits
        total += (
            piece.candidate.score if whole else -(-piece.candidate.score * share // piece.tokens)
        )
        left -= share
    return total


def _density(piece: Piece) -> tuple[bool, Fraction]:
    """Return the score per token; a piece that costs nothing comes before all others."""
    return not piece.tokens, Fraction(piece.candidate.score, max(1, piece.tokens))

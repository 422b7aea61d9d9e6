"""What is done, and said, about pieces that do not fit."""

from __future__ import annotations

from dataclasses import replace

from quire import packing
from quire.core.types import CUT, SUMMARIZED, Recipe
from quire.errors import BudgetTooSmallError
from quire.pipeline.costs import count_tokens
from quire.pipeline.cuts import make_cutter
from quire.pipeline.draft import Draft


def overflow_of(recipe: Recipe) -> str:
    """Return what happens to a piece that does not fit; `optimal` knows no order to stop in."""
    return "skip" if recipe.fit.pack == "optimal" else recipe.budget.overflow


def reasons_left_out(draft: Draft) -> list[str]:
    """Return why each piece was left out: it does not fit, or packing had stopped."""
    budget = draft.recipe.budget
    room = max(0, budget.available - draft.tokens)
    tried = len(draft.left_out)
    if not budget.hard or any(piece.level in {CUT, SUMMARIZED} for piece in draft.pieces):
        tried = 0
    elif overflow_of(draft.recipe) != "skip":
        tried = 1
    return [
        f"does not fit: {piece.tokens} tokens and its marker, {room} are left"
        if place < tried
        else "the budget was used up before its turn"
        for place, piece in enumerate(draft.left_out)
    ]


def nothing_fits(draft: Draft) -> Draft:
    """Return a draft that says which budget is needed, or refuse the one that there is."""
    budget = draft.recipe.budget
    least = _smallest_cost(draft)
    needed = budget.total + least - budget.available
    message = (
        f"not even one piece fits: at least {least} tokens are needed, {budget.available} of "
        f"{budget.total} are available"
    )
    if draft.allow_empty:
        return replace(draft, notes=(*draft.notes, f"{message}; raise `budget` to {needed}"))
    cuts = budget.overflow == "cut" or draft.recipe.fit.pack == "optimal"
    raise BudgetTooSmallError(
        message,
        field="budget",
        value=budget.total,
        hint=f"raise {{budget}} to {needed}, "
        + ("" if cuts else "set {overflow} to cut, ")
        + "or set {allow_empty}",
    )


def _smallest_cost(draft: Draft) -> int:
    """Return what the smallest context costs that the overflow allows."""
    overflow = overflow_of(draft.recipe)
    draft = replace(draft, footer=False)  # the list of sources is dropped first
    tried = draft.left_out if overflow == "skip" else draft.left_out[:1]
    least = min(
        count_tokens(draft, [variant]) for piece in tried for variant in packing.variants(piece)
    )
    if overflow != "cut":
        return least
    first = draft.left_out[0]
    cut = make_cutter(draft)
    parts = (cut(first, room) for room in range(1, first.tokens + 1))
    first = next((part for part in parts if part is not None), first)
    return min(least, count_tokens(draft, [first]))

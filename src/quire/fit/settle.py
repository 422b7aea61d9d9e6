"""Does the text as it will be said keep the budget, and is nothing left that would still fit?

Tokens do not add up: what a marker, a separator or a join costs shows only in the whole. So the
whole is measured: what is too much is taken out, least preferred first, and what was passed over is
tried again until nothing more fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quire.values import Piece

SLACK = 16
"""A piece may cost so many tokens less inside the whole than it does alone."""

Length = Callable[[Sequence[Piece]], int]
"""What these pieces, in the order of preference, cost as they will be said."""

Cut = Callable[[Piece, int], Piece | None]
"""Cut a piece to so many tokens; None if nothing sensible is left."""


def settle(
    chosen: Sequence[Piece],
    left: Sequence[Piece],
    available: int,
    *,
    length: Length,
    cut: Cut,
    fill: bool,
) -> tuple[list[Piece], list[Piece], int]:
    """Give what stays, what is left out, and the length of the whole."""
    kept, out = list(chosen), list(left)
    used = length(kept)
    while kept and used > available:
        last = kept.pop()
        # A piece that was cut is cut further; a whole one goes.
        shorter = None if last.whole else cut(last, last.tokens - (used - available))
        if shorter is None:
            out.append(last)
        else:
            kept.append(shorter)
        used = length(kept)
    out.sort(key=lambda piece: piece.order)
    while fill:
        added = False
        for piece in list(out):
            if piece.tokens > available - used + SLACK:
                continue
            tried = length([*kept, piece])
            if tried <= available:
                kept.append(piece)
                out.remove(piece)
                used, added = tried, True
        if not added:
            break
    return kept, out, used

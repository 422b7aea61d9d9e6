"""Refining a choice of pieces until the rendered text fits the budget.

Tokens do not add up: the cost of a heading, a separator or a join shows only in the whole text. So
the whole is measured. What is too much is removed, least preferred first. Then the rest is added as
the overflow says:

- `skip`: whatever still fits is added, until nothing more does.
- `stop`: pieces are added in the order of preference, up to the first that does not fit.
- `cut`: likewise, and that piece is cut to the remaining room.

A piece that does not fit is tried at its lower levels of detail, and gets the detail back if there
is room in the end. A soft budget adds pieces in the order of preference until it is reached: the
last piece may exceed it.

Contexts are chosen by their rules first. What is left is then shared out, in proportion to their
priority, to show more of them; those that would not fit in full are cut (`deepen`).

A piece that others cover is passed over. One that is added takes the place of those it covers.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from quire.core.types import CUT, Chunk, Piece
from quire.packing.pack import (
    Covered,
    HeadingCost,
    never_covered,
    rules_first,
    variants,
    without_covered,
)

SLACK = 16
"""A piece may cost so many tokens less inside the whole than alone."""
HEADING_SLACK = 8
"""The same for a heading."""
MAX_WEIGHT = 1_000_000
"""Needs are compared in millionths of a token for each point of priority."""
MAX_TRIES = 12
"""Number of cuts that are measured before the best one is taken."""

Measure = Callable[[Sequence[Piece]], int]
"""Counts the tokens of pieces, given in the order of preference, as they will be rendered."""

Cut = Callable[[Piece, int], Piece | None]
"""Cuts a piece to a number of tokens; None if nothing useful is left."""


def refine(
    preferred: Sequence[Piece],
    chosen: Sequence[Piece],
    available: int,
    *,
    overflow: str,
    hard: bool,
    measure: Measure,
    cut: Cut,
    heading_cost: HeadingCost,
    covered: Covered = never_covered,
    shorten: Cut | None = None,
    detail_first: bool = False,
) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces that fit and the rest, both in the order of preference.

    `preferred` holds all pieces in full, `chosen` the chosen ones at their level of detail.
    `shorten` cuts a context, whatever the overflow. With `detail_first`, the chosen pieces are
    shown in full before others are added.
    """
    chosen_by_id = {piece.candidate.chunk.id: piece for piece in chosen}
    places = {piece.candidate.chunk.id: place for place, piece in enumerate(preferred)}
    ids = [piece.candidate.chunk.id for piece in preferred]
    selection = _Selection(
        chosen=[chosen_by_id[chunk_id] for chunk_id in ids if chunk_id in chosen_by_id],
        rest=[piece for piece in preferred if piece.candidate.chunk.id not in chosen_by_id],
        pieces=list(preferred),
        places=places,
        available=available,
        measure=measure,
        heading_cost=heading_cost,
        covered=covered,
    )
    if not hard:
        selection.reach()
        return selection.chosen, selection.rest
    selection.trim()
    if shorten is not None:
        selection.add_contexts()
        selection.deepen(shorten)
    if overflow == "skip":
        selection.fill(detail_first=detail_first)
    else:
        selection.extend()
        if overflow == "cut":
            selection.cut_next(cut)
    if shorten is not None:
        selection.deepen(shorten)
    return selection.chosen, selection.rest


@dataclass(slots=True)
class _Selection:
    """The chosen pieces and the rest, both in the order of preference, and their cost."""

    chosen: list[Piece]
    rest: list[Piece]
    pieces: list[Piece]
    """All pieces, in full."""
    places: dict[str, int]
    available: int
    measure: Measure
    heading_cost: HeadingCost
    covered: Covered
    used: int = 0
    _headings: set[str] = field(default_factory=set)
    """The headings of the chosen pieces; known only while pieces are added."""
    _by_record: dict[str, list[Chunk]] = field(default_factory=dict)
    """The chunks of the chosen pieces by record, likewise."""

    def trim(self) -> None:
        """Remove what is too much, least preferred first."""
        self.used = self.measure(self.chosen)
        while self.chosen and self.used > self.available:
            excess = self.used - self.available
            while self.chosen and excess > 0:
                last = self.chosen.pop()
                self.rest.append(self.pieces[self._place(last)])
                excess -= max(1, last.tokens)
            self.used = self.measure(self.chosen)
        self.rest.sort(key=self._place)

    def reach(self) -> None:
        """Add pieces until the budget is reached, and not one more."""
        self.used = self.measure(self.chosen)
        while self.chosen and (less := self.measure(self.chosen[:-1])) >= self.available:
            insort(self.rest, self.pieces[self._place(self.chosen.pop())], key=self._place)
            self.used = less
        while self.used < self.available and (piece := self._next()) is not None:
            self._add(*self._with_piece(piece))

    def fill(self, *, detail_first: bool = False) -> None:
        """Add whatever fits, until nothing more does: one piece may make room for another.

        With `detail_first`, what is chosen already is shown in full before more is added.
        """
        self._remember(self.chosen)
        if detail_first:
            self._restore_detail()
        added = True
        while added:
            added = False
            for piece in list(self.rest):
                if not self.covered(piece, self.chosen) and self._try_to_add(piece):
                    added = True
        self._restore_detail()

    def extend(self) -> None:
        """Add the next pieces, up to the first that does not fit."""
        self._remember(self.chosen)
        while (piece := self._next()) is not None and self._try_to_add(piece):
            pass
        self._restore_detail()

    def cut_next(self, cut: Cut) -> None:
        """Cut the next piece to the remaining room, measuring how much of it fits."""
        piece = self._next()
        if piece is None:
            return
        alone = max(1, self._with_piece(piece)[1] - self.used)
        fitting, too_long = 0, piece.tokens + 1
        room = piece.tokens * (self.available - self.used) // alone
        best: Piece | None = None
        for _ in range(MAX_TRIES):
            room = min(max(room, fitting + 1), too_long - 1)
            part = cut(piece, room)
            used = self.used if part is None else self._with_piece(part)[1]
            if used > self.available:
                too_long = room
            else:
                fitting, best = room, part or best
            if too_long - fitting <= 1 or 0 <= self.available - used <= self.available // 100:
                break
            room += self.available - used
        if best is not None:
            self._add(*self._with_piece(best))

    def add_contexts(self) -> None:
        """Add the contexts that fit by their rules, or by less."""
        self._remember(self.chosen)
        for piece in [piece for piece in self.rest if piece.candidate.context is not None]:
            for variant in variants(rules_first(piece)):
                chosen, used = self._with_piece(variant)
                if used <= self.available:
                    self._add(chosen, used)
                    break

    def deepen(self, shorten: Cut) -> None:
        """Show more of the contexts that are not shown in full, each by its share of the room.

        Those that need least for their share come first: what they leave goes to the others.
        """
        weights = {
            piece.candidate.chunk.id: max(1, piece.candidate.context.priority)
            for piece in self.chosen
            if piece.candidate.context is not None and not piece.is_full
        }
        waiting = [piece for piece in self.chosen if piece.candidate.chunk.id in weights]

        def need(piece: Piece) -> tuple[int, int]:
            missing = self.pieces[self._place(piece)].tokens - piece.tokens
            return missing * MAX_WEIGHT // weights[piece.candidate.chunk.id], self._place(piece)

        for piece in sorted(waiting, key=need):
            left = sum(weights.values())
            weight = weights.pop(piece.candidate.chunk.id)
            self._show_more(piece, (self.available - self.used) * weight // left, shorten)

    def _show_more(self, shown: Piece, room: int, shorten: Cut) -> None:
        """Show a piece in full, or cut, if that takes no more than some further tokens."""
        others = [piece for piece in self.chosen if piece is not shown]
        whole = self.pieces[self._place(shown)]
        limit = shown.tokens + room
        for _ in range(MAX_TRIES):
            part = whole if whole.tokens <= limit else shorten(whole, limit)
            if part is None or part.tokens <= shown.tokens:
                return
            chosen, used = self._with_piece(part, others)
            if used <= self.available:
                self.chosen, self.used = chosen, used
                return
            limit = min(limit, part.tokens) - (used - self.available)

    def _restore_detail(self) -> None:
        """Show pieces of little detail with more of it, where there is room."""
        lacking = [piece for piece in self.chosen if piece.is_described and piece.level != CUT]
        for shown in lacking:
            for fuller in variants(self.pieces[self._place(shown)]):
                if fuller is shown or fuller.level == shown.level:
                    break
                others = [piece for piece in self.chosen if piece is not shown]
                chosen, used = self._with_piece(fuller, others)
                if used <= self.available:
                    self.chosen, self.used = chosen, used
                    break

    def _may_fit(self, piece: Piece) -> bool:
        """Tell whether a piece is worth measuring, from what it costs alone."""
        # Line ends at either end are not printed, nor is text that a chosen piece already shows.
        stripped = len(piece.text) - len(piece.text.strip("\n"))
        least = max(0, piece.tokens - stripped - SLACK)
        if piece.heading not in self._headings:
            least += max(0, self.heading_cost(piece) - HEADING_SLACK)
        if least <= self.available - self.used:
            return True
        chunk = piece.candidate.chunk
        return any(
            chunk.start < other.end and other.start < chunk.end
            for other in self._by_record.get(chunk.record_id, ())
        )

    def _try_to_add(self, piece: Piece) -> bool:
        """Add a piece in as much detail as the budget allows."""
        for variant in variants(piece):
            if self._may_fit(variant):
                chosen, used = self._with_piece(variant)
                if used <= self.available:
                    self._add(chosen, used)
                    return True
        return False

    def _with_piece(
        self, piece: Piece, others: list[Piece] | None = None
    ) -> tuple[list[Piece], int]:
        """Return the chosen pieces with one more, and what they would cost."""
        chosen = list(self.chosen if others is None else others)
        insort(chosen, piece, key=self._place)
        chosen = without_covered(chosen, self.covered)
        return chosen, self.measure(chosen)

    def _next(self) -> Piece | None:
        """Return the most preferred of the rest that nothing covers."""
        return next((piece for piece in self.rest if not self.covered(piece, self.chosen)), None)

    def _remember(self, pieces: Sequence[Piece]) -> None:
        """Index chosen pieces, so that `_may_fit` need not search them."""
        self._headings = {piece.heading for piece in pieces}
        self._by_record = {}
        for piece in pieces:
            chunk = piece.candidate.chunk
            self._by_record.setdefault(chunk.record_id, []).append(chunk)

    def _add(self, chosen: list[Piece], used: int) -> None:
        self._remember(chosen)
        self.chosen, self.used = chosen, used
        ids = {piece.candidate.chunk.id for piece in chosen}
        self.rest = [piece for piece in self.pieces if piece.candidate.chunk.id not in ids]

    def _place(self, piece: Piece) -> int:
        return self.places[piece.candidate.chunk.id]

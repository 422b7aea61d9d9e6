"""Does the text as it will be said keep the budget, and is nothing left that would still fit?

Tokens do not add up: what a marker, a separator or a join costs shows only in the whole. So the
whole is measured: what is too much is taken out, least preferred first, and then it goes on with
what was left out, as the overflow says:

- `skip`: whatever still fits goes in, until nothing more does.
- `stop`: in the order of preference, up to the first piece that does not fit.
- `cut`: likewise, and that piece is cut to what is left.

A piece that does not fit is tried with less detail, where it may be shown so, and gets the detail
back if there is room in the end. A soft budget goes on in the order of preference until it is
reached: its last piece may pass it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from quire.core.types import Chunk, Piece
from quire.packing.pack import Opening, options

SLACK = 16
"""A piece may cost so many tokens less inside the whole than it does alone."""
HEADING_SLACK = 8
"""And so may a heading."""
TRIES = 12
"""So often a cut is measured before the best one is taken."""

Length = Callable[[Sequence[Piece]], int]
"""What these pieces, in the order of preference, cost as they will be said."""

Cut = Callable[[Piece, int], Piece | None]
"""Cut a piece to so many tokens; None if nothing sensible is left."""


def settle(
    preferred: Sequence[Piece],
    chosen: Sequence[Piece],
    available: int,
    *,
    overflow: str,
    hard: bool,
    length: Length,
    cut: Cut,
    opening: Opening,
) -> tuple[list[Piece], list[Piece]]:
    """Give what stays and what is left out, both in the order of preference.

    `preferred` holds the pieces in full, `chosen` those that are in, as they would be shown.
    """
    taken = {piece.candidate.chunk.id: piece for piece in chosen}
    places = {piece.candidate.chunk.id: place for place, piece in enumerate(preferred)}
    named = [piece for piece in preferred if piece.candidate.chunk.id in taken]
    kept = [taken[piece.candidate.chunk.id] for piece in named]
    out = [piece for piece in preferred if piece.candidate.chunk.id not in taken]
    whole = _Whole(kept, out, list(preferred), places, available, length, opening)
    if not hard:
        whole.pass_once()
        return whole.kept, whole.out
    whole.keep_to()
    if overflow == "skip":
        whole.fill()
    else:
        whole.go_on()
        if overflow == "cut" and whole.out:
            whole.shorten(cut)
    return whole.kept, whole.out


@dataclass(slots=True)
class _Whole:
    """What is in and what is out, and what the whole costs; both in the order of preference."""

    kept: list[Piece]
    out: list[Piece]
    pieces: list[Piece]
    """All of them, in full."""
    places: dict[str, int]
    available: int
    length: Length
    opening: Opening
    used: int = 0
    _headings: set[str] = field(default_factory=set)
    """The headings of what is in, from when it is filled up."""
    _by_record: dict[str, list[Chunk]] = field(default_factory=dict)
    """And the chunks of what is in, by their record."""

    def keep_to(self) -> None:
        """Take out what is too much, least preferred first."""
        self.used = self.length(self.kept)
        while self.kept and self.used > self.available:
            over = self.used - self.available
            while self.kept and over > 0:
                last = self.kept.pop()
                self.out.append(self.pieces[self._place(last)])
                over -= max(1, last.tokens)
            self.used = self.length(self.kept)
        self.out.sort(key=self._place)

    def pass_once(self) -> None:
        """Go on until the budget is reached, and not one piece further."""
        self.used = self.length(self.kept)
        while self.kept and (less := self.length(self.kept[:-1])) >= self.available:
            insort(self.out, self.pieces[self._place(self.kept.pop())], key=self._place)
            self.used = less
        while self.out and self.used < self.available:
            self._take(self.out[0], *self._with(self.out[0]))

    def fill(self) -> None:
        """Put in whatever fits, until nothing more does: one piece may make room for another."""
        self._note(self.kept)
        added = True
        while added:
            added = False
            for piece in list(self.out):
                if self._put_in(piece):
                    added = True
        self._detail()

    def go_on(self) -> None:
        """Put in what comes next, up to the first that does not fit."""
        self._note(self.kept)
        while self.out and self._put_in(self.out[0]):
            pass
        self._detail()

    def _detail(self) -> None:
        """Show in more detail what is shown in little, where there is room."""
        for shown in [piece for piece in self.kept if piece.described]:
            for fuller in options(self.pieces[self._place(shown)]):
                if fuller is shown or fuller.level == shown.level:
                    break
                rest = [piece for piece in self.kept if piece is not shown]
                kept, used = self._with(fuller, rest)
                if used <= self.available:
                    self.kept, self.used = kept, used
                    break

    def shorten(self, cut: Cut) -> None:
        """Cut the next piece to what is left, by measuring: how much of it that is."""
        piece = self.out[0]
        alone = max(1, self._with(piece)[1] - self.used)
        fitting, too_long = 0, piece.tokens + 1
        room = piece.tokens * (self.available - self.used) // alone
        best: Piece | None = None
        for _ in range(TRIES):
            room = min(max(room, fitting + 1), too_long - 1)
            part = cut(piece, room)
            spent = self.used if part is None else self._with(part)[1]
            if spent > self.available:
                too_long = room
            else:
                fitting, best = room, part or best
            if too_long - fitting <= 1 or 0 <= self.available - spent <= self.available // 100:
                break
            room += self.available - spent
        if best is not None:
            self._take(piece, *self._with(best))

    def _may_fit(self, piece: Piece) -> bool:
        """Tell whether it is worth measuring: a piece costs little less in the whole than alone."""
        # Line ends at either end are not printed, nor is what a kept piece shows already.
        bare = len(piece.text) - len(piece.text.strip("\n"))
        least = max(0, piece.tokens - bare - SLACK)
        if piece.heading not in self._headings:
            least += max(0, self.opening(piece) - HEADING_SLACK)
        if least <= self.available - self.used:
            return True
        chunk = piece.candidate.chunk
        return any(
            chunk.start < other.end and other.start < chunk.end
            for other in self._by_record.get(chunk.record_id, ())
        )

    def _put_in(self, piece: Piece) -> bool:
        """Put a piece in, in as much detail as the budget lets it."""
        for option in options(piece):
            if self._may_fit(option):
                kept, used = self._with(option)
                if used <= self.available:
                    self._take(piece, kept, used)
                    return True
        return False

    def _with(self, piece: Piece, others: list[Piece] | None = None) -> tuple[list[Piece], int]:
        """Give what would be in with a piece, and what that would cost."""
        kept = list(self.kept if others is None else others)
        insort(kept, piece, key=self._place)
        return kept, self.length(kept)

    def _note(self, pieces: Iterable[Piece]) -> None:
        """Remember what is in, so that it need not be gone through for each that may come in."""
        for piece in pieces:
            self._headings.add(piece.heading)
            chunk = piece.candidate.chunk
            self._by_record.setdefault(chunk.record_id, []).append(chunk)

    def _take(self, piece: Piece, kept: list[Piece], used: int) -> None:
        self._note([piece])
        self.kept, self.used = kept, used
        self.out = [other for other in self.out if other is not piece]

    def _place(self, piece: Piece) -> int:
        return self.places[piece.candidate.chunk.id]

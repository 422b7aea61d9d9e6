"""In which order do the chosen pieces stand?

- `grouped`: documents by their best piece, each in reading order.
- `packed`: in the order of preference, a marker wherever the document changes.
- `edges`: grouped, the best documents first and last, the weakest in the middle.
- `stable`: what an earlier context held stays where it stood, what is new comes after.

Neighbouring pieces of a document become one run of text, and nothing is printed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from quire.errors import InputError
from quire.fit.pack import groups
from quire.values import Block, Piece, Run

AUTO = {
    "greedy": "grouped",
    "optimal": "grouped",
    "interleaved": "packed",
    "score_weighted": "packed",
}
ORDERS = ("grouped", "packed", "edges", "stable")


def arrange(
    pieces: Sequence[Piece], order: str, way: str, previous: Sequence[str] = ()
) -> tuple[Block, ...]:
    """Put pieces, given in the order of preference, into blocks of one document each."""
    wanted = AUTO.get(way, "grouped") if order == "auto" else order
    if wanted not in ORDERS:
        raise InputError(f"{order!r} is no order; there are auto, {', '.join(ORDERS)}")
    if wanted == "packed":
        sequence = [
            list(run)
            for _, run in groupby(pieces, key=lambda piece: piece.candidate.chunk.record_id)
        ]
        return tuple(_block(run, reading=False) for run in sequence)
    grouped = groups(pieces)
    if wanted == "edges":
        grouped = grouped[::2] + grouped[1::2][::-1]
    elif wanted == "stable":
        grouped = _stable(grouped, previous)
    return tuple(_block(group) for group in grouped)


def _stable(grouped: list[list[Piece]], previous: Sequence[str]) -> list[list[Piece]]:
    """Documents that stood before keep their order; new ones follow by score."""
    places = {name: place for place, name in enumerate(previous)}
    none = len(places)

    def place(group: list[Piece]) -> int:
        return min(places.get(piece.candidate.chunk.id, none) for piece in group)

    return sorted(grouped, key=place)


def _block(pieces: Sequence[Piece], *, reading: bool = True) -> Block:
    ordered = list(pieces)
    if reading:
        ordered.sort(
            key=lambda piece: (piece.candidate.chunk.start, piece.candidate.chunk.sequence)
        )
    runs: list[list[Piece]] = []
    for piece in ordered:
        if runs and _follows(runs[-1][-1], piece):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    first = pieces[0].candidate.chunk
    return Block(first.record_id, first.path, tuple(_run(run) for run in runs))


def _follows(piece: Piece, other: Piece) -> bool:
    """Tell whether another piece begins where this one ends, or within it."""
    here, there = piece.candidate.chunk, other.candidate.chunk
    return piece.whole and other.whole and here.start <= there.start <= here.end


def _run(pieces: Sequence[Piece]) -> Run:
    text = b""
    start = pieces[0].candidate.chunk.start
    for piece in pieces:
        chunk = piece.candidate.chunk
        data = piece.text.encode("utf-8", "surrogatepass")
        if piece.whole:
            seen = start + len(text) - chunk.start
            data = data[max(0, seen) :]
        text += data
    first = min(piece.candidate.chunk.lines[0] for piece in pieces)
    last = max(piece.candidate.chunk.lines[1] for piece in pieces)
    return Run(tuple(pieces), text.decode("utf-8", "surrogatepass"), (first, last))

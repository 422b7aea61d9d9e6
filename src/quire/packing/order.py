"""In which order do the chosen pieces stand?

- `grouped`: documents by their best piece, each in reading order.
- `packed`: in the order of preference, a marker wherever the document changes.
- `edges`: grouped, the best documents first and last, the weakest in the middle.
- `stable`: what an earlier context held stays where it stood, what is new comes after.

Pieces stand under headings: documents, or the entities that they are part of; those may stand by
category, code first, or by the section that they were found for. Neighbouring pieces become one run
of text, and nothing is printed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from quire.core.types import CATEGORIES, OTHER, Passage, Piece, Run, Section, category_of
from quire.errors import InputError
from quire.packing.pack import groups

AUTO = {
    "greedy": "grouped",
    "optimal": "grouped",
    "interleaved": "packed",
    "score_weighted": "packed",
}
ORDERS = ("auto", "grouped", "packed", "edges", "stable")
TREE = "tree"
SECTION_ORDERS = ("score", TREE)
CATEGORY_ORDER = (*CATEGORIES, OTHER)


def arrange(
    pieces: Sequence[Piece],
    order: str,
    way: str,
    previous: Sequence[str] = (),
    *,
    by_category: bool = False,
    sections: Sequence[Section] = (),
) -> tuple[Passage, ...]:
    """Put pieces, given in the order of preference, into passages of one heading each."""
    if order not in ORDERS:
        raise InputError(f"{order!r} is no order; there are {', '.join(ORDERS)}")
    wanted = AUTO.get(way, "grouped") if order == "auto" else order
    ordered = list(pieces)
    if wanted == "stable":
        ordered = _stable(pieces, previous)
    elif wanted != "packed":
        grouped = groups(pieces)
        if wanted == "edges":
            grouped = grouped[::2] + grouped[1::2][::-1]
        ordered = _in_reading_order(grouped)
    ordered = _together(ordered)
    if by_category:
        ordered.sort(key=_category)
    if sections:
        places = {section.name: place for place, section in enumerate(sections)}
        ordered.sort(key=lambda piece: (_section(piece, places), _in_tree(piece)))
    by_heading = groupby(ordered, key=lambda piece: piece.heading)
    return tuple(_block(list(run)) for _, run in by_heading)


def _category(piece: Piece) -> int:
    return CATEGORY_ORDER.index(category_of(piece.candidate))


def _section(piece: Piece, places: Mapping[str, int]) -> int:
    section = piece.candidate.section
    return len(places) if section is None else places[section.name]


def _in_tree(piece: Piece) -> tuple[tuple[int, str], ...]:
    """Tell where a piece stands in its section, if that goes by the tree; the sort is stable."""
    section = piece.candidate.section
    return piece.candidate.place if section is not None and section.order == TREE else ()


def _stable(pieces: Sequence[Piece], previous: Sequence[str]) -> list[Piece]:
    """Begin with what stood before, as it stood, so that what was said stays a beginning."""
    places = {name: place for place, name in enumerate(previous)}
    old = [piece for piece in pieces if piece.candidate.chunk.id in places]
    new = [piece for piece in pieces if piece.candidate.chunk.id not in places]
    old.sort(key=lambda piece: places[piece.candidate.chunk.id])
    return old + _in_reading_order(groups(new))


def _in_reading_order(grouped: Sequence[Sequence[Piece]]) -> list[Piece]:
    return [piece for group in grouped for piece in sorted(group, key=_offset)]


def _together(ordered: Sequence[Piece]) -> list[Piece]:
    """Bring pieces that share text to where the first of them stands, in reading order."""
    sharing: list[list[Piece]] = []
    record, reach = "", 0
    for piece in sorted(ordered, key=lambda one: (one.candidate.chunk.record_id, *_offset(one))):
        chunk = piece.candidate.chunk
        if sharing and chunk.record_id == record and chunk.start < reach and not piece.described:
            sharing[-1].append(piece)
            reach = max(reach, _end(piece))
        else:
            sharing.append([piece])
            record, reach = chunk.record_id, _end(piece)
    places = {piece.candidate.chunk.id: place for place, piece in enumerate(ordered)}
    sharing.sort(key=lambda some: min(places[piece.candidate.chunk.id] for piece in some))
    return [piece for some in sharing for piece in some]


def _block(pieces: Sequence[Piece]) -> Passage:
    chunk = pieces[0].candidate.chunk
    if len(pieces) == 1:  # as most are, and a whole is said again for each piece that may fit
        alone = Run((pieces[0],), pieces[0].text, _lines(pieces[0]))
        return Passage(chunk.record_id, chunk.path, (alone,))
    runs: list[list[Piece]] = []
    first = end = 0
    for piece in pieces:
        start = piece.candidate.chunk.start
        apart = piece.described or (bool(runs) and runs[-1][-1].described)
        if runs and not apart and first <= start <= end:
            runs[-1].append(piece)
            end = max(end, _end(piece))
        else:
            runs.append([piece])
            first, end = start, _end(piece)
    return Passage(chunk.record_id, chunk.path, tuple(_run(run) for run in runs))


def _run(pieces: Sequence[Piece]) -> Run:
    """Join pieces that begin where the one before ends, or within it."""
    text = ""
    end = pieces[0].candidate.chunk.start
    for piece in pieces:
        seen = end - piece.candidate.chunk.start
        text += piece.text.encode()[seen:].decode(errors="replace") if seen else piece.text
        end = max(end, _end(piece))
    lines = [_lines(piece) for piece in pieces]
    return Run(
        tuple(pieces), text, (min(first for first, _ in lines), max(last for _, last in lines))
    )


def _lines(piece: Piece) -> tuple[int, int]:
    """Tell which lines are shown of a piece."""
    first, last = piece.candidate.chunk.lines
    if not first or piece.described or piece.text == piece.candidate.chunk.text:
        return first, last
    return first, first + piece.text.count("\n")


def _offset(piece: Piece) -> tuple[int, int, str]:
    chunk = piece.candidate.chunk
    return chunk.start, chunk.sequence, chunk.id


def _end(piece: Piece) -> int:
    """Tell where what is shown of a piece ends in its document."""
    chunk = piece.candidate.chunk
    if piece.text is chunk.text or piece.described or piece.text == chunk.text:
        return chunk.end
    return chunk.start + len(piece.text.encode())

"""The order of the chosen pieces, and the passages that they form.

- `grouped`: documents, or pages of blocks, by their best piece, each in reading order.
- `packed`: the order of preference, with a heading wherever the document changes.
- `edges`: grouped, with the best documents first and last and the weakest in the middle.
- `stable`: the pieces of an earlier context keep their order, new ones follow.

Pieces are grouped under headings: documents, or the entities that they belong to. Headings may be
sorted by category, code first, or by the section that their pieces were found for. Neighbouring
pieces become one run of text, and nothing is printed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from quire.core.types import (
    BLOCK_PREFIX,
    CATEGORIES,
    OTHER,
    Candidate,
    Passage,
    Piece,
    Run,
    Section,
    category_of,
)
from quire.core.types.blocks import PAGES
from quire.errors import unknown
from quire.packing.pack import group_by_heading

DEFAULT_ORDERS = {
    "greedy": "grouped",
    "optimal": "grouped",
    "interleaved": "packed",
    "score_weighted": "packed",
}
BY_SCORE = ("optimal", "score_weighted")
"""The strategies that prefer pieces by their score."""
ORDERS = ("auto", "grouped", "packed", "edges", "stable")
AT_FOCUS = 1000
"""The structural signal of the focus: it has no distance from itself."""
TREE = "tree"
SECTION_ORDERS = ("score", TREE)
CATEGORY_ORDER = (*CATEGORIES, OTHER)


def arrange(
    pieces: Sequence[Piece],
    order: str,
    strategy: str,
    previous: Sequence[str] = (),
    *,
    by_category: bool = False,
    by_page: bool = False,
    sections: Sequence[Section] = (),
) -> tuple[Passage, ...]:
    """Order pieces, given in the order of preference, and join those of each heading.

    `by_page` also puts the blocks of one page together, in their order on it.
    """
    if order not in ORDERS:
        raise unknown("order", order, ORDERS, field="fit.order")
    if order == "auto":
        order = DEFAULT_ORDERS.get(strategy, "grouped")
    ordered = list(pieces)
    if order == "stable":
        ordered = _after_previous(pieces, previous)
    elif order != "packed":
        groups = group_by_heading(pieces)
        groups = _join_pages(groups) if by_page else groups
        if order == "edges":
            groups = groups[::2] + groups[1::2][::-1]
        ordered = _in_reading_order(groups)
    ordered = _join_overlapping(ordered)
    if by_category:
        ordered.sort(key=_category_place)
    if sections:
        places = {section.name: place for place, section in enumerate(sections)}
        page = _focused_page(ordered)
        ordered.sort(
            key=lambda piece: (
                _section_place(piece, places),
                _tree_place(piece)[: len(page)] != page,
                _tree_place(piece),
            )
        )
    by_heading = groupby(ordered, key=lambda piece: piece.heading)
    return tuple(_passage(list(group)) for _, group in by_heading)


def is_grouped_by_score(order: str, strategy: str) -> bool:
    """Tell whether `arrange` puts groups in the order of their best pieces, given by their score.

    Then a group is the same passage whatever other groups there are, if no pieces share text.
    """
    if order == "auto":
        order = DEFAULT_ORDERS.get(strategy, "grouped")
    return order == "grouped" and strategy in BY_SCORE


def join_group(pieces: Sequence[Piece]) -> Passage:
    """Return the passage that pieces under one heading form, as `arrange` does."""
    return _passage(sorted(pieces, key=_place_on_page))


def _category_place(piece: Piece) -> int:
    return CATEGORY_ORDER.index(category_of(piece.candidate))


def _section_place(piece: Piece, places: Mapping[str, int]) -> int:
    section = piece.candidate.section
    return len(places) if section is None else places[section.name]


def _tree_place(piece: Piece) -> tuple[tuple[int, str], ...]:
    """Return the place of a piece in the hierarchy, if its section is sorted by it.

    Others keep their order: the sort is stable.
    """
    section = piece.candidate.section
    return piece.candidate.place if section is not None and section.order == TREE else ()


def _focused_page(pieces: Sequence[Piece]) -> tuple[tuple[int, str], ...]:
    """Return the place of the page that the user is viewing, or that holds what they are viewing.

    It comes first, before the pages around it.
    """
    for piece in pieces:
        candidate = piece.candidate
        if _tree_place(piece) and candidate.signals.get("structural") == AT_FOCUS:
            return _page_place(candidate)
    return ()


def _page_place(candidate: Candidate) -> tuple[tuple[int, str], ...]:
    """Return the place of the page that a block is on; that of a page is its own."""
    kind = candidate.chunk.kind.removeprefix(BLOCK_PREFIX)
    return candidate.place[: len(candidate.crumbs) + (kind in PAGES)]


def _join_pages(groups: Sequence[Sequence[Piece]]) -> list[list[Piece]]:
    """Join the groups of blocks that are on one page, at the place of its best block."""
    pages: dict[object, list[Piece]] = {}
    for group in groups:
        first = group[0]
        is_block = first.candidate.chunk.kind.startswith(BLOCK_PREFIX)
        page = _page_place(first.candidate) if is_block else ()
        pages.setdefault(page or first.heading, []).extend(group)
    return list(pages.values())


def _after_previous(pieces: Sequence[Piece], previous: Sequence[str]) -> list[Piece]:
    """Put the pieces of the previous context first, in its order, so that it remains a prefix."""
    places = {chunk_id: place for place, chunk_id in enumerate(previous)}
    old = [piece for piece in pieces if piece.candidate.chunk.id in places]
    new = [piece for piece in pieces if piece.candidate.chunk.id not in places]
    old.sort(key=lambda piece: places[piece.candidate.chunk.id])
    return old + _in_reading_order(group_by_heading(new))


def _in_reading_order(groups: Sequence[Sequence[Piece]]) -> list[Piece]:
    return [piece for group in groups for piece in sorted(group, key=_place_on_page)]


def _place_on_page(piece: Piece) -> tuple[object, ...]:
    """Return the place of a piece among those of its document or, of a block, of its page."""
    return piece.candidate.place, *_offset(piece)


def _join_overlapping(ordered: Sequence[Piece]) -> list[Piece]:
    """Move pieces that share text to the place of the first of them, in reading order."""
    if not _any_overlap(ordered):
        return list(ordered)
    overlapping: list[list[Piece]] = []
    record, end = "", 0
    for piece in sorted(
        ordered, key=lambda piece: (piece.candidate.chunk.record_id, *_offset(piece))
    ):
        chunk = piece.candidate.chunk
        if (
            overlapping
            and chunk.record_id == record
            and chunk.start < end
            and not piece.is_described
        ):
            overlapping[-1].append(piece)
            end = max(end, _end(piece))
        else:
            overlapping.append([piece])
            record, end = chunk.record_id, _end(piece)
    places = {piece.candidate.chunk.id: place for place, piece in enumerate(ordered)}
    overlapping.sort(key=lambda group: min(places[piece.candidate.chunk.id] for piece in group))
    return [piece for group in overlapping for piece in group]


def _any_overlap(pieces: Sequence[Piece]) -> bool:
    """Tell whether a piece begins within one before it in the same record; few ever do.

    The whole is arranged for each piece that may fit, and this takes half the time of a sort.
    """
    by_record: dict[str, list[Piece]] = {}
    for piece in pieces:
        by_record.setdefault(piece.candidate.chunk.record_id, []).append(piece)
    for group in by_record.values():
        end = 0
        for piece in sorted(group, key=_offset) if len(group) > 1 else ():
            if piece.candidate.chunk.start < end and not piece.is_described:
                return True
            end = _end(piece)
    return False


def _passage(pieces: Sequence[Piece]) -> Passage:
    chunk = pieces[0].candidate.chunk
    # A shortcut for most passages: the whole is rendered again for each piece that may fit.
    if len(pieces) == 1:
        alone = Run((pieces[0],), pieces[0].text, _lines(pieces[0]))
        return Passage(chunk.record_id, chunk.path, (alone,))
    runs: list[list[Piece]] = []
    first = end = 0
    for piece in pieces:
        start = piece.candidate.chunk.start
        apart = piece.is_described or (bool(runs) and _stands_apart(runs[-1][-1], piece))
        if runs and not apart and first <= start <= end:
            runs[-1].append(piece)
            end = max(end, _end(piece))
        else:
            runs.append([piece])
            first, end = start, _end(piece)
    return Passage(chunk.record_id, chunk.path, tuple(_run(run) for run in runs))


def _stands_apart(before: Piece, piece: Piece) -> bool:
    """Tell whether a piece continues no text: one is a description, or they are of two kinds.

    The texts of several kinds in one record, such as the axes of an experience, are no one text.
    """
    return before.is_described or before.candidate.chunk.kind != piece.candidate.chunk.kind


def _run(pieces: Sequence[Piece]) -> Run:
    """Join pieces that each begin where the one before ends, or within it."""
    text = ""
    end = pieces[0].candidate.chunk.start
    for piece in pieces:
        shown = end - piece.candidate.chunk.start
        text += piece.text.encode()[shown:].decode(errors="replace") if shown else piece.text
        end = max(end, _end(piece))
    lines = [_lines(piece) for piece in pieces]
    return Run(
        tuple(pieces), text, (min(first for first, _ in lines), max(last for _, last in lines))
    )


def _lines(piece: Piece) -> tuple[int, int]:
    """Return the first and last line of a piece that are shown."""
    first, last = piece.candidate.chunk.lines
    if not first or piece.is_described or piece.text == piece.candidate.chunk.text:
        return first, last
    return first, first + piece.text.count("\n")


def _offset(piece: Piece) -> tuple[int, int, str]:
    chunk = piece.candidate.chunk
    return chunk.start, chunk.sequence, chunk.id


def _end(piece: Piece) -> int:
    """Return the offset in the document at which the shown text of a piece ends."""
    chunk = piece.candidate.chunk
    if piece.text is chunk.text or piece.is_described or piece.text == chunk.text:
        return chunk.end
    return chunk.start + len(piece.text.encode())

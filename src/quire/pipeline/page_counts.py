"""Counting a page of entities by its blocks, without rendering it.

A page is counted for each piece that may fit. Where nothing of an entity depends on the others, and
the counts of blocks add up, each block is rendered and counted once: for all these pages, and for
those with other budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quire import packing, rendering, tokens
from quire.core.protocols import Counter
from quire.core.types import BLOCK_PREFIX, CATEGORIES, OTHER, Passage, Piece, category_of
from quire.pipeline.draft import Block, Draft


def count_page(draft: Draft, pieces: Sequence[Piece]) -> int | None:
    """Count a page of pieces, given in the order of preference; None: it has to be rendered."""
    fit, spec = draft.recipe.fit, draft.recipe.render
    frame = rendering.get_format(spec).frame
    counting = tokens.adding_up(draft.counter)
    if frame is None or counting is None or draft.frame.stale:
        return None
    if not (pieces and draft.footer and spec.sources):
        return None  # without a list of sources the last entity ends the page
    if not packing.is_grouped_by_score(fit.order, fit.pack) or _may_overlap(pieces):
        return None
    counter, counted = counting
    groups: dict[str, list[Piece]] = {}
    for piece in pieces:
        groups.setdefault(piece.heading, []).append(piece)
    total = 0
    first: dict[str, list[Passage]] = {}
    for group in groups.values():
        block = _block(draft, counter, group)
        if block is None:
            return None
        total += block.tokens
        first.setdefault(block.category if spec.groups else OTHER, []).append(block.passage)
    listed = [passage for name in (*CATEGORIES, OTHER) for passage in first.get(name, ())]
    others, end = frame(first, listed[: spec.sources], spec)
    total += sum(_count(draft, counter, other) for other in others) + counter.count(end)
    return counted(total)


def _may_overlap(pieces: Sequence[Piece]) -> bool:
    """Tell whether two pieces may share text: they are joined, under whatever headings."""
    by_record: dict[str, list[tuple[int, int]]] = {}
    for piece in pieces:
        chunk = piece.candidate.chunk
        by_record.setdefault(chunk.record_id, []).append((chunk.start, chunk.end))
    for ranges in by_record.values():
        if len(ranges) > 1:
            ranges.sort()
            if any(end > start for (_, end), (start, _) in pairwise(ranges)):
                return True
    return False


def _block(draft: Draft, counter: Counter, group: Sequence[Piece]) -> Block | None:
    """Return what the pieces under one heading are shown as; None: not as one block."""
    key = tuple([(piece.candidate.chunk.id, piece.level, piece.text) for piece in group])
    known = draft.cache.blocks
    if key not in known:
        known[key] = _make_block(draft, counter, group)
    return known[key]


def _make_block(draft: Draft, counter: Counter, group: Sequence[Piece]) -> Block | None:
    categories = {category_of(piece.candidate) for piece in group}
    if len(categories) > 1 or any(_is_of_workspace(piece) for piece in group):
        return None
    passage = packing.join_group(group)
    alone = replace(draft.recipe.render, groups=False, sources=0)
    text = rendering.render([passage], alone, draft.frame)
    return Block(passage, categories.pop(), _count(draft, counter, text))


def _is_of_workspace(piece: Piece) -> bool:
    """Tell whether a piece is a block of a page, which stands beside others of that page."""
    return piece.candidate.chunk.kind.startswith(BLOCK_PREFIX)


def _count(draft: Draft, counter: Counter, text: str) -> int:
    """Count a block with what is behind it, by its paragraphs."""
    return tokens.count_by_parts(counter, f"{text}{tokens.END}", draft.cache.counts)

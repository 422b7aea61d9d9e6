"""The focus collector: the record that the user is viewing, and its surroundings.

It finds the focus itself, its ancestors, siblings and children. Of a page or a database it finds
everything below it, in reading order.
"""

from __future__ import annotations

from collections.abc import Iterator

from quire.core.protocols import View
from quire.core.types import Hits, Record
from quire.retrieval import hierarchy
from quire.retrieval.query import Query

FOCUS = "focus"
CONTAINERS = ("block.page", "block.db")
"""Kinds of records that are viewed with all that they contain."""
FOCUS_SCORE, INCLUDE_SCORE = 1000, 950
ANCESTOR_SCORE, DESCENDANT_SCORE, SIBLING_SCORE = 900, 850, 800
STEP, HALF_STEP = 100, 50


def collect_focus(view: View, query: Query, depth: int) -> Hits:
    """Find the surroundings of the focus, and the records that the request includes."""
    return hierarchy.hits_of_records(view, _scored(view, query), depth, query.where)


def _scored(view: View, query: Query) -> Iterator[tuple[str, int]]:
    for record in view.records([] if query.focus is None else [query.focus]):
        yield record.id, FOCUS_SCORE
        yield from _descendants(view, record, query)
        yield from _ancestors(view, record, query)
        yield from _siblings(view, record, query)
    yield from ((record_id, INCLUDE_SCORE) for record_id in query.include)


def _ancestors(view: View, record: Record, query: Query) -> Iterator[tuple[str, int]]:
    limit = query.option(FOCUS, "ancestors")
    limit = limit if query.max_depth is None else min(limit, query.max_depth)
    for distance, ancestor in enumerate(hierarchy.ancestors(view, [record], limit)[record.id]):
        yield ancestor.id, max(0, ANCESTOR_SCORE - STEP * distance)


def _siblings(view: View, record: Record, query: Query) -> Iterator[tuple[str, int]]:
    count = query.option(FOCUS, "siblings")
    if record.parent is None or not count:
        return
    ids = [child.id for child in view.children([record.parent])]
    if record.id not in ids:
        return
    at = ids.index(record.id)
    near = [*ids[max(0, at - count) : at], *ids[at + 1 : at + 1 + count]]
    for rank, record_id in enumerate(near):
        yield record_id, max(0, SIBLING_SCORE - HALF_STEP * rank)


def _descendants(view: View, record: Record, query: Query) -> Iterator[tuple[str, int]]:
    if record.kind in CONTAINERS:
        limit = query.option(FOCUS, "page")
        levels = hierarchy.MAX_LEVELS if query.max_depth is None else query.max_depth
        records = hierarchy.descendants(view, record.id, limit, levels) if levels else []
        for rank, descendant in enumerate(records):
            yield descendant.id, max(0, DESCENDANT_SCORE - rank)
        return
    if query.max_depth == 0:
        return
    children = view.children([record.id])[: query.option(FOCUS, "children")]
    for rank, child in enumerate(children):
        yield child.id, max(0, DESCENDANT_SCORE - HALF_STEP * rank)

"""The relations collector: records that links connect to the record that the user is viewing.

It finds the rows that a database relates to the focus, the targets of its links and the records
that link to it; then the same of those, with lower scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Hits
from quire.retrieval import hierarchy
from quire.retrieval.focus import CONTAINERS
from quire.retrieval.query import Query

RELATIONS = "relations"
RELATION_SCORE, TARGET_SCORE, SOURCE_SCORE = 750, 700, 650
RELATION = "relation"
LINK_KINDS = (RELATION, "link", "mention", "embed", "supersedes")
"""The kinds of links that are followed."""
TEXTS = tuple(f"{BLOCK_PREFIX}{name}" for name in ("paragraph", "quote", "callout", "list"))
"""Kinds of blocks whose text says what a page is about."""
OWN_TEXT = frozenset({"properties", "relations"})
"""The attributes of a page that are shown below its title."""
MAX_BEFORE_TEXT = 5
"""How many headings and the like may precede it."""
DECAY = (4, 5)
"""The share of a score that is left one step further away."""


def collect_relations(view: View, query: Query, depth: int) -> Hits:
    """Find the records that are linked with the focus."""
    if query.focus is None:
        return Hits(())
    limit = query.option(RELATIONS, "items")
    scored = list(_scored(view, query, query.focus, limit))[:limit]
    return hierarchy.hits_of_records(view, _with_beginnings(view, scored), depth, query.where)


def _with_beginnings(view: View, scored: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Add the first text of each linked page: its title alone says little.

    Of a page that has nothing but a title, that text comes first: it stands below the title.
    """
    pages = {
        record.id: record
        for record in view.records([name for name, _ in scored])
        if record.kind in CONTAINERS
    }
    named = {name for name, _ in scored}
    for name, score in scored:
        first = None
        if name in pages:
            below = hierarchy.descendants(view, name, MAX_BEFORE_TEXT)
            first = next((block for block in below if block.kind in TEXTS), None)
        found = [name] if first is None or first.id in named else [name, first.id]
        if name in pages and OWN_TEXT.isdisjoint(pages[name].attrs):
            found.reverse()
        yield from ((record_id, max(0, score - place)) for place, record_id in enumerate(found))


def _scored(view: View, query: Query, focus: str, limit: int) -> Iterator[tuple[str, int]]:
    records = view.records([focus])
    ids = [record.id for record in records]
    for record in records:
        if record.kind in CONTAINERS:  # the links of a page belong to its blocks
            blocks = hierarchy.descendants(view, record.id, hierarchy.MAX_LEVELS * 4)
            ids += [block.id for block in blocks]
    seen = set(ids)
    share = (1, 1)
    for _ in range(query.option(RELATIONS, "depth")):
        best: dict[str, int] = {}
        for record_id, score in _linked(view, ids):
            if record_id not in seen:
                best[record_id] = max(score, best.get(record_id, 0))
        ids = sorted(best, key=lambda record_id: (-best[record_id], record_id))[:limit]
        yield from ((record_id, best[record_id] * share[0] // share[1]) for record_id in ids)
        seen.update(ids)
        share = (share[0] * DECAY[0], share[1] * DECAY[1])


def _linked(view: View, ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    for link in view.links(ids):
        if link.kind.partition(":")[0] in LINK_KINDS:
            yield link.target, RELATION_SCORE if link.kind.startswith(RELATION) else TARGET_SCORE
    for link in view.links(ids, back=True):
        if link.kind.partition(":")[0] in LINK_KINDS:
            yield link.source, RELATION_SCORE if link.kind.startswith(RELATION) else SOURCE_SCORE

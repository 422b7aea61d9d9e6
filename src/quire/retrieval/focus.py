"""What stands around what the asker looks at?

The focus itself, what it stands in, its neighbours and what stands in it. Of a page or a database
that is looked at all that stands in it counts, from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from quire.core.protocols import View
from quire.core.types import Hits, Record
from quire.retrieval import hierarchy
from quire.retrieval.query import Question

FOCUS = "focus"
WHOLE = ("block.page", "block.db")
"""What is looked at as a whole."""
ALL, INCLUDED = 1000, 950
ABOVE, BELOW, BESIDE = 900, 850, 800
STEP, HALF_STEP = 100, 50


def focus(view: View, asked: Question, depth: int) -> Hits:
    """Find what stands around the focus, and what was to be included."""
    return hierarchy.hits(view, _around(view, asked), depth, asked.where)


def _around(view: View, asked: Question) -> Iterator[tuple[str, int]]:
    for record in view.records([] if asked.focus is None else [asked.focus]):
        yield record.id, ALL
        yield from _standing_in(view, record, asked)
        yield from _above(view, record, asked)
        yield from _beside(view, record, asked)
    yield from ((name, INCLUDED) for name in asked.include)


def _above(view: View, record: Record, asked: Question) -> Iterator[tuple[str, int]]:
    most = asked.option(FOCUS, "ancestors")
    most = most if asked.depth is None else min(most, asked.depth)
    for place, above in enumerate(hierarchy.chains(view, [record], most)[record.id]):
        yield above.id, max(0, ABOVE - STEP * place)


def _beside(view: View, record: Record, asked: Question) -> Iterator[tuple[str, int]]:
    count = asked.option(FOCUS, "siblings")
    if record.parent is None or not count:
        return
    names = [each.id for each in view.children([record.parent])]
    if record.id not in names:
        return
    at = names.index(record.id)
    near = [*names[max(0, at - count) : at], *names[at + 1 : at + 1 + count]]
    for place, name in enumerate(near):
        yield name, max(0, BESIDE - HALF_STEP * place)


def _standing_in(view: View, record: Record, asked: Question) -> Iterator[tuple[str, int]]:
    if record.kind in WHOLE:
        most = asked.option(FOCUS, "page")
        deep = hierarchy.HIGHEST if asked.depth is None else asked.depth
        for place, below in enumerate(hierarchy.below(view, record.id, most, deep) if deep else []):
            yield below.id, max(0, BELOW - place)
        return
    children = view.children([record.id])[: asked.option(FOCUS, "children")]
    for place, child in enumerate(children):
        yield child.id, max(0, BELOW - HALF_STEP * place)

"""What is tied to what the asker looks at?

Rows that a database relates it to, what it links to, and what links to it; and, one step further,
what is tied to those, for less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.core.protocols import View
from quire.core.types import Hits
from quire.retrieval import hierarchy
from quire.retrieval.focus import WHOLE
from quire.retrieval.query import Question

RELATIONS = "relations"
RELATED, LINKED_TO, LINKING = 750, 700, 650
RELATION = "relation"
TIES = (RELATION, "link", "mention", "embed", "supersedes")
"""The kinds of links that tie records together."""
FURTHER = (4, 5)
"""What a tie is worth one step further away."""


def relations(view: View, asked: Question, depth: int) -> Hits:
    """Find what is tied to the focus."""
    if asked.focus is None:
        return Hits(())
    most = asked.option(RELATIONS, "items")
    worth = list(_tied(view, asked, most))
    return hierarchy.hits(view, worth[:most], depth, asked.where)


def _tied(view: View, asked: Question, most: int) -> Iterator[tuple[str, int]]:
    assert asked.focus is not None, "asked only with a focus"
    looked = view.records([asked.focus])
    names = [record.id for record in looked]
    for record in looked:
        if record.kind in WHOLE:  # the links of a page stand in its blocks
            names += [each.id for each in hierarchy.below(view, record.id, hierarchy.HIGHEST * 4)]
    met = set(names)
    share = (1, 1)
    for _ in range(asked.option(RELATIONS, "depth")):
        found = [(name, score) for name, score in _ties(view, names) if name not in met]
        best: dict[str, int] = {}
        for name, score in found:
            best[name] = max(score, best.get(name, 0))
        order = sorted(best, key=lambda name: (-best[name], name))[:most]
        yield from ((name, best[name] * share[0] // share[1]) for name in order)
        met.update(order)
        names = order
        share = (share[0] * FURTHER[0], share[1] * FURTHER[1])


def _ties(view: View, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    for link in view.links(names):
        if link.kind.partition(":")[0] in TIES:
            yield link.target, RELATED if link.kind.startswith(RELATION) else LINKED_TO
    for link in view.links(names, back=True):
        if link.kind.partition(":")[0] in TIES:
            yield link.source, RELATED if link.kind.startswith(RELATION) else LINKING

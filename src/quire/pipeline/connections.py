"""What a page of a workspace shows beside the text of its blocks.

Which other pages a record is related to, by the names that the workspace gives its relations, and
where a block stands in the reading order of the page that the user is viewing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from quire import retrieval
from quire.core import stored_json
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Link, Record, Request
from quire.core.types.blocks import PAGES

HEADING = f"{BLOCK_PREFIX}heading"
CONTAINERS = ("block.page", "block.db")
RELATION = "relation:"
SUPERSEDES, SUPERSEDED_BY = "supersedes", "superseded by"
HIDDEN_RELATIONS = ("linked_from",)
"""Relations that an import adds for its own needs."""
MAX_NAMED = 5
"""How many pages one relation names."""
MAX_READ = 1000
"""How many blocks of a page have a place in its reading order."""


def describe_relations(
    view: View, records: Mapping[str, Record], *, shared_only: bool
) -> dict[str, tuple[str, ...]]:
    """Return a line for each relation of a record, with the titles that it leads to.

    A relation that is a property, too, is part of the text.
    """
    ids = sorted(name for name, record in records.items() if record.kind.startswith(BLOCK_PREFIX))
    if not ids:
        return {}
    related = [
        (link.source, _name_of(link), link.target) for link in view.links(ids) if _name_of(link)
    ]
    related += [
        (link.target, SUPERSEDED_BY, link.source)
        for link in view.links(ids, back=True)
        if link.kind == SUPERSEDES
    ]
    targets = sorted({target for _, _, target in related})
    hidden = view.unshared(targets) if shared_only else frozenset()
    titles = {
        record.id: record.title
        for record in view.records(targets)
        if record.title and record.id not in hidden
    }
    named: dict[str, dict[str, list[str]]] = {}
    for source, name, target in sorted(related):
        if target in titles and name.casefold() not in _property_names(records[source]):
            named.setdefault(source, {}).setdefault(name, []).append(titles[target])
    return {
        source: tuple(_line(name, pages) for name, pages in relations.items())
        for source, relations in named.items()
    }


def read_in_order(view: View, request: Request) -> dict[str, tuple[int, int]]:
    """Return the place of each block of the viewed page, and how many there are in all.

    Headings with something under them stand above that as a title, and blocks without a text are
    not shown: neither has a place.
    """
    focused = view.records([] if request.focus is None else [request.focus])
    if not focused or focused[0].kind not in CONTAINERS or request.depth == 0:
        return {}
    levels = retrieval.MAX_LEVELS if request.depth is None else request.depth
    blocks = retrieval.descendants(view, focused[0].id, MAX_READ, levels)
    if request.shared_only:
        hidden = view.unshared([block.id for block in blocks])
        blocks = [block for block in blocks if block.id not in hidden]
    parents = {block.parent for block in blocks}
    shown = [
        block.id
        for block in blocks
        if block.title and not (block.kind == HEADING and block.id in parents)
    ]
    # The page itself stands before all of them.
    return {name: (place, len(shown)) for place, name in enumerate([focused[0].id, *shown], -1)}


def _name_of(link: Link) -> str:
    if link.kind == SUPERSEDES:
        return SUPERSEDES
    name = link.kind.removeprefix(RELATION) if link.kind.startswith(RELATION) else ""
    return "" if name in HIDDEN_RELATIONS else name


@stored_json.of_record
def _property_names(record: Record) -> frozenset[str]:
    if record.kind.removeprefix(BLOCK_PREFIX) not in PAGES:
        return frozenset()
    stored = record.attrs.get("properties")
    names: Iterable[str] = () if stored is None else json.loads(str(stored))
    return frozenset(name.replace("_", " ").casefold() for name in names)


def _line(name: str, titles: list[str]) -> str:
    label = name.replace("_", " ")
    unique = list(dict.fromkeys(titles))
    more = f" and {len(unique) - MAX_NAMED} more" if len(unique) > MAX_NAMED else ""
    return f"{label[:1].upper()}{label[1:]}: {', '.join(unique[:MAX_NAMED])}{more}"

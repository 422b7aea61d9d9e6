"""Which definitions do the others lean on most?

A file that uses a name points at the files that define it. Who is pointed at by many, and by those
who are pointed at themselves, ranks high: a walk over that graph, in whole numbers, for a fixed
number of steps. What a file is worth then goes to the very definitions that it uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isqrt

from quire.core.types import WHOLE, Outline

UNIT = 1 << 40
"""The rank of all files together."""
STEPS = 24
DAMPING = (85, 100)
"""The share of a file's rank that goes on to what it uses; the rest is spread over all."""
COMMON = 8
"""A name that more files define than this says little of any of them."""
DOUBT = 64
"""A name that was not imported counts for so much less."""
IMPORTS = frozenset({"import", "test"})
UNNAMED = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by the name of their folder."""
DEFINING = frozenset({"class", "interface", "type", "function", "method"})

Definition = tuple[str, int]
"""A record, and the place of the entity in its outline."""


def importance(outlines: Mapping[str, Outline], paths: Mapping[str, str]) -> dict[Definition, int]:
    """Give each definition its rank among all; what nobody uses has none.

    `paths` tells where each record stands: neighbours and what is imported are meant first.
    """
    defined = _definitions(outlines)
    uses = {name: _uses(name, outlines, defined, paths) for name in sorted(outlines)}
    ranks = _walked(uses)
    found: Counter[Definition] = Counter()
    for record, targets in uses.items():
        total = sum(targets.values())
        for definition, weight in targets.items():
            found[definition] += ranks[record] * weight // total
    return dict(found)


def _definitions(outlines: Mapping[str, Outline]) -> dict[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    for record in sorted(outlines):
        for place, entity in enumerate(outlines[record].entities):
            if entity.kind in DEFINING and entity.name:
                found.setdefault(entity.name, []).append((record, place))
    return found


def _uses(
    record: str,
    outlines: Mapping[str, Outline],
    defined: Mapping[str, list[Definition]],
    paths: Mapping[str, str],
) -> dict[Definition, int]:
    """Tell which definitions of others a file uses, and how much it leans on each.

    A name that is used often counts for more, but not in proportion; one that several define is
    shared among them; one that is neither imported nor defined next door may mean something else
    altogether (a method of the language itself).
    """
    counts: Counter[str] = Counter()
    imported: set[str] = set()
    for use in outlines[record].references:
        counts[use.name] += use.count
        if use.kind in IMPORTS:
            imported.add(use.name)
    folder = paths[record].rpartition("/")[0]
    found: dict[Definition, int] = {}
    for name, count in sorted(counts.items()):
        targets = [each for each in defined.get(name, ()) if each[0] != record]
        if targets and len({owner for owner, _ in targets}) <= COMMON:
            weight = isqrt(count * UNIT) // len(targets)
            for definition in targets:
                owner, place = definition
                near = paths[owner].rpartition("/")[0] == folder
                meant = near or not imported.isdisjoint(
                    _names(outlines[owner], place, paths[owner])
                )
                found[definition] = found.get(definition, 0) + weight // (1 if meant else DOUBT)
    return found


def _names(outline: Outline, place: int, path: str) -> set[str]:
    """Give the names that a definition may be imported by: its own, its owners', its file's."""
    stem = path.rpartition("/")[2].partition(".")[0]
    found = {stem if stem not in UNNAMED else path.rpartition("/")[0].rpartition("/")[2]}
    at: int | None = place
    while at is not None and at != WHOLE:
        found.add(outline.entities[at].name)
        at = outline.entities[at].parent
    return found


def _walked(uses: Mapping[str, Mapping[Definition, int]]) -> dict[str, int]:
    """Let ranks flow along the uses, a fixed number of times."""
    if not uses:
        return {}
    edges: dict[str, list[tuple[str, int]]] = {}
    totals: dict[str, int] = {}
    for record, targets in uses.items():
        owners: Counter[str] = Counter()
        for (owner, _), weight in targets.items():
            owners[owner] += weight
        edges[record] = sorted(owners.items())
        totals[record] = sum(owners.values())
    kept, whole = DAMPING
    even = UNIT // len(uses)
    ranks = dict.fromkeys(uses, even)
    for _ in range(STEPS):
        given = dict.fromkeys(uses, 0)
        idle = 0
        for record, targets_ in edges.items():
            if not targets_:
                idle += ranks[record]
            for owner, weight in targets_:
                given[owner] += ranks[record] * weight // totals[record]
        spread = (UNIT * (whole - kept) + idle * kept) // (whole * len(uses))
        ranks = {record: spread + given[record] * kept // whole for record in given}
    return ranks


def is_shown(outline: Outline, place: int) -> bool:
    """Tell whether an entity is a definition of its own: no file, no section."""
    return place != WHOLE and outline.entities[place].kind in DEFINING

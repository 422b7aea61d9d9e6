"""Ranks of definitions: PageRank over the files that use each other's names.

A file that uses a name points at the files that define it. A file ranks high if many files point at
it, and more so if these rank high themselves. The walk over that graph takes a fixed number of
steps in whole numbers. The rank of a file then goes to the definitions that it uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isqrt

from quire.core.types import WHOLE, Outline

TOTAL_RANK = 1 << 40
"""The rank of all files together."""
STEPS = 24
DAMPING = (85, 100)
"""The share of a file's rank that flows to what it uses; the rest is spread over all files."""
MAX_OWNERS = 8
"""A name that more files define than this says little about any of them."""
DOUBT = 64
"""Divides the weight of a name that is neither imported nor defined nearby."""
IMPORTS = frozenset({"import", "test"})
FOLDER_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by the name of their folder."""
DEFINITIONS = frozenset({"class", "interface", "type", "function", "method"})

Definition = tuple[str, int]
"""A record and the index of the entity in its outline."""


def rank_definitions(
    outlines: Mapping[str, Outline], paths: Mapping[str, str]
) -> dict[Definition, int]:
    """Return the rank of each definition; a definition that nobody uses has none.

    `paths` holds the path of each record: a name refers first to neighbours and to what is
    imported.
    """
    defined = _definitions(outlines)
    uses = {name: _uses(name, outlines, defined, paths) for name in sorted(outlines)}
    file_ranks = _rank_files(uses)
    ranks: Counter[Definition] = Counter()
    for record, targets in uses.items():
        total = sum(targets.values())
        for definition, weight in targets.items():
            ranks[definition] += file_ranks[record] * weight // total
    return dict(ranks)


def _definitions(outlines: Mapping[str, Outline]) -> dict[str, list[Definition]]:
    definitions: dict[str, list[Definition]] = {}
    for record in sorted(outlines):
        for index, entity in enumerate(outlines[record].entities):
            if entity.kind in DEFINITIONS and entity.name:
                definitions.setdefault(entity.name, []).append((record, index))
    return definitions


def _uses(
    record: str,
    outlines: Mapping[str, Outline],
    defined: Mapping[str, list[Definition]],
    paths: Mapping[str, str],
) -> dict[Definition, int]:
    """Return the definitions of other files that a file uses, with their weights.

    A name that is used often weighs more, but not in proportion. The definitions of one name share
    its weight. A name that is neither imported nor defined in the same folder may refer to
    something else altogether (a method of the language itself).
    """
    counts: Counter[str] = Counter()
    imported: set[str] = set()
    for use in outlines[record].references:
        counts[use.name] += use.count
        if use.kind in IMPORTS:
            imported.add(use.name)
    folder = paths[record].rpartition("/")[0]
    weights: dict[Definition, int] = {}
    for name, count in sorted(counts.items()):
        targets = [target for target in defined.get(name, ()) if target[0] != record]
        if targets and len({owner for owner, _ in targets}) <= MAX_OWNERS:
            weight = isqrt(count * TOTAL_RANK) // len(targets)
            for definition in targets:
                owner, index = definition
                nearby = paths[owner].rpartition("/")[0] == folder
                certain = nearby or not imported.isdisjoint(
                    _import_names(outlines[owner], index, paths[owner])
                )
                added = weight // (1 if certain else DOUBT)
                weights[definition] = weights.get(definition, 0) + added
    return weights


def _import_names(outline: Outline, index: int, path: str) -> set[str]:
    """Return the names that a definition may be imported by: its own, its owners', its file's."""
    stem = path.rpartition("/")[2].partition(".")[0]
    names = {stem if stem not in FOLDER_FILES else path.rpartition("/")[0].rpartition("/")[2]}
    at: int | None = index
    while at is not None and at != WHOLE:
        names.add(outline.entities[at].name)
        at = outline.entities[at].parent
    return names


def _rank_files(uses: Mapping[str, Mapping[Definition, int]]) -> dict[str, int]:
    """Let rank flow along the uses, a fixed number of times."""
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
    flowing, whole = DAMPING
    ranks = dict.fromkeys(uses, TOTAL_RANK // len(uses))
    for _ in range(STEPS):
        received = dict.fromkeys(uses, 0)
        idle = 0
        for record, owners_ in edges.items():
            if not owners_:
                idle += ranks[record]
            for owner, weight in owners_:
                received[owner] += ranks[record] * weight // totals[record]
        spread = (TOTAL_RANK * (whole - flowing) + idle * flowing) // (whole * len(uses))
        ranks = {record: spread + received[record] * flowing // whole for record in received}
    return ranks


def is_definition(outline: Outline, index: int) -> bool:
    """Tell whether an entity is a definition, not a file or a section."""
    return index != WHOLE and outline.entities[index].kind in DEFINITIONS

"""What is known of candidates beside what the sources say of them?

How near they stand to what the asker looks at, how similar they are to the question, what the asker
worked on lately: all of it is looked up here, so that ranking needs no store.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quire import embed, ranking, retrieval
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Chunk, Filter, Recipe, Record, Request, blocks
from quire.memory import feedback

MONTH = 30 * 24 * 60 * 60
DEEDS = 500
"""So many of the asker's last deeds are looked at."""
MOST = 1000
PREFERRED = 1000
PAGES = tuple(f"{BLOCK_PREFIX}{name}" for name in blocks.PAGES)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """What stands around the candidates, and what is known of them."""

    known: ranking.FeatureTable = field(default_factory=ranking.FeatureTable)
    crumbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The titles of the pages that records stand in, the outermost first."""
    places: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """Where records stand in the tree: position and id of what they stand in, then their own."""
    excluded: frozenset[str] = frozenset()
    """Records that were not wanted, or stand below one."""


def look(
    view: View,
    request: Request,
    recipe: Recipe,
    chunks: Mapping[str, Chunk],
    records: Mapping[str, Record],
    *,
    vector: bytes | None,
    model: str | None,
    as_of: int | None,
) -> CandidateFeatures:
    """Look up whatever a recipe weighs."""
    told = (
        feedback.tally(view.listing(Filter(kinds=(feedback.KIND,))), view.viewer)
        if recipe.rank.feedback
        else {}
    )
    if not recipe.rank.weights and not request.exclude:
        return CandidateFeatures(ranking.FeatureTable(as_of, told))
    chains = retrieval.ancestors(view, records.values())
    lines = {name: (name, *(each.id for each in above)) for name, above in chains.items()}
    excluded = frozenset(
        name for name, line in lines.items() if not {*line}.isdisjoint(request.exclude)
    )
    if not recipe.rank.weights:
        return CandidateFeatures(ranking.FeatureTable(as_of, told), excluded=excluded)
    return CandidateFeatures(
        ranking.FeatureTable(
            as_of=as_of,
            feedback=told,
            has_focus=request.focus is not None,
            distances=_distances(view, request.focus, lines),
            similarity=_similarity(view, chunks, vector, model),
            types=_types(request, recipe),
            affinity=_affinity(view, lines, as_of),
        ),
        crumbs={
            name: tuple(each.title for each in reversed(above) if each.kind in PAGES)
            for name, above in chains.items()
        },
        places={
            name: tuple((each.position, each.id) for each in (*reversed(above), records[name]))
            for name, above in chains.items()
        },
        excluded=excluded,
    )


def _distances(view: View, focus: str | None, lines: Mapping[str, Sequence[str]]) -> dict[str, int]:
    looked = view.records([] if focus is None else [focus])
    if not looked:
        return {}
    above = retrieval.ancestors(view, looked)[looked[0].id]
    own = (looked[0].id, *(each.id for each in above))
    found = {name: retrieval.distance(own, line) for name, line in lines.items()}
    return {name: steps for name, steps in found.items() if steps is not None}


def _similarity(
    view: View, chunks: Collection[str], vector: bytes | None, model: str | None
) -> dict[str, int]:
    if vector is None:
        return {}
    asked = np.frombuffer(vector, np.int8).astype(np.int64)
    return {
        name: embed.similarity(model, int(np.frombuffer(each, np.int8) @ asked), len(vector))
        for name, each in view.vectors(sorted(chunks)).items()
    }


def _types(request: Request, recipe: Recipe) -> dict[str, int]:
    """Tell how well kinds answer the question: by the intents whose words stand in it."""
    words = set(_WORD.findall(request.query.lower()))
    found: dict[str, int] = {}
    for intent in recipe.intents.values():
        if not words.isdisjoint(intent.words):
            for kind, worth in intent.types.items():
                found[kind] = max(worth, found.get(kind, 0))
    return {**found, **dict.fromkeys(request.prefer, PREFERRED)}


def _affinity(view: View, lines: Mapping[str, Iterable[str]], as_of: int | None) -> dict[str, int]:
    """Tell how lately the asker did something to records, or to what they stand in."""
    lately: dict[str, int] = {}
    for event in view.events(actor=view.viewer.actor, limit=DEEDS):
        age = max(0, (event.at if as_of is None else as_of) - event.at)
        fresh = max(0, MOST - age * MOST // MONTH)
        lately[event.record_id] = max(fresh, lately.get(event.record_id, 0))
    found = {name: max(lately.get(each, 0) for each in line) for name, line in lines.items()}
    return {name: fresh for name, fresh in found.items() if fresh}

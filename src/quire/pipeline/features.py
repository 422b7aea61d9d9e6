"""Compute the features of candidates that ranking weighs beside the scores of the sources.

How near a record is to the focus, how similar it is to the query, how lately the user worked on it:
all of it is looked up here, so that ranking needs no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire import ranking, retrieval
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Filter, Recipe, Record, Request, blocks
from quire.memory import feedback
from quire.ranking import Match

MONTH = 30 * 24 * 60 * 60
MAX_EVENTS = 500
"""How many of the user's last events are looked at."""
FULL_AFFINITY = 1000
PREFERRED = 1000
HEADING = f"{BLOCK_PREFIX}heading"
PAGES = tuple(f"{BLOCK_PREFIX}{name}" for name in blocks.PAGES)


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """What is known of the records of candidates."""

    table: ranking.FeatureTable = field(default_factory=ranking.FeatureTable)
    """The features that ranking weighs."""
    crumbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The titles of the pages that contain a record, the outermost first."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The title of the heading that a record stands under on its page."""
    places: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """The place of a record in the tree: position and id of its ancestors, then its own."""
    excluded: frozenset[str] = frozenset()
    """The records that the request excludes, and all below them."""


def compute_features(
    view: View,
    request: Request,
    recipe: Recipe,
    records: Mapping[str, Record],
    *,
    intents: Sequence[str],
    matches: Mapping[str, Match],
    model: str | None,
    as_of: int | None,
) -> CandidateFeatures:
    """Compute the features that a recipe weighs; `matches` say what chunks share with the query."""
    tally = (
        feedback.tally(view.listing(Filter(kinds=(feedback.KIND,))), view.viewer)
        if recipe.rank.feedback
        else {}
    )
    table = ranking.FeatureTable(
        as_of=as_of,
        feedback=tally,
        included=frozenset(request.include),
        similarity={
            name: match.similarity
            for name, match in matches.items()
            if match.similarity is not None
        },
        relevance=_relevances(matches, model),
        words={name: match.words for name, match in matches.items()},
    )
    if not recipe.rank.weights and not request.exclude:
        return CandidateFeatures(table)
    ancestors = retrieval.ancestors(view, records.values())
    chains = {
        name: (name, *(ancestor.id for ancestor in above)) for name, above in ancestors.items()
    }
    excluded = frozenset(
        name for name, chain in chains.items() if not {*chain}.isdisjoint(request.exclude)
    )
    if not recipe.rank.weights:
        return CandidateFeatures(table, excluded=excluded)
    return CandidateFeatures(
        replace(
            table,
            has_focus=request.focus is not None,
            distances=_distances(view, request.focus, chains),
            types=_kind_scores(request, recipe, intents),
            affinity=_affinities(view, chains, as_of),
        ),
        crumbs={
            name: tuple(ancestor.title for ancestor in reversed(above) if ancestor.kind in PAGES)
            for name, above in ancestors.items()
        },
        headings={name: _heading(above) for name, above in ancestors.items()},
        places={
            name: tuple(
                (record.position, record.id) for record in (*reversed(above), records[name])
            )
            for name, above in ancestors.items()
        },
        excluded=excluded,
    )


def _relevances(matches: Mapping[str, Match], model: str | None) -> dict[str, int]:
    """Return how likely it is that chunks are relevant, of those of which it is known."""
    estimates = {name: ranking.estimate(match, model) for name, match in matches.items()}
    return {name: value for name, value in estimates.items() if value is not None}


def _heading(above: Sequence[Record]) -> str:
    """Return the title of the innermost heading between a record and its page."""
    for ancestor in above:
        if ancestor.kind == HEADING:
            return ancestor.title
        if ancestor.kind in PAGES:
            break
    return ""


def _distances(
    view: View, focus: str | None, chains: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Count the steps in the tree from the focus to each record."""
    focused = view.records([] if focus is None else [focus])
    if not focused:
        return {}
    above = retrieval.ancestors(view, focused)[focused[0].id]
    own_chain = (focused[0].id, *(ancestor.id for ancestor in above))
    distances = {name: retrieval.distance(own_chain, chain) for name, chain in chains.items()}
    return {name: steps for name, steps in distances.items() if steps is not None}


def _kind_scores(request: Request, recipe: Recipe, intents: Sequence[str]) -> dict[str, int]:
    """Score how well kinds answer the query, by its intents."""
    scores: dict[str, int] = {}
    for name in intents:
        for kind, score in recipe.intents[name].types.items():
            scores[kind] = max(score, scores.get(kind, 0))
    return {**scores, **dict.fromkeys(request.prefer, PREFERRED)}


def _affinities(
    view: View, chains: Mapping[str, Iterable[str]], as_of: int | None
) -> dict[str, int]:
    """Score how lately the user worked on a record or its ancestors."""
    latest: dict[str, int] = {}
    for event in view.events(actor=view.viewer.actor, limit=MAX_EVENTS):
        age = max(0, (event.at if as_of is None else as_of) - event.at)
        score = max(0, FULL_AFFINITY - age * FULL_AFFINITY // MONTH)
        latest[event.record_id] = max(score, latest.get(event.record_id, 0))
    scores = {
        name: max(latest.get(record_id, 0) for record_id in chain) for name, chain in chains.items()
    }
    return {name: score for name, score in scores.items() if score}

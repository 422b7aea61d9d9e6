"""Compute the features of candidates that ranking weighs beside the scores of the sources.

How near a record is to the focus, how similar it is to the query, how lately the user worked on it:
all of it is looked up here, so that ranking needs no store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from quire import ranking, retrieval
from quire.core.frozen import dataclass
from quire.core.paths import is_named
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Filter, Recipe, Record, Request, blocks
from quire.ingest import ROLE, SOURCE, TEST, asked_roles
from quire.memory import experiences, feedback
from quire.pipeline.connections import describe_relations, read_in_order
from quire.ranking import Match
from quire.retrieval import SEMANTIC

MONTH = 30 * 24 * 60 * 60
MAX_EVENTS = 500
"""How many of the user's last events are looked at."""
FULL_AFFINITY = 1000
PREFERRED = 1000
ALL_OF_IT = 100
"""Percent of its score that a file counts where its role says nothing else."""
HALF_OF_IT = 50
"""What a source counts at least in a question about tests: what is tested is there."""
HEADING = f"{BLOCK_PREFIX}heading"
COMMIT = "commit"
OTHER_ROLES = {HEADING: "heading", COMMIT: COMMIT}
"""The roles of what is no file, by kind: a heading without its text, the message of a commit."""
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
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What relates a record to other pages, a line for each relation."""
    reading: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The place of a block on the page that the user is viewing, and how many it has."""
    recurring: Mapping[str, int] = field(default_factory=dict)
    """How many experiences have the root cause of one, if several do."""
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
        roles=find_role_losses(request.query, records, recipe.rank.roles),
        similarity={
            name: match.similarity
            for name, match in matches.items()
            if match.similarity is not None
        },
        relevance=_relevances(matches, model, by_words=SEMANTIC not in recipe.sources),
        words={name: match.words for name, match in matches.items()},
    )
    recurring = count_root_causes(view, records, shared_only=request.shared_only)
    weighs = bool(recipe.rank.weights)
    above_of = [record for record in records.values() if weighs or request.exclude or record.parent]
    if not above_of:
        return CandidateFeatures(table, recurring=recurring)
    ancestors = retrieval.ancestors(view, above_of)
    chains = {
        name: (name, *(ancestor.id for ancestor in above)) for name, above in ancestors.items()
    }
    excluded = frozenset(
        name for name, chain in chains.items() if not {*chain}.isdisjoint(request.exclude)
    )
    crumbs = {
        name: tuple(ancestor.title for ancestor in reversed(above) if ancestor.kind in PAGES)
        for name, above in ancestors.items()
    }
    headings = {name: _heading(above) for name, above in ancestors.items()}
    places = {
        name: tuple((record.position, record.id) for record in (*reversed(above), records[name]))
        for name, above in ancestors.items()
    }
    known = CandidateFeatures(
        table,
        crumbs=crumbs,
        headings=headings,
        places=places,
        recurring=recurring,
        excluded=excluded,
    )
    if not weighs:
        return known
    return replace(
        known,
        table=replace(
            table,
            has_focus=request.focus is not None,
            distances=_distances(view, request.focus, chains),
            types=_kind_scores(request, recipe, intents),
            affinity=_affinities(view, chains, as_of),
        ),
        relations=describe_relations(view, records, shared_only=request.shared_only),
        reading=read_in_order(view, request),
    )


def count_root_causes(
    view: View, records: Mapping[str, Record], *, shared_only: bool
) -> dict[str, int]:
    """Count the readable experiences that share the root cause of one, where several do."""
    causes = {name: _root_cause(record) for name, record in records.items()}
    if not any(causes.values()):
        return {}
    where = Filter(kinds=(experiences.KIND,), shared_only=shared_only)
    counts = Counter(_root_cause(record) for record in view.listing(where))
    return {name: counts[cause] for name, cause in causes.items() if cause and counts[cause] > 1}


def _root_cause(record: Record) -> str:
    """Return the root cause of an experience, however it is spaced and capitalized."""
    if record.kind != experiences.KIND:
        return ""
    return " ".join(str(record.attrs.get("root_cause", "")).split()).casefold()


def find_role_losses(
    query: str, records: Mapping[str, Record], percents: Mapping[str, int]
) -> dict[str, int]:
    """Return what records lose by their role, in thousandths of their score.

    A query about a role takes its files fully; one about tests turns them and sources round. A file
    that the query names loses nothing.
    """
    if not percents:
        return {}
    asked = asked_roles(query)
    counts = {**percents, **dict.fromkeys(asked, ALL_OF_IT)}
    if TEST in asked:
        counts[SOURCE] = max(HALF_OF_IT, percents.get(TEST, ALL_OF_IT))
    losses = {
        name: (counts.get(_role_of(record), ALL_OF_IT) - ALL_OF_IT) * 10
        for name, record in records.items()
    }
    hashes = tuple(retrieval.find_hashes(query))
    return {
        name: loss
        for name, loss in losses.items()
        if loss and not _is_named(query, records[name], hashes)
    }


def _is_named(query: str, record: Record, hashes: tuple[str, ...]) -> bool:
    """Tell whether a query names a file by its path, or a commit by its hash."""
    if record.kind == COMMIT:
        return str(record.attrs.get("sha", "")).startswith(hashes)
    return is_named(query, record.path)


def _role_of(record: Record) -> str:
    """Return the role of a record: of a file in its project, or of what is no file."""
    return OTHER_ROLES.get(record.kind) or str(record.attrs.get(ROLE, ""))


def _relevances(
    matches: Mapping[str, Match], model: str | None, *, by_words: bool
) -> dict[str, int]:
    """Return how likely it is that chunks are relevant, of those of which it is known."""
    estimates = {
        name: ranking.estimate(match, model, by_words=by_words) for name, match in matches.items()
    }
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

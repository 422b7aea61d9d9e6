"""Retrieve from one snapshot of the store everything that a context is made of.

All waiting happens here: for the model, the searches, the chunks. Every later step is a pure
function of the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from quire import embed, ranking, rendering, retrieval
from quire.core.frozen import dataclass
from quire.core.protocols import View
from quire.core.types import (
    FULL,
    Chunk,
    Coverage,
    Failure,
    FusionStats,
    Hits,
    Outline,
    Recipe,
    Record,
    Recorded,
    Request,
)
from quire.pipeline import sections
from quire.pipeline.authors import find_authors
from quire.pipeline.effects import needs_time
from quire.pipeline.features import CandidateFeatures, compute_features
from quire.pipeline.fusion_stats import find_fusion_stats, find_languages, measure_coverage
from quire.pipeline.intent_examples import guess_intent, load_examples
from quire.pipeline.intents import ParsedQuery, find_intents, parse_query, split_question
from quire.pipeline.matches import compute_matches
from quire.pipeline.query_vectors import MakeVector, QueryVectors, plan_vectors
from quire.pipeline.record_names import resolve_names
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.sections import Subquery
from quire.retrieval import (
    COLLECTORS,
    MAX_LEADS,
    RULES,
    SEMANTIC,
    TASKS,
    TEXT_COLLECTORS,
    Collected,
    Query,
    Task,
    TaskQuery,
    get_collector,
)
from quire.rules.evaluator import ActiveRules, RuleEvaluator

NO_TIME = (
    "no record is boosted as recent: the store has no commit or event to measure from; "
    "name a date with `as_of`"
)
DAMAGED = "{path} is damaged in the store and left out; run `quire doctor`"
APPROXIMATE = "vectors were compared approximately; `exact` compares them all"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Everything that a context is made of, from one snapshot."""

    coverage: Coverage
    vectors: Mapping[str, bytes]
    """The vectors that were compared, by query."""
    hits: Mapping[str, Hits]
    """The hits of each source."""
    fusion_stats: FusionStats
    chunks: Mapping[str, Chunk]
    records: Mapping[str, Record]
    """The records of the chunks, if the recipe needs them."""
    outlines: Mapping[str, Outline]
    """The outlines of the records, likewise."""
    features: CandidateFeatures
    authors: Mapping[str, str]
    """Who wrote a record, if it was another user."""
    failed: tuple[Failure, ...]
    notes: tuple[str, ...]
    sections: Mapping[str, str]
    """The section that each chunk was found for, if the recipe has sections."""
    active_rules: ActiveRules
    """The contexts and rules that apply, if the recipe has the source `rules`."""
    parsed: ParsedQuery
    """The query as it was read."""
    tasks: frozenset[str] = frozenset()
    """The records of all tasks that the query asks for."""
    writer: str = ""
    """The name of the writer of the summaries."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """The summaries of texts that had to be cut, by their keys."""
    reranker: str = ""
    """The name of the reranker."""
    reranks: Mapping[str, int] = field(default_factory=dict)
    """What the reranker gave the chunks that it saw, by their ids."""


def retrieve(
    view: View,
    resolved: ResolvedRequest,
    vectors: QueryVectors,
    evaluator: RuleEvaluator | None = None,
) -> Retrieved:
    """Run all sources of a recipe; what an earlier run recorded is used again."""
    request, notes = resolve_names(view, resolved.request)
    recipe = resolved.recipe
    recorded = resolved.recorded or Recorded({}, None)
    coverage = view.coverage()
    as_of = moment(view, request, recipe)
    asked = _question_vector(request, recipe, coverage, recorded, vectors)
    parsed = parse_request(view, request, recipe, as_of, vector=asked, model=coverage.model)
    subqueries = sections.without_failed(
        sections.split(request, recipe, parsed.text),
        {failure.source for failure in recorded.failed},
    )
    makers, vector_notes = plan_vectors(
        (subquery.query for subquery in subqueries if SEMANTIC in subquery.depths),
        coverage,
        recorded,
        vectors,
    )
    active_rules = (
        evaluator.evaluate(view, request, resolved.recorded, as_of)
        if evaluator is not None and RULES in recipe.sources
        else ActiveRules()
    )
    queries = [
        make_query(request, recipe, subquery, as_of, active_rules, tasks=parsed.tasks)
        for subquery in subqueries
    ]
    collected = _collect(view, recipe, subqueries, queries, makers)
    collected, chunks, headings = _replace_hits(
        view, request, recipe, collected, subqueries=subqueries, model=coverage.model
    )
    hits, section_names = sections.merge(subqueries, collected)
    hit_ids = {hit.id for source_hits in hits.values() for hit in source_hits.hits}
    chunks = {name: chunk for name, chunk in chunks.items() if name in hit_ids}
    record_ids = sorted({chunk.record_id for chunk in chunks.values()})
    records = look_up_records(view, request, recipe, chunks.values())
    compared = ({} if asked is None else {request.query: asked}) | {
        subquery.query: answer.vector
        for subquery, answer in zip(subqueries, collected, strict=True)
        if answer.vector is not None
    }
    features = compute_features(
        view,
        request,
        recipe,
        records,
        intents=parsed.intents,
        matches=(
            compute_matches(
                view,
                subqueries,
                chunks,
                vectors=compared,
                sections=section_names,
                headings=headings,
                model=coverage.model,
                topic=recipe.rank.topic if recipe.rank.floor else 0,
            )
            if recipe.sections or recipe.rank.floor
            else {}
        ),
        model=coverage.model,
        as_of=as_of,
    )
    outlines = view.outlines(record_ids) if needs_outlines(recipe) else {}
    hidden = view.unshared(record_ids) if request.shared_only else frozenset()
    failed = {*recorded.failed, *active_rules.failed, *sections.failures(subqueries, collected)}
    return Retrieved(
        coverage=coverage,
        vectors=compared,
        hits=hits,
        # Sections have queries and depths of their own, which no common statistics describe.
        fusion_stats=replace(
            FusionStats() if recipe.sections else collected[0].stats,
            covered=measure_coverage(coverage),
            languages=find_languages(view, chunks),
            english_model=embed.is_english(coverage.model),
        ),
        chunks={
            name: chunk
            for name, chunk in chunks.items()
            if chunk.record_id not in features.excluded and chunk.record_id not in hidden
        },
        records=records,
        outlines=outlines,
        features=features,
        authors=find_authors(view, chunks.values()),
        failed=tuple(sorted(failed, key=lambda failure: (failure.source, failure.reason))),
        notes=(
            *vector_notes,
            *([NO_TIME] if recipe.rank.recent and as_of is None else []),
            *([] if all(source_hits.exact for source_hits in hits.values()) else [APPROXIMATE]),
            *notes,
            *active_rules.notes,
            *(DAMAGED.format(path=path) for path in view.damaged()),
        ),
        sections=section_names,
        active_rules=active_rules,
        parsed=parsed,
        tasks=asked_tasks(view, request, recipe, parsed, as_of),
        writer=recorded.writer,
        summaries=recorded.summaries,
        reranker=recorded.reranker,
        reranks=recorded.reranks,
    )


def _question_vector(
    request: Request,
    recipe: Recipe,
    coverage: Coverage,
    recorded: Recorded,
    vectors: QueryVectors,
) -> bytes | None:
    """Return the vector of a question whose words reveal no intent, if a model can make it."""
    words = find_intents(split_question(request.query), recipe.intents)
    model = coverage.model
    if not recipe.intents or words or SEMANTIC not in recipe.sources or model is None:
        return None
    if request.query in recorded.vectors and recorded.embedder == model:
        return bytes(recorded.vectors[request.query])
    make, _ = vectors.plan(request.query, coverage)
    if make is None or recorded.embedder is not None or not load_examples(model):
        return None
    try:
        return make()
    except Exception:  # noqa: BLE001 - the search by meaning fails as well, and says why
        return None


def parse_request(
    view: View,
    request: Request,
    recipe: Recipe,
    as_of: int | None,
    *,
    vector: bytes | None,
    model: str | None,
) -> ParsedQuery:
    """Read the query of a recipe that has intents, with the title of the focus.

    Where its words reveal none, its vector may.
    """
    if not recipe.intents:
        return ParsedQuery(request.query)
    focus = view.records([] if request.focus is None else [request.focus])
    title = focus[0].title if focus else None
    guess = partial(guess_intent, vector, load_examples(model)) if vector and model else str
    return parse_query(request.query, recipe.intents, focus=title, as_of=as_of, guess=guess)


def asked_tasks(
    view: View, request: Request, recipe: Recipe, parsed: ParsedQuery, as_of: int | None
) -> frozenset[str]:
    """Return the records of all tasks that a query asks for, however many a page can show."""
    if parsed.tasks is None or TASKS not in recipe.sources:
        return frozenset()
    query = Query(
        parsed.text,
        where=sections.filter_of(request),
        focus=request.focus,
        as_of=as_of,
        tasks=parsed.tasks,
    )
    return frozenset(found.record.id for found in retrieval.find_tasks(view, query))


def moment(view: View, request: Request, recipe: Recipe) -> int | None:
    """Return the moment that recency is measured from, if the recipe needs one."""
    if request.as_of is not None or not needs_time(recipe):
        return request.as_of
    return view.latest_activity()


def _collect(
    view: View,
    recipe: Recipe,
    subqueries: Sequence[Subquery],
    queries: Sequence[Query],
    makers: Mapping[str, MakeVector],
) -> list[Collected]:
    """Run the collectors of all subqueries: sections concurrently, each within its timeout."""
    jobs = [
        (subquery.section, partial(collect_subquery, view, query, recipe, subquery, makers))
        for subquery, query in zip(subqueries, queries, strict=True)
    ]
    if not recipe.sections:
        return [job() for _, job in jobs]
    return retrieval.run_all(
        [Task(section.name, job, section.timeout) for section, job in jobs if section]
    )


def collect_subquery(
    view: View, query: Query, recipe: Recipe, subquery: Subquery, makers: Mapping[str, MakeVector]
) -> Collected:
    """Run the collectors of a subquery, then those that start from the best of what these found."""
    second = {
        name: subquery.depths[name] for name in subquery.depths if get_collector(name).needs_leads
    }
    first = {name: subquery.depths[name] for name in subquery.depths if name not in second}
    collected = retrieval.collect(view, query, makers.get(subquery.query), first, get_collector)
    collected = replace(collected, stats=find_fusion_stats(view, subquery, recipe, collected.hits))
    if not second:
        return collected
    best = ranking.fuse(collected.hits, recipe.sources, recipe.rank, collected.stats, MAX_LEADS)
    chunks = view.chunks([fused.chunk_id for fused in best])
    scores = {fused.chunk_id: fused.score for fused in best}
    leads = tuple((chunk, scores[chunk.id]) for chunk in chunks)
    more = retrieval.collect(view, replace(query, leads=leads), None, second, get_collector)
    return replace(
        collected,
        hits={**collected.hits, **more.hits},
        failures=(*collected.failures, *more.failures),
    )


def make_query(
    request: Request,
    recipe: Recipe,
    subquery: Subquery,
    as_of: int | None,
    active_rules: ActiveRules | None = None,
    *,
    tasks: TaskQuery | None,
) -> Query:
    """Return the query that the collectors of a subquery run."""
    return Query(
        subquery.query,
        where=subquery.where,
        exact=request.exact,
        reach=recipe.rank.reach,
        focus=request.focus,
        include=request.include,
        max_depth=request.depth,
        as_of=as_of,
        contexts=() if active_rules is None else active_rules.priorities,
        tasks=tasks,
        options={name: source.options for name, source in recipe.sources.items()},
    )


def look_up_records(
    view: View, request: Request, recipe: Recipe, chunks: Iterable[Chunk]
) -> dict[str, Record]:
    """Look up the records of chunks: all that a recipe looks at, or those that give a name."""
    needs_all = bool(
        recipe.rank.recent
        or recipe.rank.weights
        or recipe.rank.roles
        or recipe.sections
        or request.exclude
    )
    ids = {chunk.record_id for chunk in chunks if needs_all or rendering.is_virtual(chunk.path)}
    return {record.id: record for record in view.records(sorted(ids))}


def needs_outlines(recipe: Recipe) -> bool:
    """Tell whether a recipe shows the entities that pieces are a part of."""
    return rendering.get_format(recipe.render).entities or recipe.fit.levels != (FULL,)


def _replace_hits(
    view: View,
    request: Request,
    recipe: Recipe,
    collected: Sequence[Collected],
    *,
    subqueries: Sequence[Subquery],
    model: str | None,
) -> tuple[list[Collected], dict[str, Chunk], dict[str, str]]:
    """Drop hits that cannot answer, and replace those that only lead to what can.

    Returns what is left, its chunks, and the headings that led to some of them.
    """
    chunks = _chunks(view, collected)
    collected = _without_damaged(view, collected, chunks)
    collected = [
        _drop_dissimilar(sections.check_hits(subquery, answer, chunks), recipe, model)
        for subquery, answer in zip(subqueries, collected, strict=True)
    ]
    collected = [sections.drop_answered(answer) for answer in collected]
    collected = [
        answer if subquery.where.kinds else _follow_axes(view, answer, chunks)
        for subquery, answer in zip(subqueries, collected, strict=True)
    ]
    headings: dict[str, str] = {}
    if recipe.rank.weights or rendering.get_format(recipe.render).entities:
        collected, headings = _follow_headings(view, subqueries, collected, chunks)
    if recipe.rank.weights:
        collected = _drop_headings(view, request, collected, chunks)
    chunks |= _chunks(view, collected, known=chunks)
    return _without_damaged(view, collected, chunks), chunks, headings


def _chunks(
    view: View, collected: Sequence[Collected], known: Collection[str] = ()
) -> dict[str, Chunk]:
    """Look up the chunks of hits that are not known yet."""
    ids = {hit.id for answer in collected for hits in answer.hits.values() for hit in hits.hits}
    return {chunk.id: chunk for chunk in view.chunks(sorted(ids.difference(known)))}


def _without_damaged(
    view: View, collected: Sequence[Collected], chunks: Mapping[str, Chunk]
) -> list[Collected]:
    """Drop the hits whose chunks are damaged; a note names them."""
    if not view.damaged():
        return list(collected)
    return [
        replace(
            answer,
            hits={
                name: replace(hits, hits=tuple(hit for hit in hits.hits if hit.id in chunks))
                for name, hits in answer.hits.items()
            },
        )
        for answer in collected
    ]


def _follow_headings(
    view: View,
    subqueries: Sequence[Subquery],
    collected: Sequence[Collected],
    chunks: Mapping[str, Chunk],
) -> tuple[list[Collected], dict[str, str]]:
    """Replace the headings that a text search found by what stands under them.

    What announces something, and ends with a colon, stays beside that. Where kinds were asked for,
    no heading is replaced. Returns the headings as well, by the chunks that they led to.
    """
    led: dict[str, str] = {}
    followed = []
    for subquery, answer in zip(subqueries, collected, strict=True):
        hits, where = dict(answer.hits), subquery.where
        for name in TEXT_COLLECTORS & hits.keys():
            hits[name], more = retrieval.follow_lead_ins(view, hits[name], chunks, where)
            led |= more
            if not where.kinds:
                hits[name], more = retrieval.follow_headings(view, hits[name], chunks, where)
                led |= more
        followed.append(replace(answer, hits=hits))
    return followed, led


def _drop_headings(
    view: View, request: Request, collected: Sequence[Collected], chunks: Mapping[str, Chunk]
) -> list[Collected]:
    """Drop the headings around the focus that stand above what is under them anyway."""
    keep = {request.focus, *request.include}
    return [
        replace(
            answer,
            hits={
                name: hits
                if name in TEXT_COLLECTORS
                else retrieval.drop_headings(
                    view, hits, chunks, keep, shared_only=request.shared_only
                )
                for name, hits in answer.hits.items()
            },
        )
        for answer in collected
    ]


def _follow_axes(view: View, answer: Collected, chunks: Mapping[str, Chunk]) -> Collected:
    """Replace the axes of experiences by their full texts, where no kind was asked for."""
    hits = {name: retrieval.follow_axes(view, hits, chunks) for name, hits in answer.hits.items()}
    return replace(answer, hits=hits)


def _drop_dissimilar(collected: Collected, recipe: Recipe, model: str | None) -> Collected:
    """Drop the semantic hits below the similarity that the recipe demands, if it does."""
    spec, vector = recipe.sources.get(SEMANTIC), collected.vector
    floor = 0 if spec is None else spec.options.get("floor", COLLECTORS[SEMANTIC].options["floor"])
    if not floor or vector is None or SEMANTIC not in collected.hits:
        return collected
    hits = collected.hits[SEMANTIC]
    similar = tuple(
        hit for hit in hits.hits if embed.similarity(model, hit.score, len(vector)) >= floor
    )
    return replace(collected, hits={**collected.hits, SEMANTIC: replace(hits, hits=similar)})

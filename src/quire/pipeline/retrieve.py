"""What is gathered from the store for a question?

All waiting is here: the model, the searches, the chunks. What comes after is a pure function of
what this gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from quire import embed, ranking, rendering, retrieval
from quire.core.lru import LRUCache
from quire.core.protocols import Embedder, View
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
from quire.errors import EmbedError, InputError, QuireError
from quire.ingest import compute_record_id
from quire.pipeline import features
from quire.pipeline.features import CandidateFeatures
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.sections import Part, believed, failures, merged, parts_of, without
from quire.retrieval import COLLECTORS, MAX_LEADS, RULES, SEMANTIC, Collected, Query, Task
from quire.rules.evaluator import ActiveRules, RuleEvaluator
from quire.store.index import analyzer

KEPT_VECTORS = 1024
NO_TIME = (
    "nothing is lifted for being new: there is no commit or event to tell the time by; "
    "name a date with `as_of`"
)

MakeVector = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Everything that a context is made of, from one snapshot."""

    coverage: Coverage
    vectors: Mapping[str, bytes]
    """The vectors that were compared, by question."""
    found: Mapping[str, Hits]
    bearing: FusionStats
    chunks: Mapping[str, Chunk]
    records: Mapping[str, Record]
    """What the chunks were cut from, where that matters."""
    outlines: Mapping[str, Outline]
    features: CandidateFeatures
    failed: tuple[Failure, ...]
    notes: tuple[str, ...]
    sections: Mapping[str, str]
    """The part of the page that each chunk was found for, by its name, if the page has parts."""
    situated: ActiveRules
    """Which contexts hold, where rules are asked."""
    writer: str = ""
    """Who wrote the summaries, if any are wanted."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """What was written of texts that had to be cut, by their names."""


class QueryVectors:
    """Makes the vectors of questions, and keeps those that were asked last."""

    def __init__(
        self, embedder: Callable[[], Embedder | None], *, wanted: Callable[[], bool]
    ) -> None:
        self._embedder = embedder
        self._wanted = wanted
        self._kept: LRUCache[tuple[str, str], bytes] = LRUCache(KEPT_VECTORS)

    def plan(self, query: str, coverage: Coverage) -> tuple[MakeVector | None, list[str]]:
        """Say how a question's vector is made, if there is anything to compare it with."""
        if not coverage.vectors:
            off = "semantic search is off: nothing is embedded yet (`quire index` embeds)"
            return None, [off] if coverage.chunks and self._wanted() else []
        missing = coverage.chunks - coverage.vectors
        lag = (
            f"{missing} of {coverage.chunks} chunks have no vector yet; "
            "`quire index` goes on with them"
        )
        return lambda: self._vector(query, coverage.model), [lag] if missing else []

    def _vector(self, query: str, model: str | None) -> bytes:
        assert model is not None, "vectors without a model"
        known = self._kept.get((model, query))
        if known is not None:
            return known
        embedder = self._embedder()
        if embedder is None:
            raise EmbedError("[embed] provider is none, but the store holds vectors")
        if embedder.model != model:
            raise EmbedError(
                f"the store holds vectors of {model}, the configured model is {embedder.model}; "
                "run `quire index --reembed`, or set [embed] back"
            )
        made = embedder.embed_query(query)
        self._kept.put((model, query), made)
        return made


def gather(
    view: View, asked: ResolvedRequest, vectors: QueryVectors, judging: RuleEvaluator | None = None
) -> Retrieved:
    """Ask all sources of a recipe; what an earlier run met (a receipt says it) is met again."""
    request, missing = _meant(view, asked.request)
    asked = replace(asked, request=request)
    recipe = asked.recipe
    recorded = asked.recorded or Recorded({}, None)
    coverage = view.coverage()
    parts = without(parts_of(request, recipe), {failure.source for failure in recorded.failed})
    makes, notes = _vectors(parts, recipe, coverage, recorded, vectors)
    as_of = request.as_of
    if is_timely(recipe) and as_of is None:
        as_of = view.latest_activity()
        if as_of is None and recipe.rank.recent:
            notes = [*notes, NO_TIME]
    held = (
        judging.evaluate(view, asked.request, asked.recorded, as_of)
        if judging is not None and RULES in recipe.sources
        else ActiveRules()
    )
    asks = [
        (
            part.section,
            partial(ask, view, question_of(asked, part, as_of, held), recipe, part, makes),
        )
        for part in parts
    ]
    collected = (
        retrieval.run_all([Task(part.name, ask_, part.timeout) for part, ask_ in asks if part])
        if recipe.sections
        else [ask_() for _, ask_ in asks]
    )
    ids = {hit.id for each in collected for hits in each.hits.values() for hit in hits.hits}
    chunks = {chunk.id: chunk for chunk in view.chunks(sorted(ids))}
    collected = [
        _near(believed(part, each, chunks), recipe, coverage.model)
        for part, each in zip(parts, collected, strict=True)
    ]
    found, sections = merged(parts, collected)
    ids = {hit.id for hits in found.values() for hit in hits.hits}
    chunks = {name: chunk for name, chunk in chunks.items() if name in ids}
    if not all(hits.exact for hits in found.values()):
        notes = [*notes, "vectors were compared approximately; `exact` compares them all"]
    records = sorted({chunk.record_id for chunk in chunks.values()})
    known = (
        {record.id: record for record in view.records(records)}
        if needs_records(recipe) or request.exclude
        else {}
    )
    met = {
        part.query: each.vector
        for part, each in zip(parts, collected, strict=True)
        if each.vector is not None
    }
    around = features.look(
        view,
        request,
        recipe,
        chunks,
        known,
        vector=met.get(request.query),
        model=coverage.model,
        as_of=as_of,
    )
    notes = [*notes, *missing]
    failed = {
        *recorded.failed,
        *held.failed,
        *failures(parts, collected),
    }
    return Retrieved(
        coverage=coverage,
        vectors=met,
        found=found,
        # What was found for the sections of a page was asked in other words, and to other depths.
        bearing=FusionStats() if recipe.sections else collected[0].stats,
        chunks={
            name: chunk for name, chunk in chunks.items() if chunk.record_id not in around.excluded
        },
        records=known,
        outlines=view.outlines(records) if needs_outlines(recipe) else {},
        features=around,
        failed=tuple(sorted(failed, key=lambda one: (one.source, one.reason))),
        notes=(*notes, *held.notes),
        sections=sections,
        situated=held,
        writer=recorded.writer,
        summaries=recorded.summaries,
    )


def _meant(view: View, request: Request) -> tuple[Request, list[str]]:
    """Find the records that are named, by id or by path; what cannot be read is not there."""
    named = {
        "look at": [] if request.focus is None else [request.focus],
        "include": request.include,
        "exclude": request.exclude,
    }
    ids = {name: (name, compute_record_id(name)) for names in named.values() for name in names}
    there = {
        record.id for record in view.records(sorted({one for two in ids.values() for one in two}))
    }
    found = {name: next((one for one in two if one in there), name) for name, two in ids.items()}
    missing = [
        f"there is nothing {name!r} to {what} that this viewer may read"
        for what, names in named.items()
        for name in names
        if found[name] not in there
    ]
    return replace(
        request,
        focus=None if request.focus is None else found[request.focus],
        include=tuple(found[name] for name in request.include),
        exclude=tuple(found[name] for name in request.exclude),
    ), missing


def question_of(
    asked: ResolvedRequest, part: Part, as_of: int | None, held: ActiveRules | None = None
) -> Query:
    """Say what the sources are asked for a part."""
    request, recipe = asked.request, asked.recipe
    options = {name: source.options for name, source in recipe.sources.items()}
    return Query(
        part.query,
        where=part.where,
        exact=request.exact,
        reach=recipe.rank.reach,
        focus=request.focus,
        include=request.include,
        max_depth=request.depth,
        as_of=as_of,
        contexts=() if held is None else held.priorities,
        options=options,
    )


def _near(collected: Collected, recipe: Recipe, model: str | None) -> Collected:
    """Leave out what is less similar to the question than the recipe's floor, if it has one."""
    spec, vector = recipe.sources.get(SEMANTIC), collected.vector
    floor = 0 if spec is None else spec.options.get("floor", COLLECTORS[SEMANTIC].options["floor"])
    if not floor or vector is None or SEMANTIC not in collected.hits:
        return collected
    hits = collected.hits[SEMANTIC]
    near = tuple(
        hit for hit in hits.hits if embed.similarity(model, hit.score, len(vector)) >= floor
    )
    return replace(collected, hits={**collected.hits, SEMANTIC: replace(hits, hits=near)})


def _vectors(
    parts: Sequence[Part],
    recipe: Recipe,
    coverage: Coverage,
    recorded: Recorded,
    vectors: QueryVectors,
) -> tuple[dict[str, MakeVector], list[str]]:
    """Say how the vector of each question is had, and begin with those that must be made."""
    if SEMANTIC not in recipe.sources:
        return {}, []
    given: dict[str, MakeVector] = {}
    makes: dict[str, MakeVector] = {}
    notes: list[str] = []
    for query in dict.fromkeys(part.query for part in parts if SEMANTIC in part.depths):
        make, notes = vectors.plan(query, coverage)
        if query in recorded.vectors and recorded.embedder == coverage.model:
            given[query] = _as_given(recorded.vectors[query])
        elif make is not None:
            makes[query] = make
    return {**given, **(_begun(makes) if makes else {})}, notes


def ask(
    view: View, query: Query, recipe: Recipe, part: Part, makes: Mapping[str, MakeVector]
) -> Collected:
    """Run the collectors of a part, then those that start from the best of what these found."""
    second = {name: part.depths[name] for name in part.depths if COLLECTORS[name].needs_leads}
    first = {name: part.depths[name] for name in part.depths if name not in second}
    collected = retrieval.collect(view, query, makes.get(part.query), first)
    collected = replace(collected, stats=_bearing(view, part, recipe, collected.hits))
    if not second:
        return collected
    best = ranking.fuse(collected.hits, recipe.sources, recipe.rank, collected.stats, MAX_LEADS)
    chunks = view.chunks([fused.hit.id for fused in best])
    leads = tuple((chunk, fused.hit.score) for chunk, fused in zip(chunks, best, strict=True))
    more = retrieval.collect(view, replace(query, leads=leads), None, second)
    return replace(
        collected,
        hits={**collected.hits, **more.hits},
        failures=(*collected.failures, *more.failures),
    )


def deepened(recipe: Recipe, k: int) -> Recipe:
    """Let the k best go on, of sources that are asked for at least twice as many."""
    if k < 1:
        raise InputError(f"must be at least 1, not {k}", field="k", value=k)
    sources = {
        name: replace(source, k=max(source.k, 2 * k)) for name, source in recipe.sources.items()
    }
    return replace(recipe, sources=sources, rank=replace(recipe.rank, top=k, deeper=0))


def needs_records(recipe: Recipe) -> bool:
    """Tell whether a recipe looks at what chunks were cut from."""
    return bool(recipe.rank.recent or recipe.rank.weights or recipe.sections)


def is_timely(recipe: Recipe) -> bool:
    """Tell whether a recipe needs to know what time it is."""
    lifted = any("recency" in section.lifts for section in recipe.sections)
    return bool(recipe.rank.recent or recipe.rank.weights or lifted or RULES in recipe.sources)


def needs_outlines(recipe: Recipe) -> bool:
    """Tell whether a recipe shows the entities that pieces are a part of."""
    return rendering.get_format(recipe.render).entities or recipe.fit.levels != (FULL,)


def _bearing(view: View, part: Part, recipe: Recipe, found: Mapping[str, Hits]) -> FusionStats:
    """Look up what bears on the weights; a source that answers alone has none to lose to others."""
    cut = frozenset(name for name, hits in found.items() if len(hits.hits) >= part.depths[name])
    answering = [name for name, hits in found.items() if hits.hits]
    whole: frozenset[str] = frozenset()
    if len(answering) > 1 and any(
        ranking.SINGLE_CHUNK in recipe.sources[name].options for name in answering
    ):
        whole = view.single_chunks(
            sorted({hit.id for name in answering for hit in found[name].hits})
        )
    return FusionStats(cut, whole, len(analyzer.count_query_words(part.query)))


def _as_given(vector: bytes) -> MakeVector:
    return lambda: vector


def _begun(makes: Mapping[str, MakeVector]) -> dict[str, MakeVector]:
    """Let the model work while the words are looked up."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quire-embed")
    futures = {query: pool.submit(make) for query, make in makes.items()}
    pool.shutdown(wait=False)
    return {query: partial(_waited_for, future) for query, future in futures.items()}


def _waited_for(future: Future[bytes]) -> bytes:
    try:
        return future.result()
    except QuireError:
        raise
    except Exception as error:  # whatever an embedder raises, the words still answer
        raise EmbedError(f"the embedder failed: {type(error).__name__}: {error}") from error

"""What is gathered from the store for a question?

All waiting is here: the model, the searches, the chunks. What comes after is a pure function of
what this gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from quire import collect, rank, render
from quire.collect import LEADS, LINKED, SEMANTIC, Collected
from quire.contracts import Embedder, View
from quire.errors import EmbedError, InputError, QuireError
from quire.lru import Recent
from quire.request import Asked, Recorded
from quire.values import FULL, Chunk, Coverage, Failure, Filter, Hits, Outline, Recipe, Request

KEPT_VECTORS = 1024
NO_TIME = (
    "nothing is lifted for being new: there is no commit or event to tell the time by; "
    "name a date with `as_of`"
)

MakeVector = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that a context is made of, from one snapshot."""

    coverage: Coverage
    vector: bytes | None
    found: Mapping[str, Hits]
    chunks: Mapping[str, Chunk]
    modified: Mapping[str, int | None]
    outlines: Mapping[str, Outline]
    as_of: int | None
    failed: tuple[Failure, ...]
    notes: tuple[str, ...]


class QueryVectors:
    """Makes the vectors of questions, and keeps those that were asked last."""

    def __init__(
        self, embedder: Callable[[], Embedder | None], *, wanted: Callable[[], bool]
    ) -> None:
        self._embedder = embedder
        self._wanted = wanted
        self._kept: Recent[tuple[str, str], bytes] = Recent(KEPT_VECTORS)

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


def filter_of(request: Request) -> Filter:
    """Give the filter that is part of a request."""
    return Filter(request.kinds, request.paths, request.since, request.until)


def gather(view: View, asked: Asked, vectors: QueryVectors) -> Gathered:
    """Ask all sources of a recipe; what an earlier run met (a receipt says it) is met again."""
    request, recipe = asked.request, asked.recipe
    recorded = asked.recorded or Recorded(None, None)
    coverage = view.coverage()
    lost = {failure.source for failure in recorded.failed}
    depths = {name: recipe.depth(name) for name in recipe.sources if name not in lost}
    make, notes = (
        vectors.plan(request.query, coverage) if SEMANTIC in recipe.sources else (None, [])
    )
    if recorded.vector is not None and recorded.embedder == coverage.model:
        make = _as_given(recorded.vector)
    elif make is not None and SEMANTIC in depths:
        make = _begun(make)
    where = filter_of(request)
    collected = ask(
        view, request.query, recipe, make, depths=depths, where=where, exact=request.exact
    )
    if not all(hits.exact for hits in collected.found.values()):
        notes = [*notes, "vectors were compared approximately; `exact` compares them all"]
    ids = sorted({hit.id for hits in collected.found.values() for hit in hits.hits})
    chunks = {chunk.id: chunk for chunk in view.chunks(ids)}
    modified: dict[str, int | None] = {}
    records = sorted({chunk.record_id for chunk in chunks.values()})
    as_of = request.as_of
    if recipe.rank.recent:
        modified = {record.id: record.modified for record in view.records(records)}
        as_of = view.newest() if as_of is None else as_of
        if as_of is None:
            notes = [*notes, NO_TIME]
    return Gathered(
        coverage=coverage,
        vector=collected.vector,
        found=collected.found,
        chunks=chunks,
        modified=modified,
        outlines=view.outlines(records) if needs_outlines(recipe) else {},
        as_of=as_of,
        failed=tuple(
            sorted((*collected.failed, *recorded.failed), key=lambda one: (one.source, one.reason))
        ),
        notes=tuple(notes),
    )


def ask(
    view: View,
    query: str,
    recipe: Recipe,
    make: MakeVector | None,
    *,
    depths: Mapping[str, int],
    where: Filter,
    exact: bool,
) -> Collected:
    """Ask the searches, then follow the names in the best of what they found."""
    reach = recipe.rank.reach
    first = {name: depth for name, depth in depths.items() if name != LINKED}
    found = collect.search(view, query, make, first, where, exact=exact, reach=reach)
    if LINKED not in depths:
        return found
    best = rank.fuse(found.found, weights_of(recipe), recipe.rank)[:LEADS]
    chunks = view.chunks([one.hit.id for one in best])
    leads = [(chunk, one.hit.score) for chunk, one in zip(chunks, best, strict=True)]
    try:
        linked = collect.follow(view, query, leads, depths[LINKED], where)
    except InputError:
        raise
    except QuireError as error:
        failure = Failure(LINKED, str(error))
        return replace(found, failed=(*found.failed, failure))
    return replace(found, found={**found.found, LINKED: linked})


def deepened(recipe: Recipe, k: int) -> Recipe:
    """Let the k best go on, of sources that are asked for at least twice as many."""
    if k < 1:
        raise InputError(f"k is {k}: ask for at least one result")
    sources = {
        name: replace(source, k=max(source.k, 2 * k)) for name, source in recipe.sources.items()
    }
    return replace(recipe, sources=sources, rank=replace(recipe.rank, top=k, deeper=0))


def weights_of(recipe: Recipe) -> dict[str, int]:
    """Tell what each source's ranking weighs."""
    return {name: source.weight for name, source in recipe.sources.items()}


def needs_outlines(recipe: Recipe) -> bool:
    """Tell whether a recipe shows the entities that pieces are a part of."""
    return render.format_of(recipe.render).entities or recipe.fit.levels != (FULL,)


def _as_given(vector: bytes) -> MakeVector:
    return lambda: vector


def _begun(make: MakeVector) -> MakeVector:
    """Let the model work while the words are looked up."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quire-embed")
    future = pool.submit(make)
    pool.shutdown(wait=False)

    def wait() -> bytes:
        try:
            return future.result()
        except QuireError:
            raise
        except Exception as error:  # whatever an embedder raises, the words still answer
            raise EmbedError(f"the embedder failed: {type(error).__name__}: {error}") from error

    return wait

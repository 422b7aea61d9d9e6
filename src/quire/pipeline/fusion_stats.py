"""What changes how much the rankings of sources count: facts about their hits and the query."""

from __future__ import annotations

from collections.abc import Mapping

from quire import ranking
from quire.core.languages import language_of
from quire.core.protocols import View
from quire.core.types import ALL_COVERED, Chunk, Coverage, FusionStats, Hits, Recipe
from quire.pipeline.sections import Subquery
from quire.store.index import analyzer

CODE = "code"


def find_fusion_stats(
    view: View, subquery: Subquery, recipe: Recipe, hits: Mapping[str, Hits]
) -> FusionStats:
    """Look up what the weights of sources depend on; a source that answers alone needs none."""
    cut = frozenset(name for name in hits if len(hits[name].hits) >= subquery.depths[name])
    answering = [name for name in hits if hits[name].hits]
    single: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    if len(answering) > 1:
        options = {option for name in answering for option in recipe.sources[name].options}
        ids = sorted({hit.id for name in answering for hit in hits[name].hits})
        if ranking.SINGLE_CHUNK in options:
            single = view.single_chunks(ids)
        if ranking.CODE_CHUNK in options:
            code = frozenset(chunk.id for chunk in view.chunks(ids) if chunk.kind == CODE)
    words = len(analyzer.count_query_words(subquery.query))
    return FusionStats(cut, single, words, code_chunks=code)


def find_languages(view: View, chunks: Mapping[str, Chunk]) -> dict[str, str]:
    """Look up the languages of the chunks that are not English."""
    if not view.languages():
        return {}
    records = view.records(sorted({chunk.record_id for chunk in chunks.values()}))
    languages = {record.id: language_of(record) for record in records}
    return {
        name: language
        for name, chunk in chunks.items()
        if (language := languages.get(chunk.record_id, ""))
    }


def measure_coverage(coverage: Coverage) -> int:
    """Return how many of the readable chunks have a vector, in thousandths."""
    return ALL_COVERED * coverage.vectors // coverage.chunks if coverage.chunks else ALL_COVERED

"""Compare candidates with the query that found them: by words, weighted by rarity, and by vectors.

This is what the probability of relevance is computed from (`ranking.relevance`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from quire import embed, ranking
from quire.core.protocols import View
from quire.core.types import Chunk
from quire.pipeline.sections import Part
from quire.ranking import Match
from quire.store.index import analyzer


def compute_matches(
    view: View,
    parts: Sequence[Part],
    chunks: Mapping[str, Chunk],
    *,
    vectors: Mapping[str, bytes],
    sections: Mapping[str, str],
    headings: Mapping[str, str],
    model: str | None,
) -> dict[str, Match]:
    """Compare each chunk with the query of its section.

    `vectors` are those of the queries, `headings` the chunks of headings that led to other chunks.
    """
    matches: dict[str, Match] = {}
    for part in parts:
        name = "" if part.section is None else part.section.name
        found = {key: chunk for key, chunk in chunks.items() if sections.get(key, "") == name}
        rarities = view.rarities(part.query) if found else {}
        similar = similarities(view, found, headings, vectors.get(part.query), model)
        best = max(similar.values(), default=0)
        for key in sorted(found):
            chunk, similarity = found[key], similar.get(key)
            words = frozenset(analyzer.tokenize(chunk.text))
            named = frozenset(analyzer.tokenize(f"{chunk.path} {chunk.title}"))
            matches[key] = Match(
                kind=chunk.kind.partition(".")[0],
                words=ranking.coverage(rarities, words),
                named=ranking.coverage(rarities, words | named),
                similarity=similarity,
                behind=0 if similarity is None else best - similarity,
                length=len(chunk.text),
            )
    return matches


def similarities(
    view: View,
    chunks: Collection[str],
    headings: Mapping[str, str],
    vector: bytes | None,
    model: str | None,
) -> dict[str, int]:
    """Compare chunks with a query; what stands under a heading is as similar as that."""
    if vector is None:
        return {}
    query = np.frombuffer(vector, np.int8).astype(np.int64)
    similar = {
        name: embed.similarity(model, int(np.frombuffer(stored, np.int8) @ query), len(vector))
        for name, stored in view.vectors(sorted({*chunks, *headings.values()})).items()
    }
    return {
        name: max(similar.get(name, 0), similar.get(headings.get(name, ""), 0))
        for name in sorted({*chunks} & {*similar, *headings})
    }

"""Tell whether what was found is likely to help, where a recipe shows it all the same.

A search lists the best hits, and some recipes fill their budget: something is always the best, also
where nothing helps. What is said of it is what the floor of other recipes drops.
"""

from __future__ import annotations

from collections.abc import Mapping

from quire import ranking
from quire.core.protocols import View
from quire.core.types import Chunk, Filter
from quire.pipeline.matches import compute_matches
from quire.pipeline.recipe import WORDS_FLOOR
from quire.pipeline.relevance import HALF
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.pipeline.sections import Subquery
from quire.retrieval import DEFINED, TEXT_COLLECTORS

FLOOR = 150
"""The least relevance, in thousandths: that of the recipes that have a floor."""
FIRST = 3
"""The best pieces, which are looked at first."""
NOTHING_LIKELY = "nothing that was found is likely to help"


def find_unlikely(
    view: View, request: ResolvedRequest, retrieved: Retrieved, chunks: Mapping[str, Chunk]
) -> set[str]:
    """Return those of some chunks that are not likely to help.

    What was found in another way than by its text, or is named, is never one of them.
    """
    query, model = request.request.query, retrieved.coverage.model
    found = {
        name
        for source, hits in retrieved.hits.items()
        if source not in TEXT_COLLECTORS or source == DEFINED
        for name in (hit.id for hit in hits.hits)
    }
    asked = {name: chunk for name, chunk in chunks.items() if name not in found}
    subquery = Subquery(query, {}, Filter())
    matches = compute_matches(
        view,
        [subquery],
        asked,
        vectors=retrieved.vectors,
        sections={},
        headings={},
        model=model,
    )
    by_words = query not in retrieved.vectors
    floor = min(FLOOR, WORDS_FLOOR) if by_words else FLOOR
    unlikely = set()
    for name, match in matches.items():
        relevance = ranking.estimate(match, model, by_words=by_words)
        if match.words < HALF and relevance is not None and relevance < floor:
            unlikely.add(name)
    return unlikely


def is_nothing_likely(
    view: View, request: ResolvedRequest, retrieved: Retrieved, shown: Mapping[str, Chunk]
) -> bool:
    """Tell whether no piece of a context is likely to help, if nothing else says so."""
    if request.recipe.rank.floor or request.recipe.sections or not shown:
        return False
    if request.request.include or request.request.focus:
        return False
    first = dict(list(shown.items())[:FIRST])
    return all(
        find_unlikely(view, request, retrieved, some) == some.keys() for some in (first, shown)
    )

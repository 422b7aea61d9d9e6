"""Which sources are there, and what do they find?

Searches by words and by meaning are sources like any other: one that cannot answer is a failure
that is shown, and the others answer all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from quire.core.protocols import View
from quire.core.types import Failure, FusionStats, Hit, Hits
from quire.errors import InputError, QuireError, StoreError
from quire.retrieval.activity import ACTIVITY, activity
from quire.retrieval.focus import FOCUS, focus
from quire.retrieval.linked import LINKED
from quire.retrieval.query import Question
from quire.retrieval.relations import RELATIONS, relations

LEXICAL = "lexical"
SEMANTIC = "semantic"
RULES = "rules"
AHEAD = 1000
"""So many chunks are fetched ahead, at most: who asks for more does not want them all."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What the sources found, by the name of the source, and which of them failed."""

    found: Mapping[str, Hits]
    failed: tuple[Failure, ...]
    vector: bytes | None = None
    """The question's vector, where one was compared."""
    bearing: FusionStats = field(default_factory=FusionStats)


def lexical(view: View, asked: Question, depth: int) -> Hits:
    """Ask by words."""
    return view.lexical(asked.query, depth, asked.where, reach=asked.reach)


def semantic(view: View, asked: Question, depth: int) -> Hits:
    """Ask by meaning; without a vector there is nothing to compare."""
    if asked.vector is None:
        return Hits(())
    return view.semantic(asked.vector, depth, asked.where, exact=asked.exact)


def contexts(view: View, asked: Question, depth: int) -> Hits:
    """Give the contexts that count, each by its first chunk."""
    found = [(view.chunks_of(name)[:1], score) for name, score in asked.contexts]
    hits = [
        Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
        for chunks, score in found
        for chunk in chunks
    ]
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)[:depth]))


SOURCES: dict[str, Callable[[View, Question, int], Hits]] = {
    LEXICAL: lexical,
    SEMANTIC: semantic,
    FOCUS: focus,
    RELATIONS: relations,
    ACTIVITY: activity,
    RULES: contexts,
}
"""A source of candidates is one function and one row; a recipe names it, its depth and weight."""

NONSENSE = "it answered with what is no list of hits"

UNFOUND = {
    LEXICAL: "no word of the question stands in it",
    SEMANTIC: "no vector of it was compared",
    FOCUS: "it does not stand around the focus",
    RELATIONS: "nothing ties it to the focus",
    ACTIVITY: "the viewer did nothing to it lately",
    RULES: "no rule brings it in",
    LINKED: "no name leads to it",
}
"""Why a source does not find a piece, however deep it looks."""


def search(
    view: View,
    asked: Question,
    vector: Callable[[], bytes] | None,
    depths: Mapping[str, int],
) -> Collected:
    """Ask each source for as many as its depth says; one that fails is told, the rest answers."""
    found: dict[str, Hits] = {}
    failed: list[Failure] = []
    # What waits for the model comes last: meanwhile that is at work, and what the others find
    # is fetched.
    for name in sorted(depths, key=lambda name: (name == SEMANTIC, name)):
        try:
            if name == SEMANTIC:
                if vector is None:
                    continue
                _fetch_ahead(view, found)
                asked = replace(asked, vector=vector())
            answer = SOURCES[name](view, asked, depths[name])
            if not _is_sound(answer):
                raise StoreError(NONSENSE)
            found[name] = answer
        except InputError:
            raise
        except QuireError as error:
            failed.append(Failure(name, str(error)))
    return Collected(found, tuple(failed), asked.vector if SEMANTIC in found else None)


def _fetch_ahead(view: View, found: Mapping[str, Hits]) -> None:
    """Let the view have at hand what will be asked of it next."""
    ids = [hit.id for hits in found.values() for hit in hits.hits]
    if len(ids) <= AHEAD:
        view.chunks(ids)


def _is_sound(hits: object) -> bool:
    """Tell whether an answer is one: hits with whole numbers, each of them once."""
    if not isinstance(hits, Hits) or not all(isinstance(hit, Hit) for hit in hits.hits):
        return False
    kinds = all(
        isinstance(text, str) and isinstance(number, int)
        for hit in hits.hits
        for text, number in (
            (hit.id, hit.score),
            (hit.path, hit.sequence),
            (hit.path, hit.start),
        )
    )
    return kinds and len({hit.id for hit in hits.hits}) == len(hits.hits)

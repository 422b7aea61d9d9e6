"""The table of collectors, and the loop that runs them.

A collector is one function and one row of `COLLECTORS`; a recipe selects it by name and gives its
depth, weight and options. A collector that fails becomes a `Failure` that is shown, and the others
still answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from quire.core.frozen import dataclass
from quire.core.protocols import View
from quire.core.types import LITERAL, Failure, FusionStats, Hit, Hits, Wording
from quire.errors import InputError, QuireError, ShardError, StoreError, StoreInterruptedError
from quire.retrieval.activity import ACTIVITY, collect_activity
from quire.retrieval.defined import DEFINED, collect_defined
from quire.retrieval.focus import FOCUS, collect_focus
from quire.retrieval.linked import LINKED, collect_linked
from quire.retrieval.query import Query
from quire.retrieval.relations import RELATIONS, collect_relations
from quire.retrieval.tasks import TASKS, collect_tasks
from quire.system import events

LEXICAL = "lexical"
COMMON, RELATED = "common", "related"
"""Options of the search by words: what common words of questions count, and related words."""
FILE_KINDS = frozenset({"code", "document"})
"""Kinds in whose texts others chose the words. Memories and experiences are short and in the words
of those who ask: a word in place of another finds what was not meant."""
SEMANTIC = "semantic"
RULES = "rules"
MAX_PREFETCH = 1000
"""No more chunks than this are fetched ahead: with more hits, most of them are never used."""

WHOLE = (InputError, StoreInterruptedError, ShardError)
"""What is no failure of one source: a wrong argument, a view that ended, a shard that is absent."""
INVALID_HITS = "it answered with what is no list of hits"

Collect = Callable[[View, Query, int], Hits]
"""Finds at most so many chunks for a query, best first."""


@dataclass(frozen=True, slots=True)
class Collector:
    """One way to find candidates."""

    collect: Collect
    miss: str
    """Why it does not find a chunk at any depth."""
    options: Mapping[str, int] = field(default_factory=dict)
    """The options that a recipe may set for it alone, with their defaults."""
    reads: tuple[str, ...] = ()
    """The options of a request that it uses: without such a collector they have no effect."""
    needs_vector: bool = False
    """It compares the vector of the query, so that it needs a model."""
    needs_time: bool = False
    """It compares times with the moment of the request."""
    needs_leads: bool = False
    """It starts from the best chunks of the other collectors, so that it runs after them."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The hits of each collector, by its name, and the failures."""

    hits: Mapping[str, Hits]
    failures: tuple[Failure, ...]
    vector: bytes | None = None
    """The vector of the query, where it was compared."""
    stats: FusionStats = field(default_factory=FusionStats)


def collect_lexical(view: View, query: Query, depth: int) -> Hits:
    """Find chunks by the words of the query."""
    kinds = query.where.kinds
    common, related = query.option(LEXICAL, COMMON), query.option(LEXICAL, RELATED)
    related = related if not kinds or FILE_KINDS.intersection(kinds) else 0
    return view.lexical(
        query.text, depth, query.where, reach=query.reach, wording=Wording(common, related)
    )


def collect_semantic(view: View, query: Query, depth: int) -> Hits:
    """Find chunks by the vector of the query."""
    if query.vector is None:
        return Hits(())
    return view.semantic(query.vector, depth, query.where, exact=query.exact)


def collect_contexts(view: View, query: Query, depth: int) -> Hits:
    """Find the first chunk of each context that applies."""
    inherited = query.option(RULES, "inherited")
    beginnings = [
        (view.chunks_of(name)[:1], score)
        for name, score, injected in query.contexts
        if injected or inherited
    ]
    hits = [
        Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
        for chunks, score in beginnings
        for chunk in chunks
    ]
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)[:depth]))


COLLECTORS: dict[str, Collector] = {
    LEXICAL: Collector(
        collect_lexical,
        "it contains no word of the query",
        options={COMMON: LITERAL.common, RELATED: LITERAL.related},
    ),
    SEMANTIC: Collector(
        collect_semantic,
        "none of its vectors was compared",
        options={"floor": 0},
        needs_vector=True,
    ),
    DEFINED: Collector(collect_defined, "the query names no definition in it"),
    FOCUS: Collector(
        collect_focus,
        "it is not near the focus",
        options={"ancestors": 3, "siblings": 2, "children": 5, "page": 200},
        reads=("focus", "include", "depth"),
    ),
    RELATIONS: Collector(
        collect_relations,
        "no link connects it to the focus",
        options={"depth": 2, "items": 10},
        reads=("focus",),
    ),
    ACTIVITY: Collector(
        collect_activity,
        "the viewer did not work on it lately",
        options={"edits": 10, "views": 5, "hours": 72},
        needs_time=True,
    ),
    TASKS: Collector(
        collect_tasks,
        "it is not a task that the query asks for",
        options={"items": 30},
        needs_time=True,
    ),
    RULES: Collector(
        collect_contexts,
        "no rule brings it in",
        options={"inherited": 1},
        reads=("situation", "base"),
        needs_time=True,
    ),
    LINKED: Collector(collect_linked, "it holds no name from the best chunks", needs_leads=True),
}
TEXT_COLLECTORS = frozenset({LEXICAL, SEMANTIC, DEFINED})
"""Collectors that search for a text: without one they have nothing to do."""
VECTOR_COLLECTORS = frozenset(name for name, row in COLLECTORS.items() if row.needs_vector)
TIMED_COLLECTORS = frozenset(name for name, row in COLLECTORS.items() if row.needs_time)


def collect(
    view: View,
    query: Query,
    embed_query: Callable[[], bytes] | None,
    depths: Mapping[str, int],
    rows: Callable[[str], Collector] = COLLECTORS.__getitem__,
) -> Collected:
    """Run each collector to its depth; a failure is recorded and the others still answer.

    `embed_query` makes the vector of the query; without it, collectors that need one are left out.
    `rows` returns a collector by its name.
    """
    hits: dict[str, Hits] = {}
    failures: list[Failure] = []
    table = {name: rows(name) for name in depths}
    query = replace(query, options=_with_defaults(query.options, table))
    # The model embeds the query in another thread: collectors that wait for it run last.
    for name in sorted(depths, key=lambda name: (table[name].needs_vector, name)):
        try:
            with events.source(name):
                if table[name].needs_vector:
                    if embed_query is None:
                        continue
                    _prefetch(view, hits)
                    query = replace(query, vector=embed_query())
                answer = table[name].collect(view, query, depths[name])
                hits[name] = _checked(answer)
        except WHOLE:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a source raises, the others answer
            failures.append(Failure(name, describe_failure(error)))
    compared = any(table[name].needs_vector for name in hits)
    return Collected(hits, tuple(failures), query.vector if compared else None)


def describe_failure(error: Exception) -> str:
    """Return the reason of a failure; an error that is not Quire's own is named by its type."""
    return str(error) if isinstance(error, QuireError) else f"{type(error).__name__}: {error}"


def failed(name: str, reason: str) -> Collected:
    """Return the result of something that failed."""
    return Collected({}, (Failure(name, reason),))


def _with_defaults(
    options: Mapping[str, Mapping[str, int]], table: Mapping[str, Collector]
) -> dict[str, Mapping[str, int]]:
    return {name: {**row.options, **options.get(name, {})} for name, row in table.items()}


def _prefetch(view: View, hits: Mapping[str, Hits]) -> None:
    """Let the view load, while the model is at work, the chunks that will be read next."""
    ids = [hit.id for found in hits.values() for hit in found.hits]
    if len(ids) <= MAX_PREFETCH:
        view.chunks(ids)


def _checked(answer: Hits) -> Hits:
    if not _is_valid(answer):
        raise StoreError(INVALID_HITS)
    return answer


def _is_valid(answer: object) -> bool:
    """Check that an answer consists of hits with whole numbers, each chunk once."""
    if not isinstance(answer, Hits) or not all(isinstance(hit, Hit) for hit in answer.hits):
        return False
    hits = answer.hits
    texts = [text for hit in hits for text in (hit.id, hit.path)]
    numbers = [number for hit in hits for number in (hit.score, hit.sequence, hit.start)]
    typed = all(issubclass(kind, str) for kind in {*map(type, texts)}) and all(
        issubclass(kind, int) for kind in {*map(type, numbers)}
    )
    return typed and len({hit.id for hit in hits}) == len(hits)

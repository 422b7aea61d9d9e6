"""Questions to a view, and its answers as text that can be compared to the byte."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quire.core.protocols import Store, View
from quire.core.types import MAIN, NO_FILTER, OWNER, Filter, Record, Viewer, Wording
from quire.errors import QuireError

from .samples import VIEWERS


@dataclass(frozen=True)
class Questions:
    """Questions to a view; every combination is asked."""

    queries: tuple[str, ...] = ("alpha beta", "the cafe", "http", "検索 fooBar 42")
    vectors: tuple[bytes, ...] = (bytes([3, 254, 1, 0, 255, 2, 1, 3]),)
    filters: tuple[Filter, ...] = (NO_FILTER, Filter(kinds=("code",)))
    ks: tuple[int, ...] = (2, 100)
    records: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    names: tuple[str, ...] = ("alpha", "beta", "fooBar")


FIELDS: dict[type, tuple[str, ...]] = {}


def plain(value: Any) -> Any:
    """Convert values to JSON types without losing a field."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value)}
    kind = type(value)
    if kind not in FIELDS:
        FIELDS[kind] = tuple(each.name for each in dataclasses.fields(value))
    return {name: plain(getattr(value, name)) for name in FIELDS[kind]}


def text(value: Any) -> str:
    """Serialize any value as JSON."""
    return json.dumps(plain(value), sort_keys=True)


def without_messages(answers: str) -> str:
    """Remove error messages: each engine may word its own."""
    return MESSAGE.sub('"said": ""', answers)


MESSAGE = re.compile(r'"said": "(?:[^"\\]|\\.)*"')


def ask_everything(view: View, questions: Questions) -> dict[str, Any]:
    """Return the answers of a view to all its methods.

    Errors are answers, too. The size of the owner's files is left out: it is the only answer that
    depends on a store's history.
    """

    def answer_of(ask: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return plain(ask(*args, **options))
        except QuireError as error:
            return {"error": type(error).__name__, "said": str(error)}

    def listed(where: Filter) -> list[Record]:
        return list(view.listing(where))

    status = plain(view.status())
    if view.viewer.owner:
        status["bytes"] = 0
    names, pieces = questions.records, questions.chunks
    return {
        "viewer": plain(view.viewer),
        "status": status,
        "coverage": plain(view.coverage()),
        "roots": plain(view.roots()),
        "lexical": [
            answer_of(view.lexical, query, k, where)
            for query in questions.queries
            for where in questions.filters
            for k in questions.ks
        ],
        "nearby": [
            answer_of(view.lexical, query, k, where, reach=reach)
            for query in questions.queries
            for where in questions.filters
            for k in questions.ks
            for reach in (1, 3)
        ],
        "wording": [
            answer_of(view.lexical, query, k, where, reach=1, wording=Wording(40, 60))
            for query in questions.queries
            for where in questions.filters
            for k in questions.ks
        ],
        "holding": [
            answer_of(view.match_all, questions.queries, most, where)
            for where in questions.filters
            for most in (0, 2, 100)
        ],
        "languages": answer_of(view.languages),
        "rarities": [answer_of(view.rarities, query) for query in questions.queries],
        "semantic": [
            answer_of(view.semantic, vector, k, where, exact=exact)
            for vector in questions.vectors
            for where in questions.filters
            for k in questions.ks
            for exact in (False, True)
        ],
        "chunks": answer_of(view.chunks, pieces),
        "undivided": answer_of(lambda: sorted(view.single_chunks(pieces))),
        "records": answer_of(view.records, names),
        "counts": [answer_of(view.count, where) for where in questions.filters],
        "keys": answer_of(view.metadata_keys),
        "kinds": [answer_of(view.metadata_kinds, key) for key in (*view.metadata_keys(), "none")],
        "facets": [answer_of(view.facets, limit) for limit in (1, 10)],
        "expiry": [answer_of(view.last_expiry, 25), answer_of(view.expired, 20)],
        "listing": [answer_of(listed, where) for where in questions.filters],
        "children": answer_of(view.children, names),
        "chunks of": [answer_of(view.chunks_of, name) for name in names],
        "links": answer_of(view.links, names),
        "links back": answer_of(view.links, names, back=True),
        "outlines": answer_of(view.outlines, names),
        "definitions": answer_of(view.definitions, questions.names),
        "references": answer_of(view.references, questions.names),
        "newest": answer_of(view.latest_activity),
        "events": answer_of(view.events),
        "own events": [answer_of(view.events, actor=actor, limit=2) for actor in ("alice", "bob")],
        "proofs": [answer_of(view.prove, name) for name in pieces],
        "proofs of records": [answer_of(view.prove_record, name) for name in names],
        "errors": [
            answer_of(view.lexical, "alpha", 0),
            answer_of(view.lexical, "alpha", 1, Filter(paths=(" ",))),
            answer_of(view.lexical, "alpha", 1, reach=4),
            answer_of(view.lexical, "alpha", 1, reach=-1),
            answer_of(view.match_all, ["alpha"], 1, Filter(paths=(" ",))),
            answer_of(view.semantic, b"\1", 1),
            answer_of(view.semantic, bytes(8), -1),
            answer_of(view.semantic, bytes(8), 1, Filter(paths=("",))),
            answer_of(listed, Filter(paths=("ok", "a\0b"))),
            answer_of(view.prove, "no such chunk"),
        ],
        "refused conditions": [
            answer_of(view.lexical, "alpha", 1, Filter(where="team = north")),
            answer_of(view.count, Filter(where="team")),
        ],
    }


def answers_by_viewer(
    store: Store,
    questions: Questions,
    viewers: Sequence[Viewer] = VIEWERS,
    space: str = MAIN,
) -> list[str]:
    """Return all answers as JSON, once for each viewer."""
    answers = []
    for viewer in viewers:
        with store.view(viewer, space) as view:
            answers.append(text(ask_everything(view, questions)))
    return answers


def stored_settings(store: Store, space: str = MAIN) -> str:
    """Return what a store holds beside its views: rules, groups, stamps, missing vectors."""
    missing = {key: words for batch in store.missing_vectors(space) for key, words in batch}
    return text(
        {
            "missing": missing,
            "rules": store.rules(space),
            "groups": store.groups(space),
            "stamps": store.stamps(space),
        }
    )


def root(store: Store, viewer: Viewer = OWNER, space: str = MAIN) -> str:
    with store.view(viewer, space) as view:
        return view.roots().state

"""What can be asked of a view, and what does it say, to the byte?"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quire.core.protocols import Store, View
from quire.core.types import MAIN, NO_FILTER, OWNER, Filter, Record, Viewer
from quire.errors import QuireError

from .samples import VIEWERS


@dataclass(frozen=True)
class Questions:
    """A round of questions; every combination is asked."""

    queries: tuple[str, ...] = ("alpha beta", "the cafe", "http", "検索 fooBar 42")
    vectors: tuple[bytes, ...] = (bytes([3, 254, 1, 0, 255, 2, 1, 3]),)
    filters: tuple[Filter, ...] = (NO_FILTER, Filter(kinds=("code",)))
    ks: tuple[int, ...] = (2, 100)
    records: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    names: tuple[str, ...] = ("alpha", "beta", "fooBar")


FIELDS: dict[type, tuple[str, ...]] = {}


def plain(value: Any) -> Any:
    """Turn values into what JSON can say, without losing a field."""
    if value is None or isinstance(value, (str, int)):
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
    """Write anything as one JSON text."""
    return json.dumps(plain(value), sort_keys=True)


def wordless(answers: str) -> str:
    """Leave out what errors say: an engine may say it in its own words."""
    return SAID.sub('"said": ""', answers)


SAID = re.compile(r'"said": "(?:[^"\\]|\\.)*"')


def everything(view: View, asked: Questions) -> dict[str, Any]:
    """Ask a view everything that it can be asked.

    Errors are answers, too. The size of the owner's files is left out: it is the one answer
    that depends on a store's history.
    """

    def told(ask: Callable[..., Any], *given: Any, **options: Any) -> Any:
        try:
            return plain(ask(*given, **options))
        except QuireError as error:
            return {"error": type(error).__name__, "said": str(error)}

    def listed(where: Filter) -> list[Record]:
        return list(view.listing(where))

    status = plain(view.status())
    if view.viewer.owner:
        status["bytes"] = 0
    names, pieces = asked.records, asked.chunks
    return {
        "viewer": plain(view.viewer),
        "status": status,
        "coverage": plain(view.coverage()),
        "roots": plain(view.roots()),
        "lexical": [
            told(view.lexical, query, k, where)
            for query in asked.queries
            for where in asked.filters
            for k in asked.ks
        ],
        "nearby": [
            told(view.lexical, query, k, where, reach=reach)
            for query in asked.queries
            for where in asked.filters
            for k in asked.ks
            for reach in (1, 3)
        ],
        "holding": [
            told(view.match_all, asked.queries, most, where)
            for where in asked.filters
            for most in (0, 2, 100)
        ],
        "semantic": [
            told(view.semantic, vector, k, where, exact=exact)
            for vector in asked.vectors
            for where in asked.filters
            for k in asked.ks
            for exact in (False, True)
        ],
        "chunks": told(view.chunks, pieces),
        "undivided": told(lambda: sorted(view.single_chunks(pieces))),
        "records": told(view.records, names),
        "listing": [told(listed, where) for where in asked.filters],
        "children": told(view.children, names),
        "chunks of": [told(view.chunks_of, name) for name in names],
        "links": told(view.links, names),
        "links back": told(view.links, names, back=True),
        "outlines": told(view.outlines, names),
        "definitions": told(view.definitions, asked.names),
        "references": told(view.references, asked.names),
        "newest": told(view.latest_activity),
        "events": told(view.events),
        "own events": [told(view.events, actor=actor, limit=2) for actor in ("alice", "bob")],
        "proofs": [told(view.prove, name) for name in pieces],
        "errors": [
            told(view.lexical, "alpha", 0),
            told(view.lexical, "alpha", 1, Filter(paths=(" ",))),
            told(view.lexical, "alpha", 1, reach=4),
            told(view.lexical, "alpha", 1, reach=-1),
            told(view.match_all, ["alpha"], 1, Filter(paths=(" ",))),
            told(view.semantic, b"\1", 1),
            told(view.semantic, bytes(8), -1),
            told(view.semantic, bytes(8), 1, Filter(paths=("",))),
            told(listed, Filter(paths=("ok", "a\0b"))),
            told(view.prove, "no such chunk"),
        ],
    }


def seen(
    store: Store,
    asked: Questions,
    viewers: Sequence[Viewer] = VIEWERS,
    space: str = MAIN,
) -> list[str]:
    """Ask everything as each viewer; one JSON text for each."""
    answers = []
    for viewer in viewers:
        with store.view(viewer, space) as view:
            answers.append(text(everything(view, asked)))
    return answers


def kept(store: Store, space: str = MAIN) -> str:
    """Tell all that a store keeps for its owner beside the views."""
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

"""Is this a receipt at all?

A receipt that was read from a file may be anything. Before it is believed in any part, it must have
all parts of a receipt, each of its kind, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from quire.errors import InputError

Shape = Any
"""A type, a tuple of types, a `Pair`, a list of one shape, or shapes by name (`EACH`: any name)."""

EACH = "*"


class Pair(NamedTuple):
    """The shape of a list of two."""

    first: Shape
    second: Shape


_LINES = Pair(int, int)
_CHUNK = {
    "id": str,
    "record_id": str,
    "kind": str,
    "path": str,
    "title": str,
    "sequence": int,
    "start": int,
    "end": int,
    "lines": _LINES,
    "text_hash": str,
}
_SOURCE = {
    "chunk_id": str,
    "record_id": str,
    "path": str,
    "lines": _LINES,
    "title": str,
    "score": int,
    "tokens": int,
    "name": str,
    "kind": str,
    "section": str,
    "chunk": _CHUNK,
}
_DECISION = {
    "chunk_id": str,
    "path": str,
    "lines": _LINES,
    "step": str,
    "verdict": str,
    "reason": str,
    "tokens": int,
    "score": int,
    "signals": {EACH: int},
}
_REQUEST = {
    "query": str,
    "model": str,
    "kinds": [str],
    "paths": [str],
    "since": (int, type(None)),
    "until": (int, type(None)),
    "as_of": (int, type(None)),
    "exact": bool,
    "previous": [str],
    "focus": (str, type(None)),
    "include": [str],
    "exclude": [str],
    "prefer": [str],
    "depth": (int, type(None)),
    "history": [Pair(str, str)],
    "system": str,
    "situation": str,
    "base": str,
}
_RECIPE = {
    "name": str,
    "about": str,
    "sources": {EACH: {"k": int, "weight": int, "options": {EACH: int}}},
    "budget": {
        "total": int,
        "reserved": {EACH: int},
        "overhead": int,
        "overflow": str,
        "hard": bool,
        "history": int,
        "system": int,
    },
    "rank": {
        "top": int,
        "deeper": int,
        "times": int,
        "fusion": str,
        "constant": int,
        "reach": int,
        "recent": int,
        "weights": {EACH: int},
        "feedback": int,
    },
    "fit": {
        "dedup": (int, float),
        "pack": str,
        "order": str,
        "per_document": int,
        "levels": [str],
        "cut": str,
        "shortest": int,
        "within": bool,
        "fuzzy": bool,
        "same_path": str,
    },
    "render": {
        "format": str,
        "metadata": bool,
        "groups": bool,
        "content": bool,
        "cap": int,
        "sources": int,
        "title": str,
        "footer": str,
    },
    "sections": [
        {
            "name": str,
            "title": str,
            "kinds": [str],
            "paths": [str],
            "query": str,
            "sources": [str],
            "k": int,
            "weight": int,
            "item": int,
            "timeout": int,
            "lifts": {EACH: int},
            "order": str,
            "show": [str],
        }
    ],
    "intents": {EACH: {"words": [str], "types": {EACH: int}}},
}
_PROOFS = {
    "classes": [str],
    "tops": {EACH: [Pair(int, str)]},
    "chunks": {
        EACH: {"leaf": str, "bucket": [Pair(str, str)], "nodes": [Pair(int, str)], "class": str}
    },
}
RECEIPT: dict[str, Shape] = {
    "version": int,
    "request": _REQUEST,
    "request_hash": str,
    "recipe": _RECIPE,
    "recipe_hash": str,
    "view_root": str,
    "content_root": str,
    "viewer_hash": str,
    "counter": str,
    "embedder": (str, type(None)),
    "query_vector": (str, type(None)),
    "section_vectors": {EACH: str},
    "judge": str,
    "verdicts": {EACH: {"applies": bool, "reason": str}},
    "writer": str,
    "summaries": {EACH: str},
    "sources": [_SOURCE],
    "proofs": _PROOFS,
    "decisions": [_DECISION],
    "failed": [{"source": str, "reason": str}],
    "tokens": int,
    "content_tokens": int,
    "available": int,
    "truncated": bool,
    "omitted": int,
    "limit_exceeded": int,
    "text_hash": str,
    "hash": str,
}


def check(receipt: Mapping[str, Any]) -> None:
    """Refuse what has not the shape of a receipt, and say where it differs."""
    if not isinstance(receipt, Mapping):
        raise InputError(f"this is no receipt, but {receipt!r:.40}: give what `Context.receipt` is")
    told = {name: value for name, value in receipt.items() if name != "created"}
    wrong = _wrong("", told, RECEIPT)
    if wrong is not None:
        raise InputError(f"the receipt is malformed: {wrong}")


def _wrong(place: str, value: Any, shape: Shape) -> str | None:
    """Say what is wrong with a value, if anything is."""
    parts: list[tuple[str, Any, Shape]] = []
    if isinstance(shape, Pair):
        if not isinstance(value, list) or len(value) != len(shape):
            return f"{place} is no pair"
        parts = [(f"{place}[{at}]", item, shape[at]) for at, item in enumerate(value)]
    elif isinstance(shape, list):
        if not isinstance(value, list):
            return f"{place} is no list"
        parts = [(f"{place}[{at}]", item, shape[0]) for at, item in enumerate(value)]
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{place or 'it'} is no object"
        names = set(value) if EACH in shape else set(shape)
        if set(value) != names:
            name = min(set(value) ^ names)
            return f"{place}.{name} is {'unknown' if name in value else 'missing'}".lstrip(".")
        parts = [
            (f"{place}.{name}".lstrip("."), value[name], shape.get(name, shape.get(EACH)))
            for name in sorted(names)
        ]
    elif not _is(value, shape):
        return f"{place} is {str(value)[:40]!r}"
    found = (_wrong(*part) for part in parts)
    return next((wrong for wrong in found if wrong is not None), None)


def _is(value: Any, kinds: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):  # which is an int in Python, and in no receipt
        return kinds is bool
    return isinstance(value, kinds)

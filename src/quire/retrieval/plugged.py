"""Collectors of installed packages: the entry points of the group `quire.collectors`.

A plug-in is a function of a view, a query and a number of hits. It sees the store as the viewer
does, and whatever it returns is looked up there again: what the viewer may not read, or the filter
leaves out, is not found by it either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from quire.core import guard
from quire.core.protocols import View
from quire.core.types import NO_FILTER, Filter, Hit, Hits
from quire.errors import PluginError
from quire.retrieval.collectors import COLLECTORS, Collector
from quire.retrieval.query import Query
from quire.system.entry_points import Plugin, find_plugins, get_plugin, load_plugin

GROUP = "collectors"
TIMEOUT = 10.0
"""Seconds that a plug-in has for one query."""
SCALE = 1_000_000
"""What a score of 1.0 is in whole numbers."""


def get_collector(name: str) -> Collector:
    """Return a collector: a built-in one, or that of an installed package."""
    if name in COLLECTORS:
        return COLLECTORS[name]
    plugin = get_plugin(GROUP, name)
    if plugin is None:
        raise KeyError(name)
    return Collector(partial(_collect, plugin), f"{plugin.described} did not find it")


def collector_names() -> tuple[str, ...]:
    """Return the names of all collectors, the built-in ones first."""
    plugged = [plugin.name for plugin in find_plugins(GROUP) if plugin.name not in COLLECTORS]
    return (*COLLECTORS, *plugged)


def _collect(plugin: Plugin, view: View, query: Query, depth: int) -> Hits:
    answer = guard.call(
        plugin.described, lambda: _as_list(load_plugin(plugin)(view, query, depth)), TIMEOUT
    )
    scores: dict[str, int] = {}
    for item in answer:
        chunk_id, score = _read_hit(plugin, item)
        scores.setdefault(chunk_id, score)
    chunks = view.chunks(sorted(scores))
    allowed = _allowed_records(view, query.where)
    hits = [
        Hit(chunk.id, scores[chunk.id], chunk.path, chunk.sequence, chunk.start)
        for chunk in chunks
        if allowed is None or chunk.record_id in allowed
    ]
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)[:depth]))


def _as_list(answer: Any) -> list[Any]:
    items: Iterable[Any] = answer.hits if isinstance(answer, Hits) else answer
    return list(items)


def _read_hit(plugin: Plugin, item: Any) -> tuple[str, int]:
    chunk_id, score = (item.id, item.score) if isinstance(item, Hit) else _unpack(item)
    if isinstance(score, float) and math.isfinite(score):
        score = round(score * SCALE)
    if not isinstance(chunk_id, str) or type(score) is not int:
        raise PluginError(
            f"{plugin.described} returned {item!r:.80}; expected pairs of a chunk's id and a score"
        )
    return chunk_id, score


def _unpack(item: Any) -> tuple[Any, Any]:
    return (item[0], item[1]) if isinstance(item, tuple | list) and len(item) == 2 else (None, None)


def _allowed_records(view: View, where: Filter) -> set[str] | None:
    """Return the records that pass a filter; None if all do."""
    return None if where == NO_FILTER else {record.id for record in view.listing(where)}

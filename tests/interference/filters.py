"""Every filter that keeps what a viewer may not read from them, and how to remove it.

The suite must notice each removal: a filter that could be removed unseen is not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import pytest

from quire.core.types import OWNER, Viewer
from quire.indexing import access as access_service
from quire.indexing import documents
from quire.indexing.documents import Documents
from quire.mcp.session import Session
from quire.memory import authoring, experience_service, feedback_service, memory_service
from quire.store import access
from quire.store.index import search_cache
from quire.store.index.access_mask import compute_mask
from quire.store.index.columns import ACCESS
from quire.store.sql import vector_blocks
from quire.store.sql.snapshot import Snapshot
from quire.store.sql.view import SqlView
from quire.workspace import service as block_service
from quire.workspace.importers import build_tree, readers
from quire.workspace.tree import Tree
from tests.store.conftest import lower_cache_limits

STORE, WORLDS, CIRCLE, KEPT, SEARCHES = "store", "worlds", "circle", "kept", "searches"
"""Which check must notice that a filter is gone."""
Remove = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Filter:
    """A filter: where it is, what notices that it is gone, and how to remove it."""

    name: str
    check: str
    remove: Remove
    deeds: tuple[str, ...] = ()
    """What others must have done, for the worlds to differ."""
    pending: bool = False
    """Whether the viewer must hold texts without a vector."""
    quick: bool = False
    """Whether it is tried in every run."""


# --- the store's view ----------------------------------------------------------------------------


@contextmanager
def _all_classes(view: Any) -> Any:
    """Let a view read every access class."""
    classes, view._classes = view._classes, "SELECT id FROM class"
    chunks, view._chunks = view._chunks, {}
    try:
        yield
    finally:
        view._classes, view._chunks = classes, chunks


@contextmanager
def _all_rows(view: Any) -> Any:
    """Let the searches of a view see every row, and its roots every class."""
    with view._use as snapshot:
        before = dict(snapshot.__dict__)
        rows = snapshot.columns.table[ACCESS]
        snapshot.classes = frozenset(np.unique(rows[rows >= 0]).tolist())
        for name in ("access", "roots"):
            snapshot.__dict__.pop(name, None)
        snapshot.__dict__["access"] = compute_mask(snapshot.columns, snapshot.classes)
        _ = snapshot.roots
        try:
            yield
        finally:
            snapshot.__dict__.clear()
            snapshot.__dict__.update(before)


def _open_method(owner: type, name: str, opened: Callable[[Any], Any]) -> Remove:
    original = getattr(owner, name)

    @wraps(original)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        with opened(self):
            result = original(self, *args, **options)
            return list(result) if name == "listing" else result

    return lambda patch: patch.setattr(owner, name, run)


BY_CLASS = (
    "_read_chunks", "single_chunks", "listing", "children", "chunks_of", "vectors", "links", "_by_record",
    "_mentions", "latest_activity", "events", "status", "_leaf_of", "_readable_bytes", "metadata_keys",
    "metadata_kinds", "facets", "last_expiry", "expired",
)  # fmt: skip
"""The methods of the view that name the readable classes in their query."""
BY_ROW = ("lexical", "match_all", "rarities", "languages", "semantic", "coverage", "roots", "count")
"""Those that go by the rows, or the trees, of the readable classes."""
THROUGH_OTHERS = {
    **dict.fromkeys(("records", "outlines", "unshared", "prove_record"), "_by_record"),
    **dict.fromkeys(("definitions", "references"), "_mentions"),
    **dict.fromkeys(("prove", "prove_all"), "_leaf_of"),
    **dict.fromkeys(("chunks", "damaged"), "_read_chunks"),
}
"""Those that have their filter from another one."""


def _own_events(patch: pytest.MonkeyPatch) -> None:
    original = SqlView.events

    def events(self: SqlView, **options: Any) -> Any:
        viewer, self.viewer = self.viewer, OWNER
        try:
            return original(self, **options)
        finally:
            self.viewer = viewer

    patch.setattr(SqlView, "events", events)


def _event_classes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(access, "canonical_event", lambda _, acl: acl)


def _all_holders(patch: pytest.MonkeyPatch) -> None:
    original = vector_blocks.put
    patch.setattr(
        vector_blocks,
        "put",
        lambda transaction, model, by_key, _=None: original(transaction, model, by_key),
    )


def _shared_searches(patch: pytest.MonkeyPatch) -> None:
    """Give everybody the results of semantic searches that are kept of all classes."""
    lower_cache_limits(patch)
    original = search_cache.split_classes
    patch.setattr(
        search_cache, "split_classes", lambda _, sizes: original(range(sizes.size), sizes)
    )


def _forgotten_classes(patch: pytest.MonkeyPatch) -> None:
    """Keep the results of semantic searches without the classes that they are of."""
    lower_cache_limits(patch)
    original = search_cache._Search.key

    def key(self: search_cache._Search, _: search_cache.Cell) -> search_cache.Key:
        return original(self, frozenset())

    patch.setattr(search_cache._Search, "key", key)


def _unnoticed_changes(patch: pytest.MonkeyPatch) -> None:
    """Keep the results of semantic searches, whatever changes."""
    lower_cache_limits(patch)
    patch.setattr(search_cache._Search, "update", lambda _, entry, __: entry)


def _replaced(*places: tuple[Any, str], by: Any) -> Remove:
    def remove(patch: pytest.MonkeyPatch) -> None:
        for owner, name in places:
            patch.setattr(owner, name, by)

    return remove


def _named_circles(patch: pytest.MonkeyPatch) -> None:
    original = Tree.__init__
    patch.setattr(
        Tree, "__init__", lambda self, whole, changed, _: original(self, whole, changed, whole)
    )


def _second(_: object, value: Any) -> Any:
    return value


FILTERS = (
    Filter("store.access.may_read", STORE, _replaced((access, "may_read"), by=lambda *_: True)),
    Filter("store.access.canonical_event", STORE, _event_classes),
    Filter("store.sql.vector_blocks.put", STORE, _all_holders),
    Filter("store.sql.view.events of others", STORE, _own_events),
    *(
        Filter(f"view.{name}", STORE, _open_method(SqlView, name, _all_classes))
        for name in BY_CLASS
    ),
    *(Filter(f"view.{name}", STORE, _open_method(SqlView, name, _all_rows)) for name in BY_ROW),
    Filter("store.index.search_cache.split_classes", STORE, _shared_searches),
    Filter("store.index.search_cache: the classes in a key", STORE, _forgotten_classes),
    Filter("store.index.search_cache: changes of access", SEARCHES, _unnoticed_changes),
    Filter(
        "Viewer.shown",
        WORLDS,
        _replaced((Viewer, "shown"), by=lambda _, acl, author: acl),  # noqa: ARG005 - its signature
        quick=True,
    ),
    Filter(
        "store.access.visible_record",
        WORLDS,
        _replaced((documents, "visible_record"), (access_service, "visible_record"), by=_second),
    ),
    Filter(
        "memory.memory_service._visible",
        WORLDS,
        _replaced((memory_service, "_visible"), by=_second),
    ),
    Filter(
        "memory.experience_service._visible",
        WORLDS,
        _replaced((experience_service, "_visible"), by=_second),
    ),
    Filter(
        "memory.feedback_service._visible",
        WORLDS,
        _replaced((feedback_service, "_visible"), by=_second),
    ),
    Filter(
        "workspace.service._visible", WORLDS, _replaced((block_service, "_visible"), by=_second)
    ),
    Filter(
        "memory.authoring._readable",
        WORLDS,
        _replaced((authoring, "_readable"), by=lambda _, by_record: [*by_record.values()]),
        ("put_blocks",),
    ),
    Filter(
        "workspace.importers.readers.covers",
        WORLDS,
        _replaced((readers, "covers"), (build_tree, "covers"), by=lambda *_: True),
        ("grow_the_vault",),
        quick=True,
    ),
    Filter(
        "vectors of others, by program",
        WORLDS,
        _all_holders,
        ("remember_the_same",),
        quick=True,
        pending=True,
    ),
    Filter("workspace.tree.Tree", CIRCLE, _named_circles, quick=True),
    Filter(
        "indexing.documents.Documents.readable",
        KEPT,
        _replaced((Documents, "readable"), by=lambda _, ids: frozenset(ids)),
        quick=True,
    ),
    Filter(
        "mcp.session.Session.of_client",
        KEPT,
        _replaced((Session, "of_client"), by=lambda self, _: self),
    ),
)
__all__ = ["BY_CLASS", "BY_ROW", "FILTERS", "THROUGH_OTHERS", "Filter", "Snapshot"]

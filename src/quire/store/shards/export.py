"""All that a space holds over its shards, to be copied to another place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from heapq import merge
from typing import Any

from quire.core.types import Coverage, Entry, Place, Roots, SpaceState
from quire.errors import InputError
from quire.store.shards.contract import Shards
from quire.store.sql.export import PAGE, SqlExport
from quire.store.sqlite.store import NOTES_OF_SHARDS


class ShardedExport:
    """A snapshot of all that a space holds, whoever may read it."""

    def __init__(
        self, catalog: SqlExport, shards: Shards, numbers: list[int], model: str | None
    ) -> None:
        self._open: SqlExport | None = catalog
        self._shards = shards
        self._numbers = numbers
        self._model = model

    def close(self) -> None:
        """Refuse all further calls: the snapshot ends."""
        self._open = None

    @property
    def _catalog(self) -> SqlExport:
        if self._open is None:
            raise InputError("the export is closed", hint="open another with `export()`")
        return self._open

    def _ask_all(self, name: str, *args: Any) -> list[Any]:
        numbered = enumerate(self._numbers)
        return self._shards.call([(shard, name, (number, *args)) for shard, number in numbered])

    def roots(self) -> Roots:
        """Return the hashes over everything."""
        return self._catalog.roots()

    def count(self) -> Coverage:
        """Return how many chunks and vectors there are."""
        self._catalog  # noqa: B018 - refuses if it is closed
        counts = self._ask_all("ask_export", "count")
        return Coverage(
            sum(each.chunks for each in counts), sum(each.vectors for each in counts), self._model
        )

    def state(self) -> SpaceState:
        """Return what the space holds beside its records."""
        own = self._catalog.state()
        states: list[SpaceState] = self._ask_all("ask_export", "state")
        events = [event for state in states for event in state.events]
        events.sort(key=lambda event: (event.at, event.actor, event.record_id, event.verb))
        return replace(
            states[0],
            model=self._model,
            notes={
                key: text for key, text in own.notes.items() if not key.startswith(NOTES_OF_SHARDS)
            },
            stamps=own.stamps,
            events=tuple(events),
        )

    def places(self) -> Iterator[Place]:
        """Yield path and id of each record by path, then id."""
        self._catalog  # noqa: B018 - refuses if it is closed
        yield from merge(*self._lists("open_places"))

    def entries(self, after: Place | None = None) -> Iterator[Entry]:
        """Yield all records with all that belongs to them, by path, then id."""
        self._catalog  # noqa: B018 - refuses if it is closed
        yield from merge(
            *self._lists("open_entries", after),
            key=lambda entry: (entry.record.path, entry.record.id),
        )

    def _lists(self, name: str, *args: Any) -> list[Iterator[Any]]:
        lists = self._ask_all(name, *args)
        return [self._items(shard, number) for shard, number in enumerate(lists)]

    def _items(self, shard: int, number: int) -> Iterator[Any]:
        try:
            while True:
                self._catalog  # noqa: B018 - refuses if it is closed
                items = self._shards.call([(shard, "next_of_list", (number, PAGE))])[0]
                yield from items
                if len(items) < PAGE:
                    return
        finally:
            with suppress(Exception):
                self._shards.call([(shard, "close_list", (number,))])

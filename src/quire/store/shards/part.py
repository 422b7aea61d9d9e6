"""One shard: its store, and the views and the write that are open on it.

Everything is asked by the name of a method and values, so that a shard answers in the same way in
this process and in another one. What lasts longer than a call has a number.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, islice
from typing import Any

from quire.core.types import AccessRule, Place, Problem, Viewer
from quire.errors import StoreDamagedError, StoreInterruptedError
from quire.store.shards.contract import RESTORE, ShardFile, shard_of
from quire.store.shards.part_view import VERSION, PartView
from quire.store.shards.part_write import PartWrite
from quire.store.sql.export import SqlExport
from quire.store.sqlite.connection import translate_errors
from quire.store.sqlite.store import SqliteStore


class PartStore(SqliteStore):
    """The store of one shard."""

    view_type = PartView

    def begin(self, space: str, mark: str) -> PartWrite:
        """Begin the write transaction of a space."""
        with ExitStack() as stack:
            connection = stack.enter_context(self._connections.write_transaction(space))
            transaction = self._begin(connection, space)
            return PartWrite(stack.pop_all(), transaction, mark)
        raise AssertionError("nothing is suppressed")

    def keep(self, write: PartWrite) -> None:
        """Keep in memory what a write has committed."""
        if write.columns is not None:
            self._caches.put_columns(write.space, write.columns)


class Part:
    """What answers for one shard."""

    def __init__(self, file: ShardFile, wait: float) -> None:
        self._file = file
        self._place = str(file.path)
        self._store = PartStore(file.path, create=True, wait=wait)
        # Of another process than before none is known: a view must not be taken for another one.
        self._numbers = count(secrets.randbits(62) << 32)
        self._views: dict[int, tuple[ExitStack, PartView]] = {}
        self._exports: dict[int, tuple[ExitStack, SqlExport]] = {}
        self._lists: dict[int, Iterator[Any]] = {}
        self._write: PartWrite | None = None

    # --- views --------------------------------------------------------------------------------

    def open_view(self, viewer: Viewer, space: str) -> tuple[int, int, Viewer]:
        """Open a view; return its number, the version that it shows, and the viewer in full."""
        with ExitStack() as stack:
            view = stack.enter_context(self._store.view(viewer, space))
            assert isinstance(view, PartView), "that is the type of this store's views"
            version = self._version(view.version())
            number = next(self._numbers)
            self._views[number] = stack.pop_all(), view
        return number, version, view.viewer

    def ask(self, number: int, name: str, *args: Any, **options: Any) -> Any:
        """Ask an open view."""
        opened = self._views.get(number)
        if opened is None:
            raise self._lost("view")
        return getattr(opened[1], name)(*args, **options)

    def close_view(self, number: int) -> None:
        """Close a view; raises an error if something damaged was left out that nobody was told."""
        opened = self._views.pop(number, None)
        if opened is not None:
            opened[0].close()

    # --- long answers -------------------------------------------------------------------------

    def open_export(self, space: str) -> tuple[int, int]:
        """Open a snapshot of everything; return its number and the version that it shows."""
        with ExitStack() as stack:
            export = stack.enter_context(self._store.export(space))
            version = self._version(export.note(VERSION))
            number = next(self._numbers)
            self._exports[number] = stack.pop_all(), export
        return number, version

    def ask_export(self, number: int, name: str) -> Any:
        """Ask an open export."""
        return getattr(self._export(number), name)()

    def close_export(self, number: int) -> None:
        """Close an export."""
        opened = self._exports.pop(number, None)
        if opened is not None:
            opened[0].close()

    def _export(self, number: int) -> SqlExport:
        opened = self._exports.get(number)
        if opened is None:
            raise self._lost("export")
        return opened[1]

    def _lost(self, what: str) -> StoreInterruptedError:
        return StoreInterruptedError(
            f"the shard was restarted, and the {what} was lost", place=self._place, hint="ask again"
        )

    def open_missing(self, space: str, waiting_for: str | None) -> int:
        """Begin to list the texts without a vector; return the number of the list."""
        return self._keep(self._store.missing_vectors(space, waiting_for))

    def open_entries(self, export: int, after: Place | None) -> int:
        """Begin to list what an export holds."""
        return self._keep(self._export(export).entries(after))

    def open_places(self, export: int) -> int:
        """Begin to list the places of all records of an export."""
        return self._keep(self._export(export).places())

    def next_of_list(self, number: int, most: int) -> list[Any]:
        """Return the next items of a list; none at its end."""
        if number not in self._lists:
            raise self._lost("list")
        items = list(islice(self._lists[number], most))
        if len(items) < most:
            self._lists.pop(number, None)
        return items

    def close_list(self, number: int) -> None:
        """End a list before its end."""
        self._lists.pop(number, None)

    def _keep(self, items: Iterator[Any]) -> int:
        number = next(self._numbers)
        self._lists[number] = items
        return number

    # --- the write ----------------------------------------------------------------------------

    def begin(self, space: str) -> int:
        """Begin the write transaction; return the version that it begins with."""
        if self._write is not None:  # whoever began it is gone
            self.roll_back()
        self._write = self._store.begin(space, self._file.mark)
        return self._version(self._write.version())

    def change(self, name: str, *args: Any, **options: Any) -> Any:
        """Make a call of the open write."""
        if self._write is None:
            raise StoreInterruptedError(
                "the shard was restarted during the write, which was undone", place=self._place
            )
        with translate_errors(self._place):
            return getattr(self._write, name)(*args, **options)

    def commit(self) -> None:
        """Commit the open write."""
        if self._write is None:
            raise StoreInterruptedError(
                "the shard was restarted before the commit", place=self._place
            )
        write, self._write = self._write, None
        if not write.changed:
            write.roll_back()
            return
        write.commit()
        self._store.keep(write)

    def roll_back(self) -> None:
        """Undo the open write, if there is one."""
        write, self._write = self._write, None
        if write is not None:
            write.roll_back()

    # --- the store ----------------------------------------------------------------------------

    def process(self) -> int:
        """Return the number of the process that has the shard open."""
        return os.getpid()

    def rules(self, space: str) -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules by origin."""
        return self._store.rules(space)

    def groups(self, space: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups by origin."""
        return self._store.groups(space)

    def model(self, space: str) -> str | None:
        """Return the model of the vectors."""
        return self._store.model(space)

    def waiting(self, space: str) -> tuple[str | None, int, int]:
        """Return the model of the waiting vectors, their number and that of all chunks."""
        found = self._store.reembedding(space)
        if found is not None:
            return found.model, found.vectors, found.chunks
        with self._store.export(space) as export:
            return None, 0, export.count().chunks

    def shrink(self) -> None:
        """Give the room of what was deleted back."""
        self._store.shrink()

    def rewrite(self) -> None:
        """Rewrite the file, so that no deleted byte is left in it."""
        self._store.purge([])

    def check(self, repair: bool) -> list[Problem]:
        """Check the shard for itself, and that its records belong to it."""
        problems = self._store.check(repair=repair)
        for space in self._store.spaces():
            with self._store.export(space) as export:
                strays = [
                    path
                    for path, name in export.places()
                    if shard_of(name, self._file.count) != self._file.number
                ]
            if strays:
                detail = (
                    f"{len(strays)} records of {space} belong in other shards, such as "
                    f"{strays[0]}: {RESTORE}"
                )
                problems.append(Problem("shards", detail))
        return problems

    def _version(self, note: str | None) -> int:
        """Return the number of a write from the note of it; refuse a file from somewhere else."""
        version, _, mark = (note or "0").partition(" ")
        if not version.isdecimal():
            raise StoreDamagedError("the number of its last write is damaged", place=self._place)
        if mark and self._file.mark and mark != self._file.mark:
            is_own = mark.endswith(f"/{self._file.store}")
            raise StoreDamagedError(
                "this file is another shard of the store"
                if is_own
                else "this file is a shard of another store",
                place=self._place,
                hint=RESTORE,
            )
        return int(version)

    def close(self) -> None:
        """Close the store; what is open is closed when it ends."""
        self._store.close()

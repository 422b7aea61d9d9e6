"""Sources of context files: the project on disk, and the store as a viewer may read it.

The disk is read as an index reads it: a file that is ignored, a symbolic link, a secret or anything
under `.quire` is never a context.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from quire.core.protocols import View
from quire.core.types import FileEntry, Filter, IngestSettings, Mistake, Record, Skipped
from quire.ingest import compute_record_id, walk
from quire.rules.discovery import GLOBS, detect_format
from quire.rules.parser import MAX_CHARACTERS

MAX_BYTES = 4 * MAX_CHARACTERS
"""Size of a file: no character has more than four bytes."""


class DiskSource:
    """The files of a project on disk."""

    def __init__(self, root: Path, settings: IngestSettings) -> None:
        self._root = root
        self._settings = settings
        self._entries: dict[str, FileEntry | Skipped] = {}

    def list_below(self, paths: Sequence[str]) -> set[str]:
        """Return the context files at and below some paths."""
        entries = {
            entry.path: entry
            for entry in walk(self._root, paths, self._settings)
            if detect_format(entry.path)
        }
        self._entries |= entries
        return set(entries)

    def list_folder(self, folder: str) -> list[str]:
        """Return the context files that are directly in a folder."""
        try:
            names = os.listdir(self._root / folder)  # noqa: PTH208 - names, not paths
        except OSError:  # a file, or not there yet
            return []
        # Spelled as a walk spells it: names are UTF-8, other bytes are written out (`\xff`).
        spelled = (os.fsencode(name).decode("utf-8", "backslashreplace") for name in names)
        return [posixpath.join(folder, name) for name in spelled if detect_format(name)]

    def find_existing(self, paths: Collection[str]) -> set[str]:
        """Return those of some paths at which a file exists, ignored or not."""
        return {path for path in paths if os.path.isfile(self._root / path)}  # noqa: PTH113 - which never raises

    def read_texts(self, paths: Collection[str]) -> Iterator[tuple[str, str | Mistake]]:
        """Yield the text of each file that is not ignored, or why it cannot be read."""
        unknown = sorted(path for path in paths if path not in self._entries)
        if unknown:
            self._entries |= {
                entry.path: entry for entry in walk(self._root, unknown, self._settings)
            }
        for path in paths:
            if path in self._entries:
                yield path, _read_entry(self._entries[path])


class StoreSource:
    """The files in a store that a viewer may read."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.records: dict[str, Record] = {}
        """The records that were listed or found, by path."""

    def list_paths(self) -> list[str]:
        """Return all context files."""
        listed = {record.path: record for record in self._view.listing(Filter(paths=GLOBS))}
        self.records |= listed
        return list(listed)

    def find_existing(self, paths: Collection[str]) -> set[str]:
        """Return those of some paths at which the viewer may read a record."""
        unknown = sorted(compute_record_id(path) for path in paths if path not in self.records)
        self.records |= {record.path: record for record in self._view.records(unknown)}
        return {path for path in paths if path in self.records}

    def read_texts(self, paths: Collection[str]) -> Iterator[tuple[str, str | Mistake]]:
        """Yield the text of each record."""
        for path in paths:
            if path in self.records:
                chunks = self._view.chunks_of(self.records[path].id)
                yield path, "".join(chunk.text for chunk in chunks)


def _read_entry(entry: FileEntry | Skipped) -> str | Mistake:
    if isinstance(entry, Skipped):
        return Mistake(entry.path, 0, f"not read: {entry.reason}")
    if entry.size > MAX_BYTES:
        reason = f"{entry.size} bytes; a context file has at most {MAX_BYTES}"
        return Mistake(entry.path, 0, reason)
    try:
        with Path(entry.location).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        return Mistake(entry.path, 0, f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Mistake(entry.path, line, "not UTF-8 text: save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")

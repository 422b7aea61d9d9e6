"""The files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from quire.core.types import FileEntry, IngestSettings, NewDocument, Skipped, SourceSettings
from quire.indexing.files import FRESH_NANOSECONDS
from quire.indexing.sources.contract import DEFAULTS, Change, SourceError
from quire.ingest import walk
from quire.ingest.formats import is_binary
from quire.ingest.read import read_bytes
from quire.ingest.types import UnreadableFile
from quire.system.clock import now_ns


class Folder:
    """The files of a folder, which may lie outside the project."""

    resumable = False

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        self._prefix = settings.path or name
        self._settings = settings
        self._ingest = ingest
        self._folder = root / settings.location

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield every file that Quire can read, as `[ingest]` says."""
        del since
        if not self._folder.is_dir():
            raise SourceError(f"{self._folder} is not a folder")
        for entry in walk(self._folder, ("",), self._ingest):
            path = f"{self._prefix}/{entry.path}"
            if isinstance(entry, Skipped):
                yield Skipped(path, entry.reason)
                continue
            if not is_binary(entry.path):
                yield Change(path, mark=_mark(entry), load=partial(self._load, path, entry))

    def _load(self, path: str, entry: FileEntry) -> NewDocument | Skipped | None:
        try:
            data = read_bytes(entry, self._ingest.max_bytes)
        except UnreadableFile as error:
            return Skipped(path, str(error)) if os.path.lexists(entry.location) else None
        return NewDocument(data, path, share=self._settings.share)


def _mark(entry: FileEntry) -> str:
    """Return the mark of a file; none for one that may change again without another time."""
    if entry.mtime >= now_ns() - FRESH_NANOSECONDS:
        return ""
    return f"{entry.size} {entry.mtime}"

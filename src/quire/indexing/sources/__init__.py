"""Sources of documents: a folder, JSON lines, a database query, a bucket.

A source is a small class with `changes(since)`, which yields what there is, or what changed since a
cursor. What has no cursor has marks: by its mark, a file or a line is known to be as it was, and is
not read again. A row that is wrong is skipped and named; it does not end the source. A new kind is
one class and one row of `SOURCES`. Nothing here writes to a store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from quire.core import guard
from quire.core.types import IngestSettings, SourceSettings
from quire.errors import ConfigError, unknown
from quire.indexing.sources.bucket import Bucket
from quire.indexing.sources.contract import DEFAULTS, Change, Source, SourceError
from quire.indexing.sources.databases import Postgresql, Sqlite
from quire.indexing.sources.folder import Folder
from quire.indexing.sources.json_lines import JsonLines
from quire.indexing.sources.plugged import PluggedSource
from quire.system.entry_points import get_plugin, load_plugin

__all__ = ["SOURCES", "Change", "Source", "SourceError", "open_source"]

FOLDER, JSONL, SQLITE, POSTGRESQL, BUCKET = "folder", "jsonl", "sqlite", "postgresql", "bucket"
SOURCES: dict[str, Callable[[str, SourceSettings, Path, IngestSettings], Source]] = {
    FOLDER: Folder,
    JSONL: JsonLines,
    SQLITE: Sqlite,
    POSTGRESQL: Postgresql,
    BUCKET: Bucket,
}
"""The kinds of sources, by the `type` of `[sources.NAME]`."""
_NEEDED = {
    FOLDER: ("location",),
    JSONL: ("location", "path"),
    SQLITE: ("location", "query", "path"),
    POSTGRESQL: ("dsn_env", "query", "path"),
    BUCKET: ("location",),
}


def open_source(
    name: str,
    settings: SourceSettings,
    root: Path,
    ingest: IngestSettings = DEFAULTS,
    disabled: Collection[str] = (),
) -> Source:
    """Return a source by its settings; refuse those that lack something.

    `ingest` says which files are read, `disabled` names the plug-ins that are not used.
    """
    place = f"[sources.{name}]"
    if settings.type not in SOURCES:
        plugin = get_plugin("sources", settings.type, disabled)
        if plugin is None:
            raise unknown("type", settings.type, SOURCES, field="type", place=place)
        make = load_plugin(plugin)
        opened = guard.call(plugin.described, partial(make, name, settings, root))
        return PluggedSource(plugin, opened, settings)
    for key in _NEEDED.get(settings.type, ()):
        if not getattr(settings, key):
            raise ConfigError("is missing", field=key, place=place)
    return SOURCES[settings.type](name, settings, root, ingest)

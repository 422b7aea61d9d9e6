"""Sources of documents: a folder, JSON lines, a database query, a bucket.

A source is a small class with `changes(since)`, which yields what there is, or what changed since a
cursor. What has no cursor has marks: by its mark, a file or a line is known to be as it was, and is
not read again. A row that is wrong is skipped and named; it does not end the source. A new kind is
one class and one row of `SOURCES`. Nothing here writes to a store.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

from quire.core import guard, hashing, servers
from quire.core.globs import Globs
from quire.core.types import (
    FileEntry,
    IngestSettings,
    NewDocument,
    Skipped,
    SkippedRow,
    SourceSettings,
)
from quire.core.types.viewer import OWNER_NAME
from quire.errors import (
    ConfigError,
    InputError,
    MissingExtraError,
    PluginError,
    QuireError,
    unknown,
)
from quire.indexing.document_content import of_mapping, of_row
from quire.indexing.files import FRESH_NANOSECONDS
from quire.ingest import walk
from quire.ingest.formats import is_binary
from quire.ingest.read import read_bytes
from quire.ingest.redact import redact_path
from quire.ingest.types import UnreadableFile
from quire.ingest.walk import find_refusal, is_ignored
from quire.system.clock import now_ns
from quire.system.entry_points import Plugin, get_plugin, load_plugin

FOLDER, JSONL, SQLITE, POSTGRESQL, BUCKET = "folder", "jsonl", "sqlite", "postgresql", "bucket"
FETCHED = 500
"""Rows that are fetched from a server at once."""
DEFAULTS = IngestSettings()
_TAGS = ("ETag", "etag", "sha", "md5Hash", "md5", "crc32c", "generation")
"""What the file systems of fsspec tell of a file that is another one with other bytes."""
_TIMES = ("LastModified", "last_modified", "updated", "modified", "mtime")
_STEPS = 1_000_000
MAX_STEPS = 10_000_000_000
"""Steps of SQLite after which a query that returns no row is ended: a minute or more of work. A
query may come from a project that nobody trusted."""
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


class SourceError(QuireError):
    """A source of documents could not be read."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing of a source: a document as it is now, or the path of one that is deleted."""

    path: str
    document: NewDocument | None = None
    """None: it was deleted."""
    cursor: str | None = None
    """How far the source has been read with this; None: the source has no cursor."""
    row: int = 0
    """The number of its row or line, from 1; 0: it is no row."""
    mark: str = ""
    """What tells that it is as it was (size and time, an etag, a hash); empty: nothing does."""
    load: Callable[[], NewDocument | Skipped | None] | None = None
    """Reads the document, if it is not known by its mark; None is returned if it is gone."""


class Source(Protocol):
    """Where documents come from."""

    @property
    def resumable(self) -> bool:
        """Whether `changes` continues at a cursor; else it yields everything, each time."""

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield what changed since a cursor, or everything, in the order of the cursors.

        What is there and cannot be read is `Skipped`, by its path in the store. A row that is wrong
        is a `SkippedRow`.
        """


class Folder:
    """The files of a folder, which may lie outside the project."""

    resumable = False

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        self._prefix = settings.path or name
        self._settings = settings
        self._ingest = ingest
        self._folder = _place(name, settings, root)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield every file that Quire can read, as `[ingest]` says."""
        del since
        if not self._folder.is_dir():
            raise SourceError(f"{self._folder} is no folder")
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


class JsonLines:
    """A file with an object a line."""

    resumable = False

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        del ingest
        self._rows = RowReader(name, settings)
        self._file = _place(name, settings, root)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield the document of each line."""
        del since
        try:
            stream = self._file.open("rb")
        except OSError as error:
            raise SourceError(f"{self._file} cannot be read: {error.strerror}") from error
        with stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield self._read(number, line)

    def _read(self, number: int, line: bytes) -> Change | Skipped:
        try:
            row = _object(line)
        except InputError as error:
            return SkippedRow("", str(error), number)
        change = self._rows.read(row, number)
        return change if isinstance(change, Skipped) else replace(change, mark=_line_mark(line))


def _line_mark(line: bytes) -> str:
    return hashing.digest_bytes(line.strip()).hex()


class Sqlite:
    """The rows of a query to a SQLite file, which is opened to be read only."""

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        self._max_bytes = ingest.max_bytes
        self._rows = RowReader(name, settings)
        self._file = _place(name, settings, root)
        self._settings = settings
        self.resumable = bool(settings.cursor)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield the document of each row, of those at or after the cursor."""
        if not self._file.is_file():  # which SQLite would create
            raise SourceError(f"{self._file} is no file")
        sql, values = _query(self._settings, since, "?")
        steps = _Steps()
        most = self._file.stat().st_size
        try:
            uri = f"{self._file.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.set_authorizer(_allow_reading)
                connection.set_progress_handler(steps.count, _STEPS)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._max_bytes)
                cursor = connection.execute(sql, values)
                if cursor.description is None:
                    raise SourceError(f"{self._file}: the query returns no rows; use a SELECT")
                names = [column[0] for column in cursor.description]
                self._rows.check_columns(names)
                for number, row in enumerate(cursor, 1):
                    steps.since_row = 0
                    if number > most:
                        raise SourceError(
                            f"{self._file}: the query returns more rows than the file has bytes; "
                            "does it ever end?"
                        )
                    plain = map(_plain, row)
                    yield self._rows.read(dict(zip(names, plain, strict=True)), number)
        except (sqlite3.Error, OSError, MemoryError) as error:
            if steps.since_row >= MAX_STEPS:
                raise SourceError(
                    f"{self._file}: the query was ended: it returned no row for very long"
                ) from error
            raise SourceError(f"{self._file}: {error}") from error


class _Steps:
    """How far a query has come since its last row.

    SQLite asks now and then whether to go on: else a query without an end could not even be
    interrupted from the keyboard.
    """

    def __init__(self) -> None:
        self.since_row = 0

    def count(self) -> bool:
        """Count steps; true ends the query."""
        self.since_row += _STEPS
        return self.since_row >= MAX_STEPS


def _allow_reading(action: int, *_: object) -> int:
    """Refuse whatever does not read: a query may come from a project that nobody trusted.

    To open a file to be read only does not suffice: `VACUUM INTO` writes another one.
    """
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


class Postgresql:
    """The rows of a query to a PostgreSQL server, in a transaction that only reads."""

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        del root, ingest
        self._rows = RowReader(name, settings)
        self._settings = settings
        self._name = name
        self.resumable = bool(settings.cursor)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield the document of each row, of those at or after the cursor."""
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                "PostgreSQL needs psycopg", hint="run `pip install 'quire-context[postgresql]'`"
            ) from error
        variable = self._settings.dsn_env
        dsn = os.environ.get(variable) if variable else None
        if not dsn:
            raise ConfigError(
                f"the environment variable {variable or 'dsn_env'} is not set",
                place=f"[sources.{self._name}]",
                hint="let it hold the connection string: postgresql://user@host/database",
            )
        # A per cent sign in the query stands for itself, as in LIKE 'a%'.
        settings = self._settings
        doubled = replace(
            settings,
            query=settings.query.replace("%", "%%"),
            cursor=settings.cursor.replace("%", "%%"),
        )
        sql, values = _query(doubled, since, "%s")
        try:
            psycopg.conninfo.conninfo_to_dict(dsn)
        except psycopg.Error:  # whose message has the text, which may be a password
            raise ConfigError(
                f"the environment variable {variable} holds no connection string",
                place=f"[sources.{self._name}]",
                hint="let it hold one: postgresql://user@host/database",
            ) from None
        try:
            with psycopg.connect(dsn) as connection:
                connection.read_only = True
                with connection.cursor(name="quire") as cursor:
                    cursor.itersize = FETCHED
                    # A query of the project's own settings, which a user has trusted.
                    cursor.execute(sql.encode(), values)
                    names: list[str] = []
                    for number, row in enumerate(cursor, 1):
                        if not names:
                            names = [column.name for column in cursor.description or ()]
                            self._rows.check_columns(names)
                        plain = map(_plain, row)
                        yield self._rows.read(dict(zip(names, plain, strict=True)), number)
        except psycopg.Error as error:
            # Its message may hold the address, never the password.
            raise SourceError(f"PostgreSQL: {str(error).strip()}") from error


class Bucket:
    """The files below an address that fsspec understands: s3://, gs://, file://, memory://."""

    resumable = False

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        del root
        self._settings = settings
        self._ingest = ingest
        self._prefix = settings.path or name

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield every file that Quire can read, as `[ingest]` says."""
        del since
        try:
            import fsspec.core
        except ImportError as error:
            raise MissingExtraError(
                "a bucket needs fsspec", hint="run `pip install 'quire-context[bucket]'`"
            ) from error
        try:
            files, base = fsspec.core.url_to_fs(self._settings.location)
            ignored = Globs(self._ingest.ignore)
            for place, facts in sorted(files.find(base, detail=True).items()):
                name = str(place).removeprefix(base).lstrip("/")
                if not name or is_binary(name) or is_ignored(name, ignored):
                    continue
                path = f"{self._prefix}/{name}"
                shown, reason = redact_path(path, self._ingest)
                reason = reason or find_refusal(name, facts.get("size") or 0, self._ingest) or ""
                if reason:
                    yield Skipped(shown, reason)
                    continue
                load = partial(self._load, path, partial(files.cat_file, place))
                yield Change(path, mark=_bucket_mark(facts), load=load)
        except SourceError:
            raise
        except Exception as error:  # the packages of fsspec have errors of their own
            raise self._failed(error) from error

    def _load(self, path: str, download: Callable[[], bytes]) -> NewDocument | Skipped | None:
        try:
            return NewDocument(download(), path, share=self._settings.share)
        except FileNotFoundError:
            return None
        except PermissionError as error:
            return Skipped(path, servers.without_passwords(f"cannot be read: {error}"))
        except Exception as error:  # see above
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> SourceError:
        reason = str(error) or type(error).__name__
        return SourceError(servers.without_passwords(f"{self._settings.location}: {reason}"))


def _bucket_mark(facts: Mapping[str, Any]) -> str:
    """Return the mark of a file of a bucket: its size with a tag, or with a time that is past."""
    size = facts.get("size")
    for name in _TAGS:
        if facts.get(name):
            return f"{size} {name} {facts[name]}"
    for name in _TIMES:
        at = facts.get(name)
        seconds = at.timestamp() if isinstance(at, datetime) else at
        if isinstance(seconds, int | float) and 0 < seconds * 1e9 < now_ns() - FRESH_NANOSECONDS:
            return f"{size} {name} {seconds!r}"
    return ""


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


class PluggedSource:
    """A source of an installed package: the entry points of the group `quire.sources`.

    It is a class that is called with the name, the settings and the root. Its `changes(since)`
    yields changes, or mappings with the fields of `NewDocument` and `cursor`; one without `content`
    was deleted. Who may read a document is its own `share`, else that of the settings.
    """

    def __init__(self, plugin: Plugin, opened: Any, settings: SourceSettings) -> None:
        self._plugin = plugin
        self._opened = opened
        self._share = settings.share
        self.resumable = bool(getattr(opened, "resumable", False))

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield what changed; whatever the plug-in raises is a `SourceError` that names it."""
        described = self._plugin.described
        try:
            items = guard.call(described, lambda: iter(self._opened.changes(since)))
            number = 0
            while (item := guard.call(described, lambda: next(items, None))) is not None:
                number += 1
                yield self._change(item, number)
        except PluginError as error:
            raise SourceError(str(error)) from error

    def _change(self, item: Any, number: int) -> Change | Skipped:
        if isinstance(item, Change | Skipped):
            return item
        described = self._plugin.described
        path = item.get("path") if isinstance(item, Mapping) else None
        if not isinstance(path, str):
            reason = f"{described} yielded {item!r:.80}, which has no path"
            return SkippedRow("", reason, number)
        cursor = item.get("cursor")
        if not isinstance(cursor, str | None):
            reason = f"{described}: the cursor is {cursor!r:.40}, not a text"
            return SkippedRow(path, reason, number)
        if item.get("content") is None:
            return Change(path, cursor=cursor, row=number)
        fields = {**item, "share": item.get("share") or self._share}
        fields.pop("cursor", None)
        try:
            document = of_mapping(fields, described)
        except InputError as error:
            return SkippedRow(path, str(error), number)
        return Change(path, document, cursor, number)


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


class RowReader:
    """Makes documents of rows, as the settings of a source say."""

    def __init__(self, name: str, settings: SourceSettings) -> None:
        self._place = f"[sources.{name}]"
        self._settings = settings

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse settings that name a column which no row has."""
        for field in ("cursor", "deleted", "readers"):
            self._member(dict.fromkeys(names), field)

    def read(self, row: Mapping[str, Any], number: int) -> Change | Skipped:
        """Return the document of a row, that it was deleted, or why it is skipped."""
        path = ""
        try:
            path = of_row(self._settings.path, row, "path", self._place)
            return self._read(row, path, number)
        except InputError as error:
            return SkippedRow(path, str(error), number)

    def _read(self, row: Mapping[str, Any], path: str, number: int) -> Change:
        settings = self._settings
        cursor = None
        if settings.cursor:
            cursor = _write_cursor(self._member(row, "cursor"), path, self._place)
        if self._member(row, "deleted"):
            return Change(path, cursor=cursor, row=number)
        metadata = {key: value for key in settings.metadata if (value := row.get(key)) is not None}
        content = row if settings.template else row.get("content", dict(row))
        stated = {
            field: str(row[name]) if field in _TEXTS else row[name]
            for field in (*_TEXTS, "modified", "expires")
            if (name := getattr(settings, field)) and row.get(name) is not None
        }
        readers = self._member(row, "readers")
        document = NewDocument(
            content,
            path,
            metadata=metadata,
            template=settings.template,
            share=_names(readers, self._place) if settings.readers else settings.share,
            **stated,
        )
        return Change(path, document, cursor, number)

    def _member(self, row: Mapping[str, Any], field: str) -> Any:
        """Return the member of a row that a setting names; None if it names none."""
        name = getattr(self._settings, field)
        if name and name not in row:
            raise InputError(
                f"unknown column {name!r}", field=field, value=name, allowed=row, place=self._place
            )
        return row[name] if name else None


_TEXTS = ("title", "author")


def _names(value: Any, place: str) -> tuple[str, ...]:
    """Return the readers that a row names; where it names none, the owner alone may read it."""
    names = value.split(",") if isinstance(value, str) else value
    if names is None:
        names = ()
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"expected a list of names, or names with commas, not {value!r:.80}",
            field="readers",
            value=value,
            place=place,
        )
    return tuple(name.strip() for name in names if name.strip()) or (OWNER_NAME,)


def _write_cursor(value: Any, path: str, place: str) -> str:
    """Return a cursor as it is kept; refuse one that nothing comes after."""
    is_endless = isinstance(value, float) and not isfinite(value)
    if is_endless or not isinstance(value, (str, int, float)):
        raise InputError(
            f"the cursor of {path} is {value!r:.40}",
            field="cursor",
            place=place,
            hint="leave such rows out of the query, or give them a value (COALESCE)",
        )
    return json.dumps(value)


def _place(name: str, settings: SourceSettings, root: Path) -> Path:
    del name
    return root / settings.location


def _query(settings: SourceSettings, since: str | None, mark: str) -> tuple[str, Sequence[Any]]:
    """Return the query for what is at or after a cursor, and its values.

    At, not only after it: rows with the same cursor may not all have been read.
    """
    query = settings.query.strip().rstrip(";")
    if not settings.cursor:
        return query, ()
    column = '"' + settings.cursor.replace('"', '""') + '"'
    # The query is a setting that the user wrote or trusted; the column is quoted above.
    chosen = f"SELECT * FROM ({query}) AS source"  # nosec B608  # noqa: S608 - see above
    if since is None:
        return f"{chosen} ORDER BY {column}", ()
    return f"{chosen} WHERE {column} >= {mark} ORDER BY {column}", (json.loads(since),)


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line.strip())
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"expected an object, not {data!r:.80}")
    return data


def _plain(value: Any) -> Any:
    """Return a value of a database as JSON has it."""
    match value:
        case None | str() | int() | float() | bytes():
            plain: Any = value
        case memoryview():
            plain = bytes(value)
        case Decimal():
            plain = int(value) if value == value.to_integral_value() else float(value)
        case datetime() | date() | time():
            plain = value.isoformat()
        case Mapping():
            plain = {str(key): _plain(item) for key, item in value.items()}
        case Iterable():
            plain = [_plain(item) for item in value]
        case _:
            plain = str(value)
    return plain

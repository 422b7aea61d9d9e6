"""The files of a bucket, or of another file system of fsspec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from quire.core import servers
from quire.core.globs import Globs
from quire.core.types import IngestSettings, NewDocument, Skipped, SourceSettings
from quire.errors import MissingExtraError
from quire.indexing.files import FRESH_NANOSECONDS
from quire.indexing.sources.contract import DEFAULTS, Change, SourceError
from quire.ingest.formats import is_binary
from quire.ingest.redact import redact_path
from quire.ingest.walk import find_refusal, is_ignored
from quire.system.clock import now_ns

_TAGS = ("ETag", "etag", "sha", "md5Hash", "md5", "crc32c", "generation")
"""What the file systems of fsspec tell of a file that is another one with other bytes."""
_TIMES = ("LastModified", "last_modified", "updated", "modified", "mtime")


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
                yield Change(path, mark=_mark(facts), load=load)
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


def _mark(facts: Mapping[str, Any]) -> str:
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

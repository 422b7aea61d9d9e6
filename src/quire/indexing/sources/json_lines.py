"""A file of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.core.types import IngestSettings, Skipped, SkippedRow, SourceSettings
from quire.errors import InputError
from quire.indexing.sources.contract import DEFAULTS, Change, SourceError
from quire.indexing.sources.rows import RowReader


class JsonLines:
    """A file with an object a line."""

    resumable = False

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        del ingest
        self._rows = RowReader(name, settings)
        self._file = root / settings.location

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


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line.strip())
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"expected an object, not {data!r:.80}")
    return data

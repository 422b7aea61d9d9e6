"""Documents of rows: of a line of JSON, or of a row of a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from quire.core.types import NewDocument, Skipped, SkippedRow, SourceSettings
from quire.core.types.viewer import OWNER_NAME
from quire.errors import InputError
from quire.indexing.document_content import of_row
from quire.indexing.sources.contract import Change

_TEXTS = ("title", "author")


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
            cursor = _write_cursor(self._member(row, "cursor"), self._place)
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


def _write_cursor(value: Any, place: str) -> str:
    """Return a cursor as it is kept; refuse one that nothing comes after."""
    is_endless = isinstance(value, float) and not isfinite(value)
    if is_endless or not isinstance(value, (str, int, float)):
        raise InputError(
            f"the cursor is {value!r:.40}",
            field="cursor",
            place=place,
            hint="leave such rows out of the query, or give them a value (COALESCE)",
        )
    return json.dumps(value)

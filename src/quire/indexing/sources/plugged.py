"""Sources of installed packages: the entry points of the group `quire.sources`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quire.core import guard
from quire.core.types import Skipped, SkippedRow, SourceSettings
from quire.errors import InputError, PluginError
from quire.indexing.document_content import of_mapping
from quire.indexing.sources.contract import Change, SourceError
from quire.system.entry_points import Plugin


class PluggedSource:
    """A source of an installed package.

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

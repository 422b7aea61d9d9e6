"""Formats of installed packages: the entry points of the group `quire.formats`.

A plug-in is a function from documents to a text. A document is a dictionary with `path`, `title`
and `parts`: texts with their `lines`, and whether each is `cut` off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.core import guard
from quire.core.types import Frame, Passage, RenderSpec
from quire.errors import PluginError
from quire.system.entry_points import Plugin, get_plugin, load_plugin

GROUP = "formats"


class PluggedRender:
    """Renders by a plug-in."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin

    def __call__(self, passages: Sequence[Passage], _: RenderSpec, __: Frame) -> str:
        """Return the text that the plug-in makes of passages, or raise `PluginError`."""
        documents = [_document(passage) for passage in passages]
        described = self._plugin.described
        text = guard.call(described, lambda: load_plugin(self._plugin)(documents))
        if not isinstance(text, str):
            raise PluginError(f"{described} returned {text!r:.60}, not a text")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise PluginError(f"{described} returned what is not valid Unicode") from error
        return text


def find_render(name: str) -> PluggedRender | None:
    """Return the function of an installed format; None if there is none."""
    plugin = get_plugin(GROUP, name)
    return None if plugin is None else PluggedRender(plugin)


def _document(passage: Passage) -> dict[str, Any]:
    return {
        "path": passage.path,
        "title": passage.first.candidate.chunk.title,
        "stale": passage.stale,
        "parts": [
            {"text": run.text, "lines": list(run.lines), "cut": run.is_cut_off}
            for run in passage.runs
        ],
    }

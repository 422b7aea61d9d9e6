"""Readers of installed packages: the entry points of the group `quire.readers`.

A plug-in has `suffixes` and a function `read` from bytes and a path to a text in Markdown. It reads
files that no built-in reader knows. The text is split, linked and freed of secrets like any other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from quire.core import guard
from quire.core.types import IngestSettings
from quire.errors import PluginError
from quire.ingest.decode import clean_text
from quire.ingest.formats import FORMATS_BY_SUFFIX
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile
from quire.system.entry_points import Plugin, are_off, find_plugins, is_disabled, load_plugin

GROUP = "readers"
TIMEOUT = 60.0
"""Seconds that a plug-in has for one file."""


class PluggedReader(NamedTuple):
    """A reader of an installed package."""

    plugin: Plugin
    read: Any
    suffixes: tuple[str, ...]


def find_reader(path: str, without: Collection[str] = ()) -> PluggedReader | None:
    """Return the plug-in that reads a file that no built-in reader knows; None if there is none."""
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    if not suffix or name in FORMATS_BY_SUFFIX or suffix in FORMATS_BY_SUFFIX:
        return None
    return next((each for each in _readers(without) if suffix in each.suffixes), None)


def reader_keys(without: Collection[str] = ()) -> tuple[str, ...]:
    """Name the readers that are in use with their versions: another one reads files otherwise."""
    return tuple(f"{plugin.key} {plugin.package}" for plugin in _enabled(without))


def reader_problems(without: Collection[str] = ()) -> list[str]:
    """Say which readers cannot be used, and why."""
    problems = []
    for plugin in _enabled(without):
        try:
            _open(plugin)
        except PluginError as error:
            problems.append(f"{error}; the files that it reads are read without it")
    return problems


def read(reader: PluggedReader, data: bytes, path: str, settings: IngestSettings) -> ParsedFile:
    """Read a file with a plug-in; `UnreadableFile` says why it cannot be read."""
    from quire.ingest import markdown  # late: few have a plug-in that reads

    described = reader.plugin.described
    try:
        text = guard.call(described, partial(reader.read, data, path), TIMEOUT)
    except PluginError as error:
        raise UnreadableFile(str(error)) from error
    if not isinstance(text, str):
        raise UnreadableFile(f"{described} returned {text!r:.60}, not a text")
    if len(text) > settings.max_bytes:
        raise UnreadableFile(f"{described} returned more text than [ingest] max_bytes allows")
    cleaned = clean_text(text.encode("utf-8", "replace").decode())
    parsed = markdown.read(SourceFile(cleaned, data, "markdown", path), settings)
    return replace(parsed, line_map=())  # the lines of the text are not those of the file


def _enabled(without: Collection[str]) -> list[Plugin]:
    if are_off():
        return []
    return [plugin for plugin in find_plugins(GROUP) if not is_disabled(plugin, without)]


def _readers(without: Collection[str]) -> list[PluggedReader]:
    readers = []
    for plugin in _enabled(without):
        try:
            readers.append(_open(plugin))
        except PluginError:  # which `reader_problems` tells
            continue
    return readers


def _open(plugin: Plugin) -> PluggedReader:
    loaded = load_plugin(plugin)
    if isinstance(loaded, type):
        loaded = guard.call(plugin.described, loaded)
    read, suffixes = getattr(loaded, "read", None), getattr(loaded, "suffixes", None)
    if (
        not callable(read)
        or not isinstance(suffixes, tuple | list)
        or not all(isinstance(each, str) and each.startswith(".") for each in suffixes)
    ):
        raise PluginError(
            f"{plugin.described} needs `suffixes`, such as ('.ext',), and a function `read`"
        )
    return PluggedReader(plugin, read, tuple(each.lower() for each in suffixes))

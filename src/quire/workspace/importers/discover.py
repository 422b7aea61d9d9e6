"""Reading the pages of a folder in one of the formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from quire.core.types import IngestSettings, Skipped
from quire.errors import InputError, unknown
from quire.ingest import read_text, walk
from quire.workspace.importers.build_tree import Folder, markdown_folder, vault_folder
from quire.workspace.importers.markdown import EXTENSIONS, parse_page
from quire.workspace.importers.notion import TABLE_EXTENSION, build_notion_folder

FORMATS = ("vault", "notion", "markdown")
IGNORED = {"vault": (".obsidian/", ".trash/")}
"""What a program keeps for itself in a folder of that format."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a folder by path, all its files, and what could not be read."""

    by_path: Mapping[str, str]
    files: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def read_texts(folder: Path, page_format: str, settings: IngestSettings) -> Texts:
    """Read the pages (and tables) of a folder, in the order of their paths."""
    if page_format not in FORMATS:
        raise unknown("format", page_format, FORMATS, field="format")
    wanted = (*EXTENSIONS, TABLE_EXTENSION) if page_format == "notion" else EXTENSIONS
    settings = replace(settings, ignore=(*settings.ignore, *IGNORED.get(page_format, ())))
    by_path: dict[str, str] = {}
    files: list[str] = []
    skipped: list[Skipped] = []
    for file in walk(folder, ("",), settings):
        if isinstance(file, Skipped):
            skipped.append(file)
            continue
        files.append(file.path)
        if file.path.lower().endswith(wanted):
            text = read_text(file, settings)
            if isinstance(text, Skipped):
                skipped.append(text)
            else:
                by_path[file.path] = text
    for skip in skipped:
        if skip.is_temporary:  # its blocks of an earlier import would be removed
            raise InputError(
                f"{skip.reason}; nothing was changed", hint="try again", place=skip.path
            )
    return Texts(by_path, tuple(files), tuple(skipped))


def build_folder(title: str, page_format: str, texts: Texts) -> tuple[Folder, list[Skipped]]:
    """Put the pages of a folder together as its format demands."""
    pages = [
        parse_page(path, text, wiki=page_format == "vault")
        for path, text in texts.by_path.items()
        if path.lower().endswith(EXTENSIONS)
    ]
    if page_format == "notion":
        tables = {
            path: text
            for path, text in texts.by_path.items()
            if path.lower().endswith(TABLE_EXTENSION)
        }
        return build_notion_folder(title, pages, tables, texts.files)
    make = vault_folder if page_format == "vault" else markdown_folder
    return make(title, pages, texts.files), []

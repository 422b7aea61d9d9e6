"""Reading the pages of a folder in one of the formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.core.types import FileEntry, IngestSettings, Redaction, Skipped
from quire.core.types.blocks import VAULT_FOLDERS
from quire.errors import InputError, unknown
from quire.ingest import compute_digest, read_text, walk
from quire.workspace.importers.build_tree import Folder, markdown_folder, vault_folder
from quire.workspace.importers.markdown import EXTENSIONS, parse_page
from quire.workspace.importers.notion import TABLE_EXTENSION, build_notion_folder

FORMATS = ("vault", "notion", "markdown")
IGNORED = {"vault": VAULT_FOLDERS}
"""What a program keeps for itself in a folder of that format."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a folder by path, all its files, and what could not be read."""

    by_path: Mapping[str, str]
    files: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    redacted: tuple[Redaction, ...] = ()
    digests: Mapping[FileEntry, str] = field(default_factory=dict)
    """The digests of the pages and tables, those that could not be read among them."""


def walk_folder(
    folder: Path, page_format: str, settings: IngestSettings
) -> Iterator[FileEntry | Skipped]:
    """Yield the files of a folder that are not what a program keeps for itself."""
    if page_format not in FORMATS:
        raise unknown("format", page_format, FORMATS, field="format")
    ignore = (*settings.ignore, *IGNORED.get(page_format, ()))
    return walk(folder, ("",), replace(settings, ignore=ignore))


def is_page(path: str, page_format: str) -> bool:
    """Tell whether a file is a page, or a table, of a format."""
    wanted = (*EXTENSIONS, TABLE_EXTENSION) if page_format == "notion" else EXTENSIONS
    return path.lower().endswith(wanted)


def read_texts(folder: Path, page_format: str, settings: IngestSettings) -> Texts:
    """Read the pages (and tables) of a folder, in the order of their paths."""
    by_path: dict[str, str] = {}
    files: list[str] = []
    skipped: list[Skipped] = []
    redacted: list[Redaction] = []
    digests: dict[FileEntry, str] = {}
    for file in walk_folder(folder, page_format, settings):
        if isinstance(file, Skipped):
            skipped.append(file)
            continue
        files.append(file.path)
        if is_page(file.path, page_format):
            # First: a file that is changed meanwhile must not look as if it had been read.
            digest = compute_digest(file)
            digests[file] = digest if isinstance(digest, str) else ""
            content = read_text(file, settings)
            if isinstance(content, Skipped):
                skipped.append(content)
            else:
                by_path[file.path], found = content
                redacted += found
    for skip in skipped:
        if skip.is_temporary:  # its blocks of an earlier import would be removed
            raise InputError(
                f"{skip.reason}; nothing was changed", hint="try again", place=skip.path
            )
    return Texts(by_path, tuple(files), tuple(skipped), tuple(redacted), digests)


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

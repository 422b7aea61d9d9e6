"""Which pages does a folder hold?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from quire.core.types import IngestSettings, Skipped
from quire.errors import InputError
from quire.ingest import read_text, walk
from quire.workspace.importers.build_tree import Folder, plain_folder, vault
from quire.workspace.importers.markdown import ENDINGS, page_of
from quire.workspace.importers.notion import TABLE, notion

FORMS = ("vault", "notion", "markdown")
OWN_FILES = {"vault": (".obsidian/", ".trash/")}
"""What a program keeps for itself in a folder of that form."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a folder by their paths, all its files, and what could not be read."""

    held: Mapping[str, str]
    files: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def texts_of(folder: Path, form: str, settings: IngestSettings) -> Texts:
    """Read the pages (and tables) of a folder, in the order of their paths."""
    if form not in FORMS:
        raise InputError(f"there is no form {form!r}: there are {', '.join(FORMS)}")
    wanted = (*ENDINGS, TABLE) if form == "notion" else ENDINGS
    settings = replace(settings, ignore=(*settings.ignore, *OWN_FILES.get(form, ())))
    held: dict[str, str] = {}
    files: list[str] = []
    skipped: list[Skipped] = []
    for found in walk(folder, ("",), settings):
        if isinstance(found, Skipped):
            skipped.append(found)
            continue
        files.append(found.path)
        if found.path.lower().endswith(wanted):
            text = read_text(found, settings)
            if isinstance(text, Skipped):
                skipped.append(text)
            else:
                held[found.path] = text
    for one in skipped:
        if one.is_temporary:  # else what was made of it before would be taken out
            raise InputError(f"{one.path}: {one.reason}; nothing was changed, try again")
    return Texts(held, tuple(files), tuple(skipped))


def folder_of(title: str, form: str, texts: Texts) -> tuple[Folder, list[Skipped]]:
    """Put the pages of a folder together as its form wants it."""
    pages = [
        page_of(path, text, wiki=form == "vault")
        for path, text in texts.held.items()
        if path.lower().endswith(ENDINGS)
    ]
    if form == "notion":
        tables = {path: text for path, text in texts.held.items() if path.lower().endswith(TABLE)}
        return notion(title, pages, tables, texts.files)
    make = vault if form == "vault" else plain_folder
    return make(title, pages, texts.files), []

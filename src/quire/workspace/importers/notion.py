"""What does an export of Notion hold?

A page is a file whose name ends in the page's id, with a folder of the same name for what stands in
it; a database is a table (CSV) with a folder for those rows that have a page. A row is known by its
title.
"""

from __future__ import annotations

import csv
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote, unquote

from quire.core.types import Skipped
from quire.workspace.importers.build_tree import Folder
from quire.workspace.importers.links import NOTION_ID
from quire.workspace.importers.outline import Page, Part

TABLE = ".csv"
ALL = "_all.csv"
"""The whole table, beside the one that shows a view of it."""
NAMED = re.compile(r"\s+[0-9a-f]{32}\Z")
RELATED = re.compile(r"\s*\((https?://[^()\s]+|[^()]*?\.md)\)")
STATED = re.compile(r"([^:\n]{1,80}):(?:\s|\Z)")
WIDEST = 1000
"""So many columns are enough for one table."""


def notion(
    title: str, pages: Sequence[Page], tables: Mapping[str, str], files: Sequence[str]
) -> tuple[Folder, list[Skipped]]:
    """Put the pages and tables of an export together; what is no table comes with a reason."""
    found = {page.path: _titled(page) for page in pages}
    keys = {path: key for path in found if (key := _id(path))}
    homes = dict(_homes(found, tables))
    relations: dict[str, Mapping[str, Sequence[str]]] = {}
    parents: dict[str, str] = {}
    places: dict[str, int] = {}
    skipped: list[Skipped] = []
    for path in sorted(_shown(tables)):
        try:
            header, rows = _rows(tables[_whole(path, tables)])
        except csv.Error as error:
            skipped.append(Skipped(path, f"no table that could be read: {error}"))
            continue
        found[path] = Page(path, _bare(_stem(path)), type="db")
        keys[path] = _id(path) or path
        for place, (row, cells) in enumerate(_placed(path, rows, found)):
            fields, related = _told(path, header, cells)
            known = found.get(row, Page(row, cells[0]))
            found[row] = replace(
                known, type="db_row", fields=fields, parts=_without_fields(known, header)
            )
            relations[row], parents[row], places[row] = related, path, place
    ordered = [found[path] for path in sorted(found)]
    return Folder(title, ordered, homes, files, keys, relations, parents, places), skipped


def _shown(tables: Mapping[str, str]) -> Iterator[str]:
    """Name each table once, by the file without `_all`."""
    for path in tables:
        if not path.endswith(ALL) or f"{path.removesuffix(ALL)}{TABLE}" not in tables:
            yield path


def _whole(path: str, tables: Mapping[str, str]) -> str:
    whole = f"{path.removesuffix(TABLE)}{ALL}"
    return whole if whole in tables else path


def _rows(text: str) -> tuple[list[str], list[list[str]]]:
    rows = [row for row in csv.reader(text.split("\n"), strict=True) if any(row)]
    if not rows or not rows[0][0].strip() or len(rows[0]) > WIDEST:
        raise csv.Error("it has no header, or too many columns")
    width = len(rows[0])
    return rows[0], [(row + [""] * width)[:width] for row in rows[1:]]


def _placed(
    path: str, rows: Sequence[list[str]], found: Mapping[str, Page]
) -> Iterator[tuple[str, list[str]]]:
    """Give each row with the path of its page; without one, with a path of its own."""
    folder = _stem(path)
    waiting: dict[str, list[str]] = {}
    for other in sorted(found):
        if posixpath.dirname(other) in {path.removesuffix(TABLE), path.removesuffix(ALL)} or (
            _bare(posixpath.basename(posixpath.dirname(other))) == _bare(folder)
            and posixpath.dirname(posixpath.dirname(other)) == posixpath.dirname(path)
        ):
            waiting.setdefault(found[other].title, []).append(other)
    met: Counter[str] = Counter()
    for cells in rows:
        title = cells[0]
        met[title] += 1
        own = waiting.get(title)
        yield (own.pop(0) if own else f"{path}#{quote(title, safe='')}~{met[title]}"), cells


def _told(
    path: str, header: Sequence[str], cells: Sequence[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Give what a row says in its columns, and to which pages they lead."""
    fields: dict[str, list[str]] = {}
    related: dict[str, list[str]] = {}
    for column, cell in zip(header[1:], cells[1:], strict=True):
        addresses = RELATED.findall(cell)
        said = RELATED.sub("", cell).strip()
        if column.strip() and said:
            fields[column.strip()] = [said]
        if column.strip() and addresses:
            related[column.strip()] = [_from_root(path, one) for one in addresses]
    return fields, related


def _from_root(path: str, address: str) -> str:
    if "://" in address:
        return address
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address)))
    return f"/{quote(joined)}"


def _without_fields(page: Page, header: Sequence[str]) -> tuple[Part, ...]:
    """Leave out the paragraph with which a row's page repeats its columns."""
    columns = {column.strip() for column in header}
    for first in page.parts[:1]:
        lines = first.text.split("\n")
        names = [match[1].strip() for line in lines if (match := STATED.match(line))]
        if first.type == "paragraph" and len(names) == len(lines) and columns.issuperset(names):
            return tuple(
                replace(part, parent=None if part.parent is None else part.parent - 1)
                for part in page.parts[1:]
            )
    return page.parts


def _homes(found: Mapping[str, Page], tables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Tell which page or table stands for each folder: the one of its name, beside it."""
    beside: dict[str, list[str]] = {}
    shown = {*found, *_shown(tables)}
    for path in sorted(shown):
        named = f"{posixpath.dirname(path)}/{_bare(_stem(path))}"
        beside.setdefault(named, []).append(path)
    for folder in {posixpath.dirname(path) for path in shown} - {""}:
        bare = f"{posixpath.dirname(folder)}/{_bare(posixpath.basename(folder))}"
        exact = [one for one in beside.get(bare, ()) if one.rpartition(".")[0] == folder]
        meant = exact or beside.get(bare, [])
        if len(meant) == 1 or exact:
            yield folder, meant[0]


def _titled(page: Page) -> Page:
    return replace(page, title=_bare(page.title))


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.removesuffix(ALL) if name.endswith(ALL) else name.rpartition(".")[0]


def _bare(name: str) -> str:
    """Take the id off a name."""
    return NAMED.sub("", name)


def _id(path: str) -> str:
    return next(iter(NOTION_ID.findall(path.rpartition("/")[2])[-1:]), "")

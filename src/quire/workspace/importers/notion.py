"""Exports of Notion.

A page is a file whose name ends with the page's id, with a folder of the same name for its
subpages; a database is a table (CSV) with a folder for those rows that have a page. A row is
identified by its title.
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

TABLE_EXTENSION = ".csv"
FULL_TABLE_SUFFIX = "_all.csv"
"""The suffix of the full table, beside the one that holds a view of it."""
ID_SUFFIX = re.compile(r"(?<!\s)\s++[0-9a-f]{32}\Z")
RELATION_LINK = re.compile(r"(?<!\s)\s*+\((https?://[^()\s]++|[^()]*?\.md)\)")
FIELD_LINE = re.compile(r"([^:\n]{1,80}):(?:\s|\Z)")
MAX_COLUMNS = 1000
"""The most columns of one table."""


def build_notion_folder(
    title: str, pages: Sequence[Page], tables: Mapping[str, str], files: Sequence[str]
) -> tuple[Folder, list[Skipped]]:
    """Put the pages and tables of an export together; invalid tables are skipped with a reason."""
    by_path = {page.path: _with_title(page) for page in pages}
    keys = {path: key for path in by_path if (key := _find_id(path))}
    homes = dict(_find_homes(by_path, tables))
    relations: dict[str, Mapping[str, Sequence[str]]] = {}
    parents: dict[str, str] = {}
    positions: dict[str, int] = {}
    skipped: list[Skipped] = []
    for path in sorted(_list_tables(tables)):
        try:
            header, rows = _parse_rows(tables[_full_table(path, tables)])
        except csv.Error as error:
            skipped.append(Skipped(path, f"not a readable table: {error}"))
            continue
        by_path[path] = Page(path, _strip_id(_stem(path)), type="db")
        keys[path] = _find_id(path) or path
        for position, (row, cells) in enumerate(_match_rows(path, rows, by_path)):
            fields, related = _parse_cells(path, header, cells)
            page = by_path.get(row, Page(row, cells[0]))
            by_path[row] = replace(
                page, type="db_row", fields=fields, parts=_without_fields(page, header)
            )
            relations[row], parents[row], positions[row] = related, path, position
    ordered = [by_path[path] for path in sorted(by_path)]
    return Folder(title, ordered, homes, files, keys, relations, parents, positions), skipped


def _list_tables(tables: Mapping[str, str]) -> Iterator[str]:
    """Yield each table once, by the file without `_all`."""
    for path in tables:
        if (
            not path.endswith(FULL_TABLE_SUFFIX)
            or f"{path.removesuffix(FULL_TABLE_SUFFIX)}{TABLE_EXTENSION}" not in tables
        ):
            yield path


def _full_table(path: str, tables: Mapping[str, str]) -> str:
    full = f"{path.removesuffix(TABLE_EXTENSION)}{FULL_TABLE_SUFFIX}"
    return full if full in tables else path


def _parse_rows(text: str) -> tuple[list[str], list[list[str]]]:
    rows = [row for row in csv.reader(text.split("\n"), strict=True) if any(row)]
    if not rows or not rows[0][0].strip() or len(rows[0]) > MAX_COLUMNS:
        raise csv.Error("it has no header, or too many columns")
    width = len(rows[0])
    return rows[0], [(row + [""] * width)[:width] for row in rows[1:]]


def _match_rows(
    path: str, rows: Sequence[list[str]], by_path: Mapping[str, Page]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each row with the path of its page; without one, with a path of its own."""
    folder = _stem(path)
    unmatched: dict[str, list[str]] = {}
    for other in sorted(by_path):
        if posixpath.dirname(other) in {
            path.removesuffix(TABLE_EXTENSION),
            path.removesuffix(FULL_TABLE_SUFFIX),
        } or (
            _strip_id(posixpath.basename(posixpath.dirname(other))) == _strip_id(folder)
            and posixpath.dirname(posixpath.dirname(other)) == posixpath.dirname(path)
        ):
            unmatched.setdefault(by_path[other].title, []).append(other)
    counts: Counter[str] = Counter()
    for cells in rows:
        title = cells[0]
        counts[title] += 1
        own = unmatched.get(title)
        yield (own.pop(0) if own else f"{path}#{quote(title, safe='')}~{counts[title]}"), cells


def _parse_cells(
    path: str, header: Sequence[str], cells: Sequence[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the fields of a row, and the pages that its columns link to."""
    fields: dict[str, list[str]] = {}
    related: dict[str, list[str]] = {}
    for column, cell in zip(header[1:], cells[1:], strict=True):
        addresses = RELATION_LINK.findall(cell)
        value = RELATION_LINK.sub("", cell).strip()
        name = column.strip()
        if name and value:
            fields[name] = [value]
        if name and addresses:
            related[name] = [_absolute_address(path, address) for address in addresses]
    return fields, related


def _absolute_address(path: str, address: str) -> str:
    if "://" in address:
        return address
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address)))
    return f"/{quote(joined)}"


def _without_fields(page: Page, header: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of a row's page without the paragraph that repeats its columns."""
    columns = {column.strip() for column in header}
    for first in page.parts[:1]:
        lines = first.text.split("\n")
        names = [match[1].strip() for line in lines if (match := FIELD_LINE.match(line))]
        if first.type == "paragraph" and len(names) == len(lines) and columns.issuperset(names):
            return tuple(
                replace(part, parent=None if part.parent is None else part.parent - 1)
                for part in page.parts[1:]
            )
    return page.parts


def _find_homes(
    by_path: Mapping[str, Page], tables: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the home page, or table, of each folder: the one with its name, beside it."""
    by_name: dict[str, list[str]] = {}
    paths = {*by_path, *_list_tables(tables)}
    for path in sorted(paths):
        name = f"{posixpath.dirname(path)}/{_strip_id(_stem(path))}"
        by_name.setdefault(name, []).append(path)
    for folder in {posixpath.dirname(path) for path in paths} - {""}:
        name = f"{posixpath.dirname(folder)}/{_strip_id(posixpath.basename(folder))}"
        exact = [path for path in by_name.get(name, ()) if path.rpartition(".")[0] == folder]
        candidates = exact or by_name.get(name, [])
        if len(candidates) == 1 or exact:
            yield folder, candidates[0]


def _with_title(page: Page) -> Page:
    return replace(page, title=_strip_id(page.title))


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return (
        name.removesuffix(FULL_TABLE_SUFFIX)
        if name.endswith(FULL_TABLE_SUFFIX)
        else name.rpartition(".")[0]
    )


def _strip_id(name: str) -> str:
    """Return a name without the id at its end."""
    return ID_SUFFIX.sub("", name)


def _find_id(path: str) -> str:
    return next(iter(NOTION_ID.findall(path.rpartition("/")[2])[-1:]), "")

"""Names of records in a request: `focus`, `include` and `exclude`.

A record is named by its id, the beginning of its id, its path or its title. Only what the viewer
may read is looked at, so a name says nothing about other records: one that is shared by two
records is ambiguous only for those who may read both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from quire import retrieval
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Filter, Record, Request
from quire.core.types.blocks import PAGES
from quire.errors import InputError
from quire.ingest import compute_record_id
from quire.workspace.records import SOURCE, imported_id

SUFFIXES = ("", ".md", ".markdown")
"""What a path may be written without."""
MIN_ID_LENGTH = 8
"""A beginning of an id must be at least this long: `2024` or `cafe` is a name, which some id among
thousands begins with."""
MAX_LISTED = 8
"""No more records than this are listed for an ambiguous name."""
SHORT_ID = 10
PAGE_KINDS = frozenset(f"{BLOCK_PREFIX}{kind}" for kind in PAGES)


def resolve_names(view: View, request: Request) -> tuple[Request, list[str]]:
    """Replace the names of records by their ids; note those that the viewer may read none of.

    Raises:
        InputError: If a name is that of several records which the viewer may read.
    """
    named = {
        "focus": () if request.focus is None else (request.focus,),
        "include": request.include,
        "exclude": request.exclude,
    }
    names = _Names(view, shared_only=request.shared_only)
    ids: dict[str, str] = {}
    notes = []
    for option, given in named.items():
        for name in given:
            found = ids[name] if name in ids else names.find(option, name)
            if found is None:
                notes.append(f"`{option}`: there is no record {name!r} that this viewer may read")
            else:
                ids[name] = found
    return replace(
        request,
        focus=None if request.focus is None else ids.get(request.focus, request.focus),
        include=tuple(ids.get(name, name) for name in request.include),
        exclude=tuple(ids.get(name, name) for name in request.exclude),
    ), notes


class _Names:
    """The readable records by the names that they can be called by."""

    def __init__(self, view: View, *, shared_only: bool) -> None:
        self._view = view
        self._where = Filter(shared_only=shared_only)
        self._listed: list[Record] | None = None

    def find(self, option: str, name: str) -> str | None:
        """Return the id of the record that a name stands for; None: there is none."""
        exact = [name, *(compute_record_id(path) for path in _spellings(name))]
        if records := self._view.records(exact):
            return records[0].id
        for records in self._matches(name):
            if len(records) == 1:
                return records[0].id
            if records:
                raise self._ambiguous(option, name, records)
        return None

    def _matches(self, name: str) -> Iterator[list[Record]]:
        """Yield the records that have a name, the surest way to be called by it first."""
        records = self._records()
        pages = [record for record in records if record.kind in PAGE_KINDS]
        sources = sorted({str(page.attrs[SOURCE]) for page in pages if SOURCE in page.attrs})
        by_id = {page.id: page for page in pages}
        yield _distinct(
            page
            for source in sources
            for folder, path in _below_folders(name)
            if (page := by_id.get(imported_id(source, path))) is not None
            if not folder or self._titles(page)[0] == folder
        )
        titles = {name.removesuffix(suffix) for suffix in SUFFIXES}
        yield [page for page in pages if page.title in titles]
        yield [page for page in pages if any(self._is_at(page, path) for path in titles)]
        yield [record for record in records if record.title == name]
        if len(name) >= MIN_ID_LENGTH:
            yield [record for record in records if record.id.startswith(name)]

    def _is_at(self, page: Record, path: str) -> bool:
        """Tell whether a path is made of the titles of a page and of pages that contain it."""
        parts = path.split("/")
        if len(parts) == 1 or parts[-1] != page.title:
            return False
        return self._titles(page)[-len(parts) :] == parts

    def _titles(self, record: Record) -> list[str]:
        """Return the titles of what contains a record, the outermost first, and its own."""
        above = retrieval.ancestors(self._view, [record])[record.id]
        return [each.title for each in (*reversed(above), record)]

    def _records(self) -> list[Record]:
        if self._listed is None:
            self._listed = list(self._view.listing(self._where))
        return self._listed

    def _ambiguous(self, option: str, name: str, records: Sequence[Record]) -> InputError:
        listed = [f"{self._place(record)} ({record.id[:SHORT_ID]})" for record in records]
        more = f", and {len(listed) - MAX_LISTED} more" if listed[MAX_LISTED:] else ""
        return InputError(
            f"{len(records)} records are called {name!r}: {', '.join(listed[:MAX_LISTED])}{more}",
            field=option,
            value=name,
            hint="name one of them by its path, or by its id",
        )

    def _place(self, record: Record) -> str:
        if record.kind.startswith(BLOCK_PREFIX):
            return "/".join(self._titles(record))
        return record.path


def _spellings(path: str) -> list[str]:
    return [f"{path}{suffix}" for suffix in SUFFIXES]


def _below_folders(path: str) -> Iterator[tuple[str, str]]:
    """Yield the spellings of a path, whole and below each folder in it, with the folder's name.

    A folder is imported as a page of its name; the paths of its pages begin below it.
    """
    parts = path.split("/")
    for at in range(len(parts)):
        folder = parts[at - 1] if at else ""
        yield from ((folder, spelling) for spelling in _spellings("/".join(parts[at:])))


def _distinct(records: Iterable[Record]) -> list[Record]:
    return list({record.id: record for record in records}.values())

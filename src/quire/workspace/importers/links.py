"""Which page does a link mean?

An address is a path from the page's own folder, or from the root if it begins with `/`; a folder
means the page that stands for it, and an ending may be left out. A name in double brackets means,
as in Obsidian, the page at that path, else the nearest one whose path ends so.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from quire.workspace.importers.markdown import ENDINGS, stem_of
from quire.workspace.importers.outline import Page

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
PEP = re.compile(r"pep:(\d{1,5})\Z")
NUMBER = re.compile(r"(?:[A-Za-z]{2,5}[- ]?)?0*(\d{1,9})\Z")
IN_NAME = re.compile(r"(?:\A|\D)0*(\d{1,9})(?:\D|\Z)")
MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
NOTION_ID = re.compile(r"(?<![0-9a-f])([0-9a-f]{32})(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Target:
    """A page, by its path, and the name of a part of it (empty: the page as a whole)."""

    path: str
    anchor: str = ""


ELSEWHERE = Target("")
"""What leads out of the folder, or to a file of it that is no page."""


class Meanings:
    """All that a link in a folder of pages can mean."""

    def __init__(
        self, pages: Sequence[Page], homes: Mapping[str, str], files: Iterable[str]
    ) -> None:
        self._paths = {page.path for page in pages}
        self._homes = homes
        """By the path of a folder the page that stands for it."""
        self._files = {*files} - self._paths
        self._names: dict[str, list[str]] = {}
        self._aliases: dict[str, str] = {}
        self._numbers: dict[int, list[str]] = {}
        self._ids: dict[str, str] = {}
        for page in pages:
            self._enter(page)
        self._file_names = {_folded(path.rpartition("/")[2]) for path in self._files}

    def _enter(self, page: Page) -> None:
        self._names.setdefault(_folded(stem_of(page.path)), []).append(page.path)
        for alias in page.fields.get("aliases", ()):
            self._aliases.setdefault(_folded(alias), page.path)
        pep = page.fields.get("pep", ())
        numbers = [int(one) for one in pep if one.isdecimal()] or [
            int(one) for one in IN_NAME.findall(stem_of(page.path))[:1]
        ]
        for number in numbers:
            self._numbers.setdefault(number, []).append(page.path)
        for name in NOTION_ID.findall(page.path.rpartition("/")[2])[-1:]:
            self._ids.setdefault(name, page.path)

    def address(self, source: str, address: str) -> Target | None:
        """Tell what an address on a page means; None: nothing that is there."""
        pep = PEP.match(address)
        if pep:
            return self._numbered(int(pep[1]))
        if SCHEME.match(address) or address.startswith(("//", "\\")):
            return self._by_id(address)
        file, _, anchor = address.partition("#")
        file = unquote(file.partition("?")[0], errors="replace")
        anchor = unquote(anchor, errors="replace").lower()
        if not file:
            return Target(source, anchor)
        for path in _paths(source, file):
            found = self._at(path)
            if found is not None:
                return Target(found, anchor)
            if path in self._files:
                return ELSEWHERE
        return None

    def name(self, source: str, written: str) -> Target | None:
        """Tell what a name in double brackets means; None: nothing that is there."""
        told = written.partition("|")[0].rstrip("\\")  # in a table the bar is written \\|
        name, _, anchor = told.partition("#")
        anchor = anchor.rpartition("#")[2].strip()
        if not name.strip():
            return Target(source, anchor)
        found = self._named(source, name.strip())
        if found is not None:
            return Target(found, anchor)
        return ELSEWHERE if _folded(name.strip().rpartition("/")[2]) in self._file_names else None

    def said(self, source: str, text: str) -> list[tuple[str, Target | None]]:
        """Tell what a field of the front matter means: links, names or numbers, by commas."""
        parts = MARKDOWN_LINK.findall(text) or [one.strip() for one in text.split(",")]
        return [(part, self._said(source, part)) for part in parts if part]

    def _said(self, source: str, part: str) -> Target | None:
        bare = part.removeprefix("[[").removesuffix("]]")
        number = NUMBER.match(bare)
        return (
            (self._numbered(int(number[1])) if number else None)
            or self.address(source, bare)
            or self.name(source, bare)
        )

    def _at(self, path: str) -> str | None:
        if path in self._homes:
            return self._homes[path]
        bare = path.removesuffix(".html").removesuffix(".htm")
        wanted = (path, *(f"{bare}{ending}" for ending in ENDINGS))
        return next((one for one in wanted if one in self._paths), None)

    def _by_id(self, address: str) -> Target:
        found = NOTION_ID.findall(address.replace("-", ""))
        held = [self._ids[one] for one in found if one in self._ids]
        return Target(held[-1]) if held else ELSEWHERE

    def _numbered(self, number: int) -> Target | None:
        found = self._numbers.get(number, ())
        return Target(found[0]) if len(found) == 1 else None

    def _named(self, source: str, name: str) -> str | None:
        bare = name[: -len(".md")] if name.lower().endswith(".md") else name
        folder = posixpath.dirname(source)
        if bare.startswith(("./", "../")):
            bare = posixpath.normpath(posixpath.join(folder, bare))
        wanted = _folded(bare.lstrip("/"))
        same = self._names.get(wanted.rpartition("/")[2], [])
        ends = [path for path in same if f"/{_stemmed(path)}".endswith(f"/{wanted}")]
        if not ends:
            return self._aliases.get(wanted)
        return min(
            ends,
            key=lambda path: (
                _stemmed(path) != wanted,
                posixpath.dirname(path) != folder,
                path.count("/"),
                path,
            ),
        )


def _paths(source: str, file: str) -> Iterator[str]:
    """Give the paths that a file's name may stand for; where the site's root lies is not known."""
    folder = posixpath.dirname(source)
    bases = [folder]
    if file.startswith("/"):
        above = folder.split("/") if folder else []
        bases = ["/".join(above[:count]) for count in range(len(above) + 1)]
    for base in bases:
        path = posixpath.normpath(posixpath.join(base, file.lstrip("/")))
        if not path.startswith("../") and path != "..":
            yield "" if path == "." else path


def _stemmed(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return _folded(f"{folder}{slash}{stem_of(path)}")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
